// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The rules of attributes, for every method of the table: a call in which everything is right is
// taken apart one attribute at a time.
#include "uverbs/schema.hpp"

#include "kernel_fixture.hpp"
#include "uverbs/call.hpp"
#include "uverbs/objects.hpp"

namespace sim::uverbs::test {
namespace {

class StubObject final : public Object {
 public:
  StubObject(File& f, uint16_t t) : Object(f, t) {}
};

class EveryMethod : public KernelTest, public ::testing::WithParamInterface<const Method*> {
 protected:
  EveryMethod() {
    channel_ = (get_context(), comp_channel());
    async_ = async_fd();
  }
  ~EveryMethod() override { impl().objects.clear(); }

  const Method& method() { return *GetParam(); }

  uint32_t object_of(uint16_t type) {
    for (const auto& [id, object] : impl().objects.all()) {
      if (object->type == type) return id;
    }
    return impl().objects.insert(std::make_unique<StubObject>(impl(), type)).id;
  }

  Ioctl right_call() {
    Ioctl ioctl = call(method().object, method().id);
    for (const AttrRule& rule : method().attrs)
      add_right(ioctl, rule);
    if (method().driver_data != DriverData::none) {
      ioctl.in(UVERBS_ATTR_UHW_IN, uint64_t{0}).out(UVERBS_ATTR_UHW_OUT, 64);
    }
    return ioctl;
  }
  void add_right(Ioctl& ioctl, const AttrRule& rule) {
    const std::vector<std::byte> zeros(rule.min);
    switch (rule.kind) {
      case Kind::in:
        ioctl.in_bytes(rule.id, zeros.data(), zeros.size());
        break;
      case Kind::out:
        ioctl.out(rule.id, rule.min);
        break;
      case Kind::object:
      case Kind::destroyed:
        ioctl.handle(rule.id, object_of(rule.object));
        break;
      case Kind::fd:
        ioctl.fd(rule.id, rule.object == UVERBS_OBJECT_COMP_CHANNEL ? channel_ : async_);
        break;
      case Kind::raw_fd:
        ioctl.fd(rule.id, channel_);
        break;
      case Kind::new_object:
      case Kind::new_fd:
        ioctl.fresh(rule.id);
        break;
    }
  }
  int parse(Ioctl& ioctl) {
    ioctl.place();
    Call parsed(impl(), caller, method(), ioctl.attrs, ioctl.attr_address(0));
    return parsed.parse();
  }
  // The result for the right call with one attribute changed.
  template <class Change>
  int changed(size_t index, Change change) {
    Ioctl ioctl = right_call();
    change(ioctl.attrs[index]);
    return parse(ioctl);
  }

