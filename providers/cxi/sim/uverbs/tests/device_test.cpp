// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <sys/mman.h>

#include "kernel_fixture.hpp"

namespace sim::uverbs::test {
namespace {

class Context : public KernelTest {};

TEST_F(Context, ShowsTheDevice) {
  auto ioctl = call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
  ioctl.out(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 4)
      .out(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 8)
      .out(UVERBS_ATTR_UHW_OUT, sizeof(cxi_abi_get_context_resp));
  ASSERT_EQ(issue(ioctl), 0);
  EXPECT_EQ(ioctl.result<uint32_t>(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS), 1u);
  EXPECT_EQ(ioctl.result<uint64_t>(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT), 1u);
  auto resp = ioctl.result<cxi_abi_get_context_resp>(UVERBS_ATTR_UHW_OUT);
  EXPECT_EQ(resp.nid, 1u);
  EXPECT_EQ(resp.svc_id, uint32_t{CXI_ABI_DEFAULT_SVC_ID});
  EXPECT_EQ(resp.pid_bits, 9u);
  EXPECT_EQ(resp.pid_granule, 256u);
  EXPECT_EQ(resp.window_flags, uint32_t{CXI_ABI_WINDOW_DOORBELL});
  EXPECT_EQ(resp.max_inline, 192u);
  EXPECT_EQ(resp.num_tgqs, 512u);
  EXPECT_EQ(resp.clock_hz, 1000000000u);
  EXPECT_EQ(resp.reserved_2c0[2], 0u);
}

TEST_F(Context, IsMadeOnce) {
  EXPECT_EQ(get_context(), 0);
  EXPECT_EQ(get_context(), EINVAL);
}

TEST_F(Context, ChecksItsDriverData) {
  auto issue_bytes = [&](std::vector<uint32_t> words) {
    auto ioctl = call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
    ioctl.in_bytes(UVERBS_ATTR_UHW_IN, words.data(), words.size() * 4);
    return issue(ioctl);
  };
  EXPECT_EQ(issue_bytes({1}), EINVAL);          // shorter than the first published size
  EXPECT_EQ(issue_bytes({1, 1}), EINVAL);       // reserved
  EXPECT_EQ(issue_bytes({1, 0, 0, 1}), E2BIG);  // a surplus that is not zero
  EXPECT_EQ(issue_bytes({1, 0, 0, 0}), 0);
}

TEST_F(Context, TakesNoDriverDataWithCommandsThatHaveNone) {
  get_context();
  const auto query = [&](uint64_t driver_data) {
    auto ioctl = write_command(IB_USER_VERBS_CMD_QUERY_DEVICE, uint64_t{0},
                               sizeof(ib_uverbs_query_device_resp));
    ioctl.in(UVERBS_ATTR_UHW_IN, driver_data);
    return issue(ioctl);
  };
  EXPECT_EQ(query(0), 0);
  EXPECT_EQ(query(1), E2BIG);
}

TEST_F(Context, CanBeQueried) {
  get_context();
  auto ioctl = call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT);
  ioctl.out(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, 4).out(UVERBS_ATTR_UHW_OUT, 8);
  ASSERT_EQ(issue(ioctl), 0);
  EXPECT_EQ(ioctl.result<cxi_abi_get_context_req>(UVERBS_ATTR_UHW_OUT).svc_id, 1u);  // the NID
}

TEST_F(Context, OfADeviceThatDoesNotExist) {
  int error = 0;
  EXPECT_EQ(kernel->open(7, caller, &error), nullptr);
  EXPECT_EQ(error, ENXIO);
}

class Ports : public KernelTest {
 protected:
  Ports() { get_context(); }
  ib_uverbs_query_port_resp_ex query() {
    auto ioctl = call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
    ioctl.constant(UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1)
        .out(UVERBS_ATTR_QUERY_PORT_RESP, sizeof(ib_uverbs_query_port_resp_ex));
    EXPECT_EQ(issue(ioctl), 0);
    return ioctl.result<ib_uverbs_query_port_resp_ex>(UVERBS_ATTR_QUERY_PORT_RESP);
  }
};

TEST_F(Ports, AreEthernetAndActive) {
  auto resp = query();
  EXPECT_EQ(resp.legacy_resp.state, 4);
  EXPECT_EQ(resp.legacy_resp.link_layer, 2);
  EXPECT_EQ(resp.legacy_resp.active_mtu, 4);
  EXPECT_EQ(resp.legacy_resp.gid_tbl_len, 2u);
  EXPECT_EQ(resp.active_speed_ex, 128u);
  kernel->set_link(0, false);
  EXPECT_EQ(query().legacy_resp.state, 1);
}

TEST_F(Ports, AreNumberedFromOne) {
  for (uint64_t port : {0, 2, 255}) {
    auto ioctl = call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
    ioctl.constant(UVERBS_ATTR_QUERY_PORT_PORT_NUM, port)
        .out(UVERBS_ATTR_QUERY_PORT_RESP, sizeof(ib_uverbs_query_port_resp_ex));
    EXPECT_EQ(issue(ioctl), EINVAL);
    auto speed = call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT_SPEED);
    speed.constant(UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM, port)
        .out(UVERBS_ATTR_QUERY_PORT_SPEED_RESP, 8);
    EXPECT_EQ(issue(speed), EINVAL);
  }
}

