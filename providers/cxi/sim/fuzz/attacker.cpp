// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Calls: of every method that there is, with attributes that its table asks for or does not.
#include "fuzz/attacker.hpp"

namespace sim::fuzz {
namespace {

constexpr uint16_t vni = 1;  // of the default service, which grants it to everybody
constexpr uid_t user = 1000;

// Sizes that structures of the interface have.
constexpr std::array<uint16_t, 12> sizes = {0, 4, 8, 12, 16, 24, 32, 40, 56, 112, 168, 200};

}  // namespace

Attacker::Attacker(uverbs::Kernel& kernel, unsigned nic) : kernel_(kernel), nic_(nic) {
  restart();
}

void Attacker::restart() {
  program_.reset();
  program_ = std::make_unique<Program>(kernel_, nic_, user, 0);
  program_->set_up(vni, C_PID_ANY);
  program_->set_up_verbs(vni);
}

uint32_t Attacker::any_handle(Input& input) const {
  const auto& all = program_->file().objects.all();
  if (all.empty() || input.one_in(16)) return static_cast<uint32_t>(input.number());
  return std::next(all.begin(), input.byte() % all.size())->first;
}

uint32_t Attacker::handle_of_type(Input& input, uint16_t type) const {
  std::vector<uint32_t> fitting;
  for (const auto& [id, object] : program_->file().objects.all()) {
    if (object->type == type) fitting.push_back(id);
  }
  if (fitting.empty()) return any_handle(input);
  return fitting[input.byte() % fitting.size()];
}

void Attacker::call_by_table(Input& input, const uverbs::Method& method, bool careful) {
  Ioctl ioctl(program_->caller, method.object, method.id);
  const auto contrary = [&] { return !careful && input.one_in(16); };
  const auto bytes = [&](uint16_t id, size_t length) {
    std::vector<std::byte> content(length);
    for (size_t i = 0; i < length; i += 4) {
      const uint64_t value =
          length - i >= 8 && input.one_in(4) ? buffer_va + input.number() : input.number();
      std::memcpy(content.data() + i, &value, std::min<size_t>(4, length - i));
    }
    ioctl.in_bytes(id, content.data(), content.size());
  };
  const auto attribute = [&](const uverbs::AttrRule& rule) {
    switch (rule.kind) {
      case uverbs::Kind::in:
        bytes(rule.id, rule.max == 0xffff || contrary()
                           ? sizes[input.byte() % sizes.size()]
                           : rule.min + (rule.max > rule.min ? input.byte() % 2 * 4u : 0u));
        break;
      case uverbs::Kind::out:
        ioctl.out(rule.id,
                  rule.max == 0xffff || contrary() ? sizes[input.byte() % sizes.size()] : rule.max);
        break;
      case uverbs::Kind::object:
      case uverbs::Kind::destroyed:
        ioctl.handle(rule.id, contrary() ? any_handle(input) : handle_of_type(input, rule.object));
        break;
      case uverbs::Kind::fd:
      case uverbs::Kind::raw_fd: {
        const auto& fds = program_->caller.installed;
        ioctl.fd(rule.id, fds.empty() || contrary() ? static_cast<int>(input.number())
                                                    : fds[input.byte() % fds.size()]);
        break;
      }
      case uverbs::Kind::new_object:
      case uverbs::Kind::new_fd:
        ioctl.fresh(rule.id);
        break;
    }
  };
  for (const uverbs::AttrRule& rule : method.attrs) {
    if (rule.required ? !contrary() : input.one_in(2)) attribute(rule);
  }
  if (method.driver_data != uverbs::DriverData::none) {
    // Where it is not taken, all but zeroes is refused, and what lies behind is not reached.
    const bool taken = method.driver_data == uverbs::DriverData::both;
    if (taken ? !input.one_in(3) : input.one_in(8))
      bytes(UVERBS_ATTR_UHW_IN, sizes[input.byte() % sizes.size()]);
    if (!input.one_in(3)) ioctl.out(UVERBS_ATTR_UHW_OUT, 200);
  }
  if (contrary() && !ioctl.attrs.empty()) {
    auto& attr = ioctl.attrs[input.byte() % ioctl.attrs.size()];
    switch (input.below(5)) {
      case 0:
        attr.attr_id = static_cast<uint16_t>(input.number());
        break;
      case 1:
        attr.len = static_cast<uint16_t>(input.number());
        break;
      case 2:
        attr.flags = input.byte();
        break;
      case 3:
        attr.data = input.number();
        break;
      default:
        ioctl.raw(attr);
        break;
    }
  }
  program_->issue(ioctl);
}

void Attacker::destroy_something(Input& input) {
  const uint32_t handle = any_handle(input);
  const uverbs::Object* object = program_->file().objects.find(handle);
  if (!object) return;
  for (const uverbs::Method& method : uverbs::methods()) {
    for (const uverbs::AttrRule& rule : method.attrs) {
      if (rule.kind == uverbs::Kind::destroyed && rule.object == object->type)
        return call_by_table(input, method, true);
    }
  }
}

// What a sensible program could ask for as well, with numbers of its own.
void Attacker::make_something(Input& input) {
  Program& p = *program_;
  const auto on = [&](Handles more = {}) {
    more.push_back({CXI_ATTR_HANDLE, 0});
    if (!input.one_in(4))
      more.push_back({CXI_ATTR_LNI_HANDLE, handle_of_type(input, CXI_OBJECT_LNI)});
    return more;
  };
  const auto number = [&](unsigned below) {
    return input.one_in(8) ? static_cast<uint32_t>(input.number()) : input.byte() % below;
  };
  switch (input.below(9)) {
    case 0:
      p.native(CXI_OBJECT_LNI, CXI_METHOD_LNI_CREATE, cxi_abi_lni_req{number(4), 0},
               sizeof(cxi_abi_lni_resp));
      break;
    case 1: {
      const auto flags = static_cast<uint16_t>(input.below(2));
      p.native(CXI_OBJECT_CP, CXI_METHOD_CP_ALLOC,
               cxi_abi_cp_req{static_cast<uint16_t>(input.one_in(4) ? input.number() : vni), flags,
                              static_cast<uint16_t>(number(5)), static_cast<uint16_t>(number(4))},
               sizeof(cxi_abi_cp_resp), on());
      break;
    }
    case 2:
      p.native(CXI_OBJECT_DOMAIN, CXI_METHOD_DOMAIN_CREATE,
               cxi_abi_domain_req{input.one_in(4) ? number(200) : vni,
                                  input.one_in(2) ? uint32_t{C_PID_ANY} : number(20), 0, 0},
               sizeof(cxi_abi_domain_resp), on());
      break;
    case 3:
      p.native(CXI_OBJECT_MD, CXI_METHOD_MD_MAP,
               cxi_abi_md_req{buffer_va + input.number(), input.number(), number(4), -1},
               sizeof(cxi_abi_md_resp), on());
      break;
    case 4: {
      cxi_abi_eq_req req{};
      req.slots = number(250);
      req.reserve = number(20);
      req.flags = (number(32) << 2) & 0x7f;
      req.status_count = static_cast<uint16_t>(number(4));
      req.status_base = static_cast<uint16_t>(number(100));
      req.status_delta = static_cast<uint16_t>(number(20));
      p.native(CXI_OBJECT_EQ, CXI_METHOD_EQ_CREATE, req, sizeof(cxi_abi_eq_info), on());
      break;
    }
    case 5: {
      const uint32_t flags = input.below(4);
      Handles handles = on({{CXI_ATTR_EQ_HANDLE, handle_of_type(input, CXI_OBJECT_EQ)}});
      if (flags & CXI_ABI_CMDQ_TRANSMIT)
        handles.push_back({CXI_ATTR_CP_HANDLE, handle_of_type(input, CXI_OBJECT_CP)});
      auto made = p.native(CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_CREATE,
                           cxi_abi_cmdq_req{flags, number(200), input.below(4), input.below(4)},
                           sizeof(cxi_abi_cmdq_info), handles);
      if (made.error == 0)
        p.add_queue(made.resp<cxi_abi_cmdq_info>(), flags & CXI_ABI_CMDQ_TRIGGERED);
      break;
    }
    case 6: {
      cxi_abi_pte_req req{};
      req.flags = static_cast<uint32_t>(input.raw(2)) & 0x7fff;
      req.le_charge = number(100);
      p.native(CXI_OBJECT_PTE, CXI_METHOD_PTE_CREATE, req, sizeof(cxi_abi_pte_resp),
               on({{CXI_ATTR_EQ_HANDLE, handle_of_type(input, CXI_OBJECT_EQ)}}));
      break;
    }
    case 7: {
      cxi_abi_pte_req req{};
      req.index = input.one_in(4) ? 255 : number(4);
      req.multicast = input.one_in(4);
      p.native(CXI_OBJECT_PTE, CXI_METHOD_PTE_MAP, req, 0,
               {{CXI_ATTR_HANDLE, handle_of_type(input, CXI_OBJECT_PTE)},
                {CXI_ATTR_DOMAIN_HANDLE, handle_of_type(input, CXI_OBJECT_DOMAIN)}});
      break;
    }
    default:
      p.native(CXI_OBJECT_CT, CXI_METHOD_CT_CREATE,
               cxi_abi_ct_req{input.one_in(2) ? 0 : buffer_va + 8u * number(250), 0, 0, 0},
               sizeof(cxi_abi_ct_resp), on());
      break;
  }
}

void Attacker::call_with_garbage(Input& input) {
  std::array<std::byte, 96> call{};
  input.fill(call);
  if (!input.one_in(8)) {
    // A header that is looked past.
    const auto attrs = static_cast<uint16_t>(input.below(5));
    const uint16_t head[4] = {static_cast<uint16_t>(24 + attrs * 16),
                              static_cast<uint16_t>(input.below(2) << 12 | input.below(24)),
                              static_cast<uint16_t>(input.below(2) << 12 | input.below(16)), attrs};
    std::memcpy(call.data(), head, sizeof head);
    std::memset(call.data() + 8, 0, 16);
    const uint32_t driver = RDMA_DRIVER_CXI;
    std::memcpy(call.data() + 16, &driver, sizeof driver);
  }
  const uint64_t at = input.one_in(16) ? input.number() : FakeCaller::base + 16;
  program_->caller.memory()->write(FakeCaller::base + 16, call);
  program_->issue(at);
}

void Attacker::act(Input& input) {
  switch (input.below(16)) {
    case 0:
    case 1:
      return make_something(input);
    case 2:
    case 3: {
      const auto all = uverbs::methods();
      return call_by_table(input, all[input.byte() % all.size()], false);
    }
    case 4:
      return call_with_garbage(input);
    case 5:
      return destroy_something(input);
    case 6:
    case 7:
      return write_transfer(input);
    case 8:
      return write_immediate(input);
    case 9:
    case 10:
      return write_target_command(input);
    case 11:
      return write_counter_command(input);
    case 12:
      return write_garbage(input);
    case 13:
    case 14:
      return ring(input);
    default:
      return read_events(input);
  }
}

}  // namespace sim::fuzz
