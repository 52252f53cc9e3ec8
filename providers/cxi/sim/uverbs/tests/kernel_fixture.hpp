// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A kernel on fake NICs, a caller, and the calls that programs make, spelled out attribute by
// attribute.
#pragma once

#include <gtest/gtest.h>
#include <rdma/cxiverbs-abi.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "fake_caller.hpp"
#include "fake_device.hpp"
#include "uverbs/file.hpp"
#include "uverbs/kernel_impl.hpp"
#include "uverbs/schema.hpp"

namespace sim::uverbs::test {

class FakeClock final : public nic::Clock {
 public:
  uint64_t realtime_ns() override { return now; }
  uint64_t monotonic_ns() override { return now; }
  uint64_t now = 1000;
};

class QuietTrace final : public nic::Trace {
 public:
  bool enabled() const override { return true; }
  void line(std::string_view text) override { lines.emplace_back(text); }
  std::vector<std::string> lines;
};

// The header without its attributes, which the kernel's declares as an array of unknown length.
struct Header {
  uint16_t length, object_id, method_id, num_attrs;
  uint64_t reserved1;
  uint32_t driver_id, reserved2;
};
static_assert(sizeof(Header) == sizeof(ib_uverbs_ioctl_hdr));

// One ioctl under construction, and its answers once it has been issued.
class Ioctl {
 public:
  Ioctl(FakeCaller& caller, uint16_t object, uint16_t method) : caller_(caller) {
    header.object_id = object;
    header.method_id = method;
    header.driver_id = RDMA_DRIVER_CXI;
  }

  Ioctl& raw(const ib_uverbs_attr& attr) {
    attrs.push_back(attr);
    return *this;
  }
  // Inputs: at most eight bytes travel in the attribute.
  template <class T>
  Ioctl& in(uint16_t id, const T& value) {
    return in_bytes(id, &value, sizeof value);
  }
  Ioctl& in_bytes(uint16_t id, const void* data, size_t length) {
    ib_uverbs_attr attr{};
    attr.attr_id = id;
    attr.len = static_cast<uint16_t>(length);
    attr.flags = UVERBS_ATTR_F_MANDATORY;
    if (length <= 8) {
      if (length != 0) std::memcpy(&attr.data, data, length);
    } else {
      attr.data = room(length);
      caller_.memory()->write(attr.data, {static_cast<const std::byte*>(data), length});
    }
    return raw(attr);
  }
  Ioctl& constant(uint16_t id, uint64_t value) { return in(id, value); }
  Ioctl& u32(uint16_t id, uint32_t value) { return in(id, value); }
  Ioctl& handle(uint16_t id, uint64_t value) {
    ib_uverbs_attr attr{};
    attr.attr_id = id;
    attr.flags = UVERBS_ATTR_F_MANDATORY;
    attr.data = value;
    return raw(attr);
  }
  Ioctl& fresh(uint16_t id) { return handle(id, 0); }
  Ioctl& fd(uint16_t id, int number) {
    return handle(id, static_cast<uint64_t>(static_cast<int64_t>(number)));
  }
  // Outputs are never inline. The room and a little more is filled, so that what is written shows.
  Ioctl& out(uint16_t id, size_t length) {
    ib_uverbs_attr attr{};
    attr.attr_id = id;
    attr.len = static_cast<uint16_t>(length);
    attr.flags = UVERBS_ATTR_F_MANDATORY;
    attr.data = room(length);
    std::vector<std::byte> filling(length + 8, std::byte{0xee});
    caller_.memory()->write(attr.data, filling);
    return raw(attr);
  }

  uint64_t address() const { return at_; }
  uint64_t attr_address(size_t index) const {
    return at_ + sizeof header + index * sizeof(ib_uverbs_attr);
  }
  // Lays the call out in the caller's memory.
  uint64_t place() {
    header.num_attrs = static_cast<uint16_t>(attrs.size());
    if (!keep_length) {
      header.length = static_cast<uint16_t>(sizeof header + attrs.size() * sizeof(ib_uverbs_attr));
    }
    at_ = room(sizeof header + attrs.size() * sizeof(ib_uverbs_attr));
    caller_.store(at_, header);
    for (size_t i = 0; i < attrs.size(); ++i)
      caller_.store(attr_address(i), attrs[i]);
    return at_;
  }
  ib_uverbs_attr answered(uint16_t id) const {
    for (size_t i = 0; i < attrs.size(); ++i) {
      if (attrs[i].attr_id == id) return caller_.load<ib_uverbs_attr>(attr_address(i));
    }
    ADD_FAILURE() << "no attribute " << id;
    return {};
  }
  uint32_t handle_of(uint16_t id) const { return static_cast<uint32_t>(answered(id).data); }
  int fd_of(uint16_t id) const { return static_cast<int>(answered(id).data_s64); }
  template <class T>
  T result(uint16_t id) const {
    return caller_.load<T>(answered(id).data);
  }