TEST_F(Ports, HaveASpeed) {
  auto ioctl = call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT_SPEED);
  ioctl.constant(UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM, 1)
      .out(UVERBS_ATTR_QUERY_PORT_SPEED_RESP, 8);
  ASSERT_EQ(issue(ioctl), 0);
  EXPECT_EQ(ioctl.result<uint64_t>(UVERBS_ATTR_QUERY_PORT_SPEED_RESP), 4000u);
}

class Gids : public KernelTest {
 protected:
  Gids()
      : KernelTest([] {
          KernelConfig config;
          config.first_nid = 0x12345;
          return config;
        }()) {
    get_context();
  }
  Ioctl entry_call(uint64_t port, uint64_t index, uint32_t flags = 0) {
    auto ioctl = call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY);
    ioctl.constant(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, port)
        .constant(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, index)
        .u32(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, flags)
        .out(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, sizeof(ib_uverbs_gid_entry));
    return ioctl;
  }
  Ioctl table_call(uint64_t entry_size, size_t bytes, uint32_t flags = 0) {
    auto ioctl = call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE);
    ioctl.constant(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, entry_size)
        .u32(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, flags)
        .out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, bytes)
        .out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, 8);
    return ioctl;
  }
};

TEST_F(Gids, AreTheNidAndTheAddress) {
  auto first = entry_call(1, 0);
  ASSERT_EQ(issue(first), 0);
  auto entry = first.result<ib_uverbs_gid_entry>(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY);
  const uint8_t slingshot[16] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0x23, 0x45};
  EXPECT_EQ(std::memcmp(entry.gid, slingshot, 16), 0);
  EXPECT_EQ(entry.gid_type, uint32_t{IB_UVERBS_GID_TYPE_SLINGSHOT});
  EXPECT_EQ(entry.port_num, 1u);

  auto second = entry_call(1, 1);
  ASSERT_EQ(issue(second), 0);
  entry = second.result<ib_uverbs_gid_entry>(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY);
  const uint8_t mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0x01, 0x23, 0x45};
  EXPECT_EQ(std::memcmp(entry.gid, mapped, 16), 0);
  EXPECT_EQ(entry.gid_type, uint32_t{IB_UVERBS_GID_TYPE_UET_UDP});
}

TEST_F(Gids, RefuseWhatIsNotThere) {
  for (auto&& ioctl : {entry_call(1, 2), entry_call(0, 0), entry_call(2, 0), entry_call(1, 0, 1)}) {
    auto copy = ioctl;
    EXPECT_EQ(issue(copy), EINVAL);
  }
}