  int channel_ = -1, async_ = -1;
};

TEST_P(EveryMethod, TakesACallInWhichEverythingIsRight) {
  Ioctl ioctl = right_call();
  EXPECT_EQ(parse(ioctl), 0);
}

TEST_P(EveryMethod, RefusesAnUnknownMandatoryAttribute) {
  Ioctl ioctl = right_call();
  ioctl.u32(0x0fff, 0);
  EXPECT_EQ(parse(ioctl), EPROTONOSUPPORT);
}

TEST_P(EveryMethod, IgnoresAnUnknownOptionalAttribute) {
  Ioctl ioctl = right_call();
  ioctl.u32(0x0fff, 0);
  ioctl.attrs.back().flags = 0;
  EXPECT_EQ(parse(ioctl), 0);
}

TEST_P(EveryMethod, RefusesDuplicates) {
  const size_t count = right_call().attrs.size();
  for (size_t i = 0; i < count; ++i) {
    Ioctl ioctl = right_call();
    ioctl.raw(ioctl.attrs[i]);
    EXPECT_EQ(parse(ioctl), EINVAL) << "attribute " << ioctl.attrs[i].attr_id;
  }
}

TEST_P(EveryMethod, RefusesReservedBits) {
  const size_t count = right_call().attrs.size();
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(changed(i, [](ib_uverbs_attr& a) { a.attr_data.reserved = 1; }), EINVAL);
  }
}

TEST_P(EveryMethod, NeedsItsRequiredAttributesAndNoOther) {
  for (size_t i = 0; i < method().attrs.size(); ++i) {
    Ioctl ioctl = right_call();
    ioctl.attrs.erase(ioctl.attrs.begin() + static_cast<long>(i));
    EXPECT_EQ(parse(ioctl), method().attrs[i].required ? EINVAL : 0)
        << "attribute " << method().attrs[i].id;
  }
}

TEST_P(EveryMethod, ChecksLengths) {
  for (size_t i = 0; i < method().attrs.size(); ++i) {
    const AttrRule& rule = method().attrs[i];
    SCOPED_TRACE(rule.id);
    if (rule.min > 0) {
      EXPECT_EQ(changed(i, [&](auto& a) { a.len = static_cast<uint16_t>(rule.min - 1); }), EINVAL);
    }
    const bool data = rule.kind == Kind::in || rule.kind == Kind::out;
    if (rule.max == 0xffff) continue;
    auto longer = [&](ib_uverbs_attr& a) {
      a.len = static_cast<uint16_t>(rule.max + 8);
      a.data = buffer_va;  // zero
    };
    EXPECT_EQ(changed(i, longer), data && rule.grows ? 0 : EINVAL);
  }
}

TEST_P(EveryMethod, TakesASurplusOnlyIfItIsZero) {
  caller.store(buffer_va + 0x2000 - 1, uint8_t{1});
  for (size_t i = 0; i < method().attrs.size(); ++i) {
    const AttrRule& rule = method().attrs[i];
    if (rule.kind != Kind::in || !rule.grows) continue;
    auto surplus = [&](ib_uverbs_attr& a) {
      a.len = static_cast<uint16_t>(rule.max + 8);
      a.data = buffer_va + 0x2000 - a.len;
    };
    EXPECT_EQ(changed(i, surplus), EOPNOTSUPP) << "attribute " << rule.id;
  }
}

TEST_P(EveryMethod, RefusesInputsThatCannotBeRead) {
  for (size_t i = 0; i < method().attrs.size(); ++i) {
    const AttrRule& rule = method().attrs[i];
    if (rule.kind != Kind::in || rule.max <= 8) continue;
    auto wild = [&](ib_uverbs_attr& a) {
      a.len = std::max<uint16_t>(rule.min, 16);
      a.data = 0xdead0000;
    };
    EXPECT_EQ(changed(i, wild), EFAULT) << "attribute " << rule.id;
  }
}

TEST_P(EveryMethod, TakesNoDriverDataThatItHasNoStructureFor) {
  if (method().driver_data != DriverData::answer) return;
  const auto sent = [&](uint64_t value) {
    Ioctl again = right_call();
    std::erase_if(again.attrs, [](auto& a) { return a.attr_id == UVERBS_ATTR_UHW_IN; });
    again.in(UVERBS_ATTR_UHW_IN, value);
    return parse(again);
  };
  EXPECT_EQ(sent(0), 0);
  EXPECT_EQ(sent(1), E2BIG);
}

TEST_P(EveryMethod, FindsHandlesOfTheRightTypeOnly) {
  const uint32_t other = impl().objects.insert(std::make_unique<StubObject>(impl(), 0x0ffe)).id;
  for (size_t i = 0; i < method().attrs.size(); ++i) {
    const AttrRule& rule = method().attrs[i];
    if (rule.kind != Kind::object && rule.kind != Kind::destroyed) continue;
    EXPECT_EQ(changed(i, [](auto& a) { a.data = 0x7fffffff; }), ENOENT);
    EXPECT_EQ(changed(i, [](auto& a) { a.data = 0x100000000; }), ENOENT);
    EXPECT_EQ(changed(i, [](auto& a) { a.data_s64 = -1; }), EINVAL);
    EXPECT_EQ(changed(i, [&](auto& a) { a.data = other; }), EINVAL);
  }
}

TEST_P(EveryMethod, FindsDescriptorsOfTheRightChannelOnly) {
  for (size_t i = 0; i < method().attrs.size(); ++i) {
    const AttrRule& rule = method().attrs[i];
    if (rule.kind != Kind::fd) continue;
    const int wrong = rule.object == UVERBS_OBJECT_COMP_CHANNEL ? async_ : channel_;
    EXPECT_EQ(changed(i, [](auto& a) { a.data = 987654; }), EBADF);
    EXPECT_EQ(changed(i, [](auto& a) { a.data = 0; }), EBADF);
    EXPECT_EQ(changed(i, [](auto& a) { a.data = 1ull << 40; }), EINVAL);
    EXPECT_EQ(changed(i, [&](auto& a) { a.data = static_cast<uint64_t>(wrong); }), EBADF);
  }
}

TEST_P(EveryMethod, NeedsAContextUnlessItMakesOne) {
  auto bare = open();
  auto ioctl = call(method().object, method().id);
  for (const AttrRule& rule : method().attrs) {
    if (rule.kind == Kind::object || rule.kind == Kind::destroyed || rule.kind == Kind::fd) return;
    if (rule.required) add_right(ioctl, rule);
  }
  if (!method().needs_context) return;
  EXPECT_EQ(issue(*bare, ioctl), EINVAL);
}

std::vector<const Method*> all_methods() {
  std::vector<const Method*> all;
  for (const Method& m : methods())
    all.push_back(&m);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryMethod, ::testing::ValuesIn(all_methods()),
                         [](const auto& p) { return std::string(p.param->name); });

class CallHeader : public KernelTest {
 protected:
  CallHeader() { get_context(); }
  Ioctl query() {
    auto ioctl = call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
    ioctl.constant(UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1)
        .out(UVERBS_ATTR_QUERY_PORT_RESP, sizeof(ib_uverbs_query_port_resp_ex));
    return ioctl;
  }
};

TEST_F(CallHeader, MustBeReadable) {
  EXPECT_EQ(kernel->ioctl(*file, caller, 0xdead0000), EFAULT);
}

TEST_F(CallHeader, MustStateItsLength) {
  for (int delta : {-16, -1, 1, 16}) {
    auto ioctl = query();
    ioctl.keep_length = true;
    ioctl.header.length = static_cast<uint16_t>(24 + 2 * 16 + delta);
    EXPECT_EQ(issue(ioctl), EINVAL);
  }
}

TEST_F(CallHeader, HasAtMostAPageOfAttributes) {
  auto ioctl = query();
  while (ioctl.attrs.size() < 254)
    ioctl.u32(0xfff, 0).attrs.back().flags = 0;
  EXPECT_EQ(issue(ioctl), 0);
  ioctl.u32(0xfff, 0).attrs.back().flags = 0;
  EXPECT_EQ(issue(ioctl), EINVAL);
}

TEST_F(CallHeader, HasNoReservedBits) {
  auto ioctl = query();
  ioctl.header.reserved1 = 1;
  EXPECT_EQ(issue(ioctl), EPROTONOSUPPORT);
  ioctl.header.reserved1 = 0;
  ioctl.header.reserved2 = 1;
  EXPECT_EQ(issue(ioctl), EPROTONOSUPPORT);
}

TEST_F(CallHeader, NamesTheDriver) {
  auto ioctl = query();
  ioctl.header.driver_id = RDMA_DRIVER_EFA;
  EXPECT_EQ(issue(ioctl), EINVAL);
}

TEST_F(CallHeader, NamesAKnownObjectAndMethod) {
  for (auto [object, method] : {std::pair<uint16_t, uint16_t>{UVERBS_OBJECT_MW, 0},
                                {UVERBS_OBJECT_DEVICE, 99},
                                {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE},
                                {0x1fff, 0}}) {
    auto ioctl = call(object, method);
    EXPECT_EQ(issue(ioctl), EPROTONOSUPPORT);
  }
}

TEST_F(CallHeader, IsTraced) {
  auto ioctl = query();
  ioctl.header.driver_id = RDMA_DRIVER_EFA;
  issue(ioctl);
  EXPECT_EQ(trace.lines.back(), "cxi0 ioctl ? refused: errno 22");
}

class CallOutput : public CallHeader {};

TEST_F(CallOutput, IsFlaggedAsValid) {
  auto ioctl = query();
  ASSERT_EQ(issue(ioctl), 0);
  EXPECT_EQ(ioctl.answered(UVERBS_ATTR_QUERY_PORT_RESP).flags,
            UVERBS_ATTR_F_MANDATORY | UVERBS_ATTR_F_VALID_OUTPUT);
  EXPECT_EQ(ioctl.answered(UVERBS_ATTR_QUERY_PORT_PORT_NUM).flags, UVERBS_ATTR_F_MANDATORY);
}

TEST_F(CallOutput, IsClearedBeyondWhatIsKnown) {
  auto ioctl = call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
  constexpr size_t known = sizeof(ib_uverbs_query_port_resp_ex);
  ioctl.constant(UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1).out(UVERBS_ATTR_QUERY_PORT_RESP, known + 8);
  ASSERT_EQ(issue(ioctl), 0);
  uint64_t va = ioctl.answered(UVERBS_ATTR_QUERY_PORT_RESP).data;
  EXPECT_EQ(caller.load<uint64_t>(va + known), 0u);
}

TEST_F(CallOutput, IsCutToTheRoomThereIs) {
  auto ioctl = call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
  ioctl.constant(UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1).out(UVERBS_ATTR_QUERY_PORT_RESP, 44);
  ASSERT_EQ(issue(ioctl), 0);
  uint64_t va = ioctl.answered(UVERBS_ATTR_QUERY_PORT_RESP).data;
  EXPECT_EQ(caller.load<uint32_t>(va), uint32_t{IB_UVERBS_PCF_IP_BASED_GIDS});
  EXPECT_EQ(caller.load<uint32_t>(va + 44), 0xeeeeeeeeu);
}

TEST_F(CallOutput, ThatCannotBeWrittenUndoesTheCall) {
  auto ioctl = cq_call();
  for (auto& attr : ioctl.attrs) {
    if (attr.attr_id == UVERBS_ATTR_CREATE_CQ_RESP_CQE) attr.data = 0xdead0000;
  }
  EXPECT_EQ(issue(ioctl), EFAULT);
  EXPECT_TRUE(device().eqs.empty());
  EXPECT_EQ(impl().objects.size(), 0u);
}

TEST_F(CallOutput, HandleThatCannotBeWrittenUndoesTheCall) {
  auto ioctl = cq_call();
  const uint64_t place = ioctl.place();
  caller.unwritable = ioctl.attr_address(0) + offsetof(ib_uverbs_attr, data);
  EXPECT_EQ(kernel->ioctl(*file, caller, place), EFAULT);
  EXPECT_TRUE(device().eqs.empty());
}

}  // namespace
}  // namespace sim::uverbs::test