  Header header{};
  std::vector<ib_uverbs_attr> attrs;
  bool keep_length = false;

 private:
  uint64_t room(size_t length) {
    static uint64_t next = 0;
    length = (length + 15) / 16 * 16 + 16;
    // Round and round in the first quarter of the memory; the rest is the program's own.
    if (next + length > FakeCaller::size / 4) next = 0;
    uint64_t va = FakeCaller::base + next;
    next += length;
    return va;
  }

  FakeCaller& caller_;
  uint64_t at_ = 0;
};

// What a call of a native method came back with.
struct NativeAnswer {
  int error;
  Ioctl ioctl;
  uint32_t handle() const { return ioctl.handle_of(CXI_ATTR_HANDLE); }
  template <class T>
  T resp() const {
    return ioctl.result<T>(CXI_ATTR_RESP);
  }
};

constexpr uint64_t buffer_va = FakeCaller::base + FakeCaller::size / 4;  // the program's memory

class KernelTest : public ::testing::Test {
 protected:
  explicit KernelTest(KernelConfig config = {}) : config_(config) {
    auto factory = [this](const nic::DeviceConfig& c, nic::Interrupts& i) {
      auto fake = std::make_unique<FakeDevice>(c, i);
      devices.push_back(fake.get());
      return fake;
    };
    kernel = make_kernel(config, clock, trace, factory, nullptr);
    file = open();
  }
  // On a kernel made otherwise; there is no fake device then.
  using MakeKernel = std::unique_ptr<Kernel>(const KernelConfig&, nic::Clock&, nic::Trace&);
  KernelTest(KernelConfig config, MakeKernel* make) : config_(config) {
    kernel = make(config, clock, trace);
    file = open();
  }
  ~KernelTest() override { file.reset(); }

  File& impl() { return static_cast<File&>(*file); }
  FakeDevice& device(size_t i = 0) { return *devices[i]; }

  std::shared_ptr<OpenFile> open(unsigned nic = 0) {
    int error = 0;
    auto opened = kernel->open(nic, caller, &error);
    EXPECT_EQ(error, 0);
    return opened;
  }

  Ioctl call(uint16_t object, uint16_t method) { return Ioctl(caller, object, method); }
  int issue(Ioctl& ioctl) { return issue(*file, ioctl); }
  int issue(OpenFile& on, Ioctl& ioctl) { return kernel->ioctl(on, caller, ioctl.place()); }

  int get_context(OpenFile& on, uint32_t service = 0) {
    auto ioctl = call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
    ioctl.in(UVERBS_ATTR_UHW_IN, cxi_abi_get_context_req{service, 0});
    return issue(on, ioctl);
  }
  int get_context() { return get_context(*file); }

  // A command of the write interface; `resp` bytes are asked for.
  template <class T>
  Ioctl write_command(uint64_t command, const T& core, size_t resp) {
    auto ioctl = call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
    ioctl.constant(UVERBS_ATTR_WRITE_CMD, command).in(UVERBS_ATTR_CORE_IN, core);
    if (resp) ioctl.out(UVERBS_ATTR_CORE_OUT, resp);
    return ioctl;
  }
  int write_status(Ioctl&& ioctl) { return issue(ioctl); }