TEST_F(Gids, ComeAsATable) {
  auto ioctl = table_call(sizeof(ib_uverbs_gid_entry), 4 * sizeof(ib_uverbs_gid_entry));
  ASSERT_EQ(issue(ioctl), 0);
  EXPECT_EQ(ioctl.result<uint64_t>(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES), 2u);
  struct Two {
    ib_uverbs_gid_entry e[2];
  };
  auto two = ioctl.result<Two>(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
  EXPECT_EQ(two.e[1].gid_index, 1u);
}

TEST_F(Gids, ComeInEntriesOfTheCallersSize) {
  auto ioctl = table_call(48, 96);
  ASSERT_EQ(issue(ioctl), 0);
  uint64_t va = ioctl.answered(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES).data;
  EXPECT_EQ(caller.load<ib_uverbs_gid_entry>(va + 48).gid_index, 1u);
  EXPECT_EQ(caller.load<uint64_t>(va + 40), 0u);
}

TEST_F(Gids, NeedRoomForAllInATable) {
  for (auto&& ioctl : {table_call(32, 32), table_call(32, 0), table_call(0, 64), table_call(32, 65),
                       table_call(32, 64, 1)}) {
    auto copy = ioctl;
    EXPECT_EQ(issue(copy), EINVAL);
  }
}

class Semantics : public KernelTest {};

TEST_F(Semantics, PromiseNoOrder) {
  get_context();
  auto ioctl = call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_QP_SEMANTICS);
  ioctl.constant(UVERBS_ATTR_QUERY_QP_SEMANTICS_QP_TYPE, IB_UVERBS_QPT_RU)
      .out(UVERBS_ATTR_QUERY_QP_SEMANTICS_RESP, sizeof(ib_uverbs_qp_semantics));
  ASSERT_EQ(issue(ioctl), 0);
  auto s = ioctl.result<ib_uverbs_qp_semantics>(UVERBS_ATTR_QUERY_QP_SEMANTICS_RESP);
  EXPECT_EQ(s.comp_mask, 0x7fu);
  EXPECT_EQ(s.msg_order, 0u);
  EXPECT_EQ(s.max_pdu, 2048u);
  EXPECT_EQ(s.imm_data_size, 64);
  EXPECT_EQ(s.usage_flags, uint32_t{IB_UVERBS_QP_USAGE_ATTACH_MR});
  auto rc = call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_QP_SEMANTICS);
  rc.constant(UVERBS_ATTR_QUERY_QP_SEMANTICS_QP_TYPE, IB_UVERBS_QPT_RC)
      .out(UVERBS_ATTR_QUERY_QP_SEMANTICS_RESP, sizeof(ib_uverbs_qp_semantics));
  EXPECT_EQ(issue(rc), EOPNOTSUPP);
}

class WriteCommands : public KernelTest {
 protected:
  static constexpr uint64_t extended = IB_USER_VERBS_CMD_FLAG_EXTENDED;
};

TEST_F(WriteCommands, AnswerTheProbeOfALibrary) {
  auto probe = call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
  probe.constant(UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_QUERY_DEVICE);
  EXPECT_EQ(issue(probe), ENOSPC);
}

TEST_F(WriteCommands, CheckTheirNumber) {
  get_context();
  EXPECT_EQ(write_status(write_command(0x100, uint64_t{0}, 8)), EINVAL);
  EXPECT_EQ(write_status(write_command(0x180000000, uint64_t{0}, 8)), EINVAL);
  EXPECT_EQ(write_status(write_command(0xfe, uint64_t{0}, 8)), EOPNOTSUPP);
}

TEST_F(WriteCommands, WithoutAnOperationAreNotSupported) {
  get_context();
  for (uint64_t command :
       {uint64_t{IB_USER_VERBS_CMD_POLL_CQ}, uint64_t{IB_USER_VERBS_CMD_CREATE_AH},
        uint64_t{IB_USER_VERBS_CMD_CREATE_SRQ}, uint64_t{IB_USER_VERBS_CMD_ALLOC_MW},
        uint64_t{IB_USER_VERBS_CMD_POST_SEND}, uint64_t{IB_USER_VERBS_CMD_ATTACH_MCAST},
        extended | IB_USER_VERBS_EX_CMD_CREATE_FLOW}) {
    struct {
      uint64_t words[16];
    } core{};
    EXPECT_EQ(write_status(write_command(command, core, 64)), EOPNOTSUPP) << command;
  }
}

TEST_F(WriteCommands, NeedAContext) {
  EXPECT_EQ(write_status(write_command(IB_USER_VERBS_CMD_ALLOC_PD, uint64_t{0}, 4)), EINVAL);
}