  uint32_t alloc_pd() { return alloc_pd(*file); }
  uint32_t alloc_pd(OpenFile& on) {
    auto ioctl = write_command(IB_USER_VERBS_CMD_ALLOC_PD, uint64_t{0}, 4);
    EXPECT_EQ(issue(on, ioctl), 0);
    return ioctl.result<uint32_t>(UVERBS_ATTR_CORE_OUT);
  }
  int comp_channel() {
    auto ioctl = write_command(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, uint64_t{0}, 4);
    EXPECT_EQ(issue(ioctl), 0);
    return ioctl.result<int>(UVERBS_ATTR_CORE_OUT);
  }
  int async_fd() {
    auto ioctl = call(UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
    ioctl.fresh(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE);
    EXPECT_EQ(issue(ioctl), 0);
    return ioctl.fd_of(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE);
  }

  static cxi_abi_create_cq_req cq_driver_request(uint32_t flags = 0,
                                                 uint32_t eq = CXI_ABI_HANDLE_NONE,
                                                 uint32_t lni = CXI_ABI_HANDLE_NONE) {
    return {flags, eq, lni, 0};
  }
  Ioctl cq_call(uint32_t cqe = 16, int channel = -1, uint64_t user_handle = 0xc0) {
    auto ioctl = call(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
    ioctl.fresh(UVERBS_ATTR_CREATE_CQ_HANDLE)
        .out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4)
        .u32(UVERBS_ATTR_CREATE_CQ_CQE, cqe)
        .in(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, user_handle)
        .u32(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0)
        .in(UVERBS_ATTR_UHW_IN, cq_driver_request())
        .out(UVERBS_ATTR_UHW_OUT, sizeof(cxi_abi_create_cq_resp));
    if (channel >= 0) ioctl.fd(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, channel);
    return ioctl;
  }
  struct MadeCq {
    uint32_t handle;
    cxi_abi_eq_info eq;
  };
  MadeCq create_cq(uint32_t cqe = 16, int channel = -1, uint64_t user_handle = 0xc0) {
    auto ioctl = cq_call(cqe, channel, user_handle);
    EXPECT_EQ(issue(ioctl), 0);
    return {ioctl.handle_of(UVERBS_ATTR_CREATE_CQ_HANDLE),
            ioctl.result<cxi_abi_create_cq_resp>(UVERBS_ATTR_UHW_OUT).eq};
  }
  int destroy_cq(uint32_t handle, ib_uverbs_destroy_cq_resp* resp = nullptr) {
    auto ioctl = call(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY);
    ioctl.handle(UVERBS_ATTR_DESTROY_CQ_HANDLE, handle).out(UVERBS_ATTR_DESTROY_CQ_RESP, 8);
    int error = issue(ioctl);
    if (resp) *resp = ioctl.result<ib_uverbs_destroy_cq_resp>(UVERBS_ATTR_DESTROY_CQ_RESP);
    return error;
  }

  Ioctl job_call(uint32_t vni, uint32_t entries = 0) {
    auto ioctl = call(UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_ALLOC);
    ioctl.fresh(UVERBS_ATTR_ALLOC_JOB_HANDLE)
        .u32(UVERBS_ATTR_ALLOC_JOB_ID, vni)
        .u32(UVERBS_ATTR_ALLOC_JOB_MAX_ADDR_ENTRIES, entries)
        .out(UVERBS_ATTR_UHW_OUT, sizeof(cxi_abi_job_resp));
    return ioctl;
  }
  uint32_t alloc_job(uint32_t vni = 1, uint32_t entries = 0) {
    auto ioctl = job_call(vni, entries);
    EXPECT_EQ(issue(ioctl), 0);
    return ioctl.handle_of(UVERBS_ATTR_ALLOC_JOB_HANDLE);
  }
  Ioctl jkey_call(uint32_t pd, uint32_t job) {
    auto ioctl = call(UVERBS_OBJECT_JKEY, UVERBS_METHOD_JKEY_CREATE);
    ioctl.fresh(UVERBS_ATTR_CREATE_JKEY_HANDLE)
        .handle(UVERBS_ATTR_CREATE_JKEY_JOB_HANDLE, job)
        .handle(UVERBS_ATTR_CREATE_JKEY_PD_HANDLE, pd)
        .out(UVERBS_ATTR_CREATE_JKEY_JKEY, 4)
        .out(UVERBS_ATTR_UHW_OUT, sizeof(cxi_abi_create_jkey_resp));
    return ioctl;
  }
  uint32_t create_jkey(uint32_t pd, uint32_t job) {
    auto ioctl = jkey_call(pd, job);
    EXPECT_EQ(issue(ioctl), 0);
    return ioctl.handle_of(UVERBS_ATTR_CREATE_JKEY_HANDLE);
  }

  static cxi_abi_create_qp_req qp_driver_request() {
    cxi_abi_create_qp_req req{};
    req.tx_slots = 64;
    req.tgt_slots = 64;
    req.send_eq_reserve = 40;
    req.recv_eq_reserve = 8;
    req.slot_bytes = 256;
    req.slot_count = 16;
    req.recv_le_charge = 16;
    req.cp_handle = CXI_ABI_HANDLE_NONE;
    return req;
  }
  static ib_uverbs_qp_cap qp_cap() { return {16, 16, 1, 1, 64}; }
  Ioctl qp_call(uint32_t pd, uint32_t send_cq, uint32_t recv_cq, std::optional<uint32_t> jkey,
                const cxi_abi_create_qp_req& req = qp_driver_request(),
                const ib_uverbs_qp_cap& cap = qp_cap()) {
    auto ioctl = call(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
    ioctl.handle(UVERBS_ATTR_CREATE_QP_PD_HANDLE, pd)
        .handle(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, send_cq)
        .handle(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, recv_cq)
        .fresh(UVERBS_ATTR_CREATE_QP_HANDLE)
        .constant(UVERBS_ATTR_CREATE_QP_TYPE, IB_UVERBS_QPT_RU)
        .in(UVERBS_ATTR_CREATE_QP_USER_HANDLE, uint64_t{0xbeef})
        .in(UVERBS_ATTR_CREATE_QP_CAP, cap)
        .out(UVERBS_ATTR_CREATE_QP_RESP_CAP, sizeof(ib_uverbs_qp_cap))
        .out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4)
        .in(UVERBS_ATTR_UHW_IN, req)
        .out(UVERBS_ATTR_UHW_OUT, sizeof(cxi_abi_create_qp_resp));
    if (jkey) ioctl.handle(UVERBS_ATTR_CREATE_QP_JOB_KEY, *jkey);
    return ioctl;
  }
  struct MadeQp {
    uint32_t handle, qpn;
    cxi_abi_create_qp_resp resp;
  };
  MadeQp finish_qp(Ioctl ioctl) {
    EXPECT_EQ(issue(ioctl), 0);
    return {ioctl.handle_of(UVERBS_ATTR_CREATE_QP_HANDLE),
            ioctl.result<uint32_t>(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM),
            ioctl.result<cxi_abi_create_qp_resp>(UVERBS_ATTR_UHW_OUT)};
  }
  int destroy_qp(uint32_t handle, uint32_t* events = nullptr) {
    auto ioctl = call(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY);
    ioctl.handle(UVERBS_ATTR_DESTROY_QP_HANDLE, handle).out(UVERBS_ATTR_DESTROY_QP_RESP, 4);
    int error = issue(ioctl);
    if (events) *events = ioctl.result<uint32_t>(UVERBS_ATTR_DESTROY_QP_RESP);
    return error;
  }
  int destroy(uint16_t object, uint16_t method, uint32_t handle) {
    auto ioctl = call(object, method);
    ioctl.handle(0, handle);
    return issue(ioctl);
  }
  int dealloc_pd(uint32_t h) { return destroy(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, h); }
  int destroy_mr(uint32_t h) { return destroy(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, h); }
  int destroy_jkey(uint32_t h) {
    return destroy(UVERBS_OBJECT_JKEY, UVERBS_METHOD_JKEY_DESTROY, h);
  }
  int dealloc_job(uint32_t h) { return destroy(UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_DEALLOC, h); }

  Ioctl mr_call(uint32_t pd, uint64_t va = buffer_va, uint64_t length = 8192,
                uint32_t access = IB_UVERBS_ACCESS_LOCAL_WRITE) {
    auto ioctl = call(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR);
    ioctl.fresh(UVERBS_ATTR_REG_MR_HANDLE)
        .handle(UVERBS_ATTR_REG_MR_PD_HANDLE, pd)
        .in(UVERBS_ATTR_REG_MR_IOVA, va)
        .in(UVERBS_ATTR_REG_MR_ADDR, va)
        .in(UVERBS_ATTR_REG_MR_LENGTH, length)
        .u32(UVERBS_ATTR_REG_MR_ACCESS_FLAGS, access)
        .out(UVERBS_ATTR_REG_MR_RESP_LKEY, 4)
        .out(UVERBS_ATTR_REG_MR_RESP_RKEY, 4)
        .out(UVERBS_ATTR_REG_MR_RESP_LKEY64, 8)
        .out(UVERBS_ATTR_REG_MR_RESP_RKEY64, 8)
        .out(UVERBS_ATTR_UHW_OUT, sizeof(cxi_abi_reg_mr_resp));
    return ioctl;
  }

  // Arms an event queue with a value, and lets an event come.
  void arm(const cxi_abi_eq_info& eq, unsigned value) {
    uint64_t state = uint64_t{value} << 44;
    std::memcpy(device().eq_configs.at(eq.eqn).sw_state.bytes.data(), &state, sizeof state);
  }
  void event(const cxi_abi_eq_info& eq) {
    device().poke_eq(eq.eqn);
    kernel->step();
  }
  // Records that can be read now.
  template <class T>
  std::vector<T> records(int fd) {
    std::vector<T> all;
    int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    T one;
    while (read(fd, &one, sizeof one) == sizeof one)
      all.push_back(one);
    fcntl(fd, F_SETFL, flags);
    return all;
  }

  KernelConfig config_;
  FakeClock clock;
  QuietTrace trace;
  FakeCaller caller;
  std::vector<FakeDevice*> devices;
  std::unique_ptr<Kernel> kernel;
  std::shared_ptr<OpenFile> file;
};

// The same with the context made.
class ContextTest : public KernelTest {
 protected:
  ContextTest() { EXPECT_EQ(get_context(), 0); }
};

}  // namespace sim::uverbs::test