TEST_F(WriteCommands, QueryTheDevice) {
  get_context();
  auto ioctl = write_command(IB_USER_VERBS_CMD_QUERY_DEVICE, uint64_t{0},
                             sizeof(ib_uverbs_query_device_resp));
  ASSERT_EQ(issue(ioctl), 0);
  auto attr = ioctl.result<ib_uverbs_query_device_resp>(UVERBS_ATTR_CORE_OUT);
  EXPECT_EQ(attr.max_qp, 511u);
  EXPECT_EQ(attr.max_qp_wr, 4096u);
  EXPECT_EQ(attr.max_pd, 1024u);
  EXPECT_EQ(attr.vendor_id, 0x1590u);
  EXPECT_EQ(attr.vendor_part_id, 0x0371u);
  EXPECT_EQ(attr.node_guid, __builtin_bswap64(0x0000'00ff'fe00'0001));
}

TEST_F(WriteCommands, QueryTheExtendedDevice) {
  get_context();
  auto ioctl = write_command(extended | IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
                             ib_uverbs_ex_query_device{}, sizeof(ib_uverbs_ex_query_device_resp));
  ASSERT_EQ(issue(ioctl), 0);
  auto resp = ioctl.result<ib_uverbs_ex_query_device_resp>(UVERBS_ATTR_CORE_OUT);
  EXPECT_EQ(resp.response_length, sizeof resp);
  EXPECT_EQ(resp.device_cap_flags_ex >> 42, 0b11001111u);
  EXPECT_EQ(resp.hca_core_clock, 1000000u);
  EXPECT_EQ(resp.max_job_ids, 65535u);
  EXPECT_EQ(resp.max_job_keys, 256u);
  EXPECT_GE(resp.max_addr_entries, 4096u);

  auto old =
      write_command(extended | IB_USER_VERBS_EX_CMD_QUERY_DEVICE, ib_uverbs_ex_query_device{}, 304);
  ASSERT_EQ(issue(old), 0);
  EXPECT_EQ(caller.load<uint32_t>(old.answered(UVERBS_ATTR_CORE_OUT).data + 180), 304u);
}

TEST_F(WriteCommands, CheckTheExtendedQuery) {
  get_context();
  constexpr auto command = extended | IB_USER_VERBS_EX_CMD_QUERY_DEVICE;
  EXPECT_EQ(write_status(write_command(command, ib_uverbs_ex_query_device{1, 0}, 320)), EINVAL);
  EXPECT_EQ(write_status(write_command(command, ib_uverbs_ex_query_device{0, 1}, 320)), EINVAL);
  EXPECT_EQ(write_status(write_command(command, std::array<uint64_t, 2>{0, 1}, 320)), EOPNOTSUPP);
  EXPECT_EQ(write_status(write_command(command, std::array<uint64_t, 2>{0, 0}, 320)), 0);
  EXPECT_EQ(write_status(write_command(command, ib_uverbs_ex_query_device{}, 8)), ENOSPC);
}

TEST_F(WriteCommands, QueryThePort) {
  get_context();
  ib_uverbs_query_port core{};
  core.port_num = 1;
  auto ioctl = write_command(IB_USER_VERBS_CMD_QUERY_PORT, core, sizeof(ib_uverbs_query_port_resp));
  ASSERT_EQ(issue(ioctl), 0);
  EXPECT_EQ(ioctl.result<ib_uverbs_query_port_resp>(UVERBS_ATTR_CORE_OUT).state, 4);
  core.port_num = 3;
  EXPECT_EQ(write_status(write_command(IB_USER_VERBS_CMD_QUERY_PORT, core, 40)), EINVAL);
}

class Sysfs : public KernelTest {
 protected:
  std::string file_at(const std::string& path) {
    for (const auto& [name, content] : kernel->sysfs()) {
      if (name == path) return content;
    }
    return "(absent)";
  }
};

TEST_F(Sysfs, LetsALibraryFindTheDevice) {
  EXPECT_EQ(file_at("class/infiniband_verbs/abi_version"), "6\n");
  EXPECT_EQ(file_at("class/infiniband_verbs/uverbs0/ibdev"), "cxi0\n");
  EXPECT_EQ(file_at("class/infiniband_verbs/uverbs0/abi_version"), "1\n");
  EXPECT_EQ(file_at("class/infiniband_verbs/uverbs0/dev"), "231:192\n");
  EXPECT_EQ(kernel->nics()[0].minor, 192u);
  EXPECT_EQ(file_at("class/infiniband/cxi0/node_type"), "7: UNSPECIFIED\n");
  EXPECT_EQ(file_at("class/infiniband/cxi0/node_guid"), "0000:00ff:fe00:0001\n");
  EXPECT_EQ(file_at("class/infiniband/cxi0/device/modalias"),
            "pci:v00001590d00000371sv00001590sd00000371bc02sc00i00\n");
}

TEST_F(Sysfs, ShowsGidsAndTheirTypes) {
  EXPECT_EQ(file_at("class/infiniband/cxi0/ports/1/gids/0"),
            "fe80:0000:0000:0000:0000:0000:0000:0001\n");
  EXPECT_EQ(file_at("class/infiniband/cxi0/ports/1/gid_attrs/types/0"), "Slingshot\n");
  EXPECT_EQ(file_at("class/infiniband/cxi0/ports/1/gids/1"),
            "0000:0000:0000:0000:0000:ffff:0a00:0001\n");
  EXPECT_EQ(file_at("class/infiniband/cxi0/ports/1/gid_attrs/types/1"), "UET UDP\n");
}

TEST_F(Sysfs, FollowsTheLink) {
  EXPECT_EQ(file_at("class/infiniband/cxi0/ports/1/state"), "4: ACTIVE\n");
  kernel->set_link(0, false);
  EXPECT_EQ(file_at("class/infiniband/cxi0/ports/1/state"), "1: DOWN\n");
}

class DescriptorMemory : public KernelTest {};

TEST_F(DescriptorMemory, CannotBeTakenAway) {
  get_context();
  create_cq();
  EXPECT_NE(ftruncate(file->fd(), 0), 0);
  EXPECT_NE(fcntl(file->fd(), F_ADD_SEALS, F_SEAL_GROW), 0);
}

TEST_F(DescriptorMemory, IsWhatTheProgramMaps) {
  get_context();
  auto cq = create_cq();
  void* mapped = mmap(nullptr, cq.eq.ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd(),
                      static_cast<off_t>(cq.eq.ring_cookie));
  ASSERT_NE(mapped, MAP_FAILED);
  auto ring = device().eq_configs.at(cq.eq.eqn).ring.bytes;
  EXPECT_EQ(ring.size(), cq.eq.ring_bytes);
  ring[100] = std::byte{42};
  EXPECT_EQ(static_cast<std::byte*>(mapped)[100], std::byte{42});
  munmap(mapped, cq.eq.ring_bytes);
}

TEST_F(DescriptorMemory, IsClearedBeforeItIsUsedAgain) {
  get_context();
  auto cq = create_cq();
  device().eq_configs.at(cq.eq.eqn).ring.bytes[7] = std::byte{42};
  ASSERT_EQ(destroy_cq(cq.handle), 0);
  auto again = create_cq();
  EXPECT_EQ(again.eq.ring_cookie, cq.eq.ring_cookie);
  EXPECT_EQ(device().eq_configs.at(again.eq.eqn).ring.bytes[7], std::byte{0});
}

TEST_F(DescriptorMemory, IsNotReusedWhileTheNicHoldsIt) {
  get_context();
  auto cq = create_cq();
  nic::SharedPages held = device().eq_configs.at(cq.eq.eqn).ring;
  ASSERT_EQ(destroy_cq(cq.handle), 0);
  EXPECT_NE(create_cq().eq.ring_cookie, cq.eq.ring_cookie);
}

class TwoNics : public KernelTest {
 protected:
  TwoNics()
      : KernelTest([] {
          KernelConfig config;
          config.nics = 2;
          return config;
        }()) {}
};

TEST_F(TwoNics, AreApart) {
  get_context();
  auto other = open(1);
  get_context(*other);
  alloc_pd(*other);
  EXPECT_TRUE(device(0).rgids.empty());
  EXPECT_EQ(device(1).rgids.size(), 1u);
  EXPECT_EQ(kernel->nics()[1].nid, 2u);
  kernel->step();
  EXPECT_EQ(device(0).steps, 1u);
  EXPECT_EQ(device(1).steps, 1u);
  kernel->fail_device(1);
  EXPECT_EQ(get_context(*other), EIO);
  alloc_pd();
}

TEST_F(TwoNics, WakeTheirEngineOnEveryCall) {
  unsigned before = device(0).wakeups;
  get_context();
  EXPECT_GT(device(0).wakeups, before);
}

}  // namespace
}  // namespace sim::uverbs::test
