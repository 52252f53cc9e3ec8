// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fuzz/program.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>

namespace sim::fuzz {
namespace {

// A span of pages for the classes that play the library; whoever owns the window outlives them.
nic::SharedPages shared(std::span<std::byte> bytes) {
  return {nullptr, bytes};
}

}  // namespace

void must(bool holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "not so: %s\n", what);
  abort();
}

Window::Window(int fd)
    : fd_(fd),
      memory_(static_cast<std::byte*>(
          mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0))) {
  must(memory_ != MAP_FAILED, "the device can be mapped");
}

Window::~Window() {
  munmap(memory_, most);
}

std::span<std::byte> Window::all() const {
  struct stat st {};
  must(fstat(fd_, &st) == 0, "the device has a size");
  return {memory_, std::min(most, static_cast<size_t>(st.st_size))};
}

std::span<std::byte> Window::at(uint64_t cookie, uint64_t bytes) const {
  const auto pages = all();
  if (cookie > pages.size() || bytes > pages.size() - cookie) return {};
  return pages.subspan(cookie, bytes);
}

Program::Program(uverbs::Kernel& kernel, unsigned n, uid_t uid, uint32_t service)
    : nic(n), kernel_(kernel) {
  caller.who.uid = caller.who.euid = uid;
  int error = 0;
  open_ = kernel.open(nic, caller, &error);
  must(open_ != nullptr, "the device can be opened");
  window_ = std::make_unique<Window>(open_->fd());
  Ioctl context(caller, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
  context.in(UVERBS_ATTR_UHW_IN, cxi_abi_get_context_req{service, 0});
  must(issue(context) == 0, "a context is made");
}

Program::~Program() {
  if (open_) kernel_.release(*open_);
}

int Program::issue(Ioctl& ioctl) {
  return kernel_.ioctl(*open_, caller, ioctl.place());
}

int Program::issue(uint64_t address) {
  return kernel_.ioctl(*open_, caller, address);
}

int Program::destroy(uint16_t object, uint16_t method, uint16_t attr, uint32_t handle) {
  Ioctl ioctl(caller, object, method);
  ioctl.handle(attr, handle);
  return issue(ioctl);
}

void Program::run(uverbs::Kernel& kernel, unsigned steps) {
  for (unsigned i = 0; i < steps && kernel.step(); ++i) {
  }
}

void Program::add_queue(const cxi_abi_cmdq_info& info, bool triggered) {
  const auto ring = window_->at(info.ring_cookie, uint64_t{info.slots} * 64);
  const auto launch = window_->at(info.launch_cookie, 4096);
  if (ring.empty() || launch.empty()) return;
  CommandWriter writer(4, triggered);
  writer.ring = shared(ring);
  writer.launch = shared(launch);
  writer.index = info.index;
  queues.push_back(std::move(writer));
}

void Program::set_up(uint16_t vni, unsigned wanted_pid) {
  const auto on_lni = [&](Handles more = {}) {
    more.insert(more.begin(), {{CXI_ATTR_HANDLE, 0}, {CXI_ATTR_LNI_HANDLE, lni}});
    return more;
  };
  const auto made = [](const Answer& answer, const char* what) {
    must(answer.error == 0, what);
    return answer.handle();
  };
  // The program's service, whatever the request says.
  lni = made(native(CXI_OBJECT_LNI, CXI_METHOD_LNI_CREATE, cxi_abi_lni_req{file().service_id, 0},
                    sizeof(cxi_abi_lni_resp)),
             "LNI");
  trigger_cp = made(native(CXI_OBJECT_CP, CXI_METHOD_CP_ALLOC,
                           cxi_abi_cp_req{vni, CXI_ABI_CP_TRIGGERED, CXI_ABI_TC_BEST_EFFORT, 0},
                           sizeof(cxi_abi_cp_resp), on_lni()),
                    "CP for triggers");
  cp = made(
      native(CXI_OBJECT_CP, CXI_METHOD_CP_ALLOC, cxi_abi_cp_req{vni, 0, CXI_ABI_TC_LOW_LATENCY, 0},
             sizeof(cxi_abi_cp_resp), on_lni()),
      "CP");
  auto place =
      native(CXI_OBJECT_DOMAIN, CXI_METHOD_DOMAIN_CREATE, cxi_abi_domain_req{vni, wanted_pid, 0, 0},
             sizeof(cxi_abi_domain_resp), on_lni());
  domain = made(place, "domain");
  pid = place.resp<cxi_abi_domain_resp>().pid;
  auto memory = native(CXI_OBJECT_MD, CXI_METHOD_MD_MAP,
                       cxi_abi_md_req{buffer_va, FakeCaller::read_only - buffer_va,
                                      CXI_ABI_MD_READ | CXI_ABI_MD_WRITE, -1},
                       sizeof(cxi_abi_md_resp), on_lni());
  md = made(memory, "MD");
  lac = memory.resp<cxi_abi_md_resp>().lac;
  iova_delta = memory.resp<cxi_abi_md_resp>().iova - buffer_va;

  cxi_abi_eq_req eq_req{};
  eq_req.slots = 128;
  eq_req.reserve = 8;
  auto queue =
      native(CXI_OBJECT_EQ, CXI_METHOD_EQ_CREATE, eq_req, sizeof(cxi_abi_eq_info), on_lni());
  eq = made(queue, "EQ");
  const auto info = queue.resp<cxi_abi_eq_info>();
  eqn = info.eqn;
  events.ring = shared(window_->at(info.ring_cookie, info.ring_bytes));
  events.sw_state = shared(window_->at(info.sw_state_cookie, 4096));
  events.eqn = info.eqn;

  const auto add = [&](uint32_t flags, std::optional<uint32_t> profile, const char* what) {
    Handles handles = on_lni({{CXI_ATTR_EQ_HANDLE, eq}});
    if (profile) handles.push_back({CXI_ATTR_CP_HANDLE, *profile});
    auto answer = native(CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_CREATE, cxi_abi_cmdq_req{flags, 64, 0, 0},
                         sizeof(cxi_abi_cmdq_info), handles);
    const uint32_t handle = made(answer, what);
    add_queue(answer.resp<cxi_abi_cmdq_info>(), flags & CXI_ABI_CMDQ_TRIGGERED);
    return handle;
  };
  txq = add(CXI_ABI_CMDQ_TRANSMIT, cp, "transmit queue");
  tgq = add(0, std::nullopt, "target queue");
  trigger_queue = add(CXI_ABI_CMDQ_TRANSMIT | CXI_ABI_CMDQ_TRIGGERED, trigger_cp, "trigger queue");

  cxi_abi_pte_req pte_req{};
  pte_req.flags = CXI_ABI_PTE_MATCHING | CXI_ABI_PTE_FLOW_CONTROL;
  pte_req.le_charge = 16;
  auto entry = native(CXI_OBJECT_PTE, CXI_METHOD_PTE_CREATE, pte_req, sizeof(cxi_abi_pte_resp),
                      on_lni({{CXI_ATTR_EQ_HANDLE, eq}}));
  pte = made(entry, "PTE");
  pte_number = entry.resp<cxi_abi_pte_resp>().pte;
  pte_req = {};
  must(native(CXI_OBJECT_PTE, CXI_METHOD_PTE_MAP, pte_req, 0,
              {{CXI_ATTR_HANDLE, pte}, {CXI_ATTR_DOMAIN_HANDLE, domain}})
               .error == 0,
       "the entry is mapped");
  auto counter = native(CXI_OBJECT_CT, CXI_METHOD_CT_CREATE, cxi_abi_ct_req{buffer_va, 0, 0, 0},
                        sizeof(cxi_abi_ct_resp), on_lni());
  ct = made(counter, "CT");
  ct_number = counter.resp<cxi_abi_ct_resp>().ct;

  // A buffer for match bits 1, one for everything unexpected.
  CommandWriter& target = queues[1];
  target.push(nic::testing::set_state_cmd(pte_number, C_PTLTE_ENABLED, 0));
  auto append = nic::testing::append_cmd(pte_number, C_PTL_LIST_PRIORITY, 1);
  append.lac = lac & 7;
  append.start = iova(buffer_va + 0x1000) & ((uint64_t{1} << 57) - 1);
  append.length = 0x1000;
  append.match_bits = 1;
  append.ignore_bits = 0;
  append.op_get = 1;
  target.push(append);
  append.ptl_list = C_PTL_LIST_OVERFLOW;
  append.buffer_id = 2;
  append.start = iova(buffer_va + 0x2000) & ((uint64_t{1} << 57) - 1);
  append.length = 0x4000;
  append.ignore_bits = ~uint64_t{0};
  append.manage_local = 1;
  append.op_get = 0;
  target.push(append);
  target.ring_doorbell();
  run(kernel_);
}

void Program::set_up_verbs(uint16_t vni) {
  const auto call = [&](uint16_t object, uint16_t method) { return Ioctl(caller, object, method); };
  const auto done = [&](Ioctl& ioctl, const char* what) {
    const int error = issue(ioctl);
    if (error != 0) fprintf(stderr, "errno %d\n", error);
    must(error == 0, what);
  };

  auto pd_call = call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
  pd_call.constant(UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_ALLOC_PD)
      .in(UVERBS_ATTR_CORE_IN, uint64_t{0})
      .out(UVERBS_ATTR_CORE_OUT, 4);
  done(pd_call, "PD");
  pd = pd_call.result<uint32_t>(UVERBS_ATTR_CORE_OUT);

  cxi_abi_create_cq_req on_own_lni{};
  on_own_lni.eq_handle = on_own_lni.lni_handle = CXI_ABI_HANDLE_NONE;
  auto cq_call = call(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
  cq_call.fresh(UVERBS_ATTR_CREATE_CQ_HANDLE)
      .out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4)
      .u32(UVERBS_ATTR_CREATE_CQ_CQE, 64)
      .in(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, uint64_t{0xc0})
      .u32(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0)
      .in(UVERBS_ATTR_UHW_IN, on_own_lni)
      .out(UVERBS_ATTR_UHW_OUT, sizeof(cxi_abi_create_cq_resp));
  done(cq_call, "CQ");
  cq = cq_call.handle_of(UVERBS_ATTR_CREATE_CQ_HANDLE);

  auto job_call = call(UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_ALLOC);
  job_call.fresh(UVERBS_ATTR_ALLOC_JOB_HANDLE).u32(UVERBS_ATTR_ALLOC_JOB_ID, vni);
  done(job_call, "job");
  job = job_call.handle_of(UVERBS_ATTR_ALLOC_JOB_HANDLE);

  auto jkey_call = call(UVERBS_OBJECT_JKEY, UVERBS_METHOD_JKEY_CREATE);
  jkey_call.fresh(UVERBS_ATTR_CREATE_JKEY_HANDLE)
      .handle(UVERBS_ATTR_CREATE_JKEY_JOB_HANDLE, job)
      .handle(UVERBS_ATTR_CREATE_JKEY_PD_HANDLE, pd)
      .out(UVERBS_ATTR_CREATE_JKEY_JKEY, 4);
  done(jkey_call, "job key");
  jkey = jkey_call.handle_of(UVERBS_ATTR_CREATE_JKEY_HANDLE);

  cxi_abi_create_qp_req req{64, 64, 40, 8, 256, 16, 16, CXI_ABI_HANDLE_NONE};
  auto qp_call = call(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
  qp_call.handle(UVERBS_ATTR_CREATE_QP_PD_HANDLE, pd)
      .handle(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, cq)
      .handle(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, cq)
      .fresh(UVERBS_ATTR_CREATE_QP_HANDLE)
      .constant(UVERBS_ATTR_CREATE_QP_TYPE, IB_UVERBS_QPT_RU)
      .in(UVERBS_ATTR_CREATE_QP_USER_HANDLE, uint64_t{0xbeef})
      .in(UVERBS_ATTR_CREATE_QP_CAP, ib_uverbs_qp_cap{16, 16, 1, 1, 64})
      .out(UVERBS_ATTR_CREATE_QP_RESP_CAP, sizeof(ib_uverbs_qp_cap))
      .out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4)
      .in(UVERBS_ATTR_UHW_IN, req)
      .out(UVERBS_ATTR_UHW_OUT, sizeof(cxi_abi_create_qp_resp))
      .handle(UVERBS_ATTR_CREATE_QP_JOB_KEY, jkey);
  done(qp_call, "QP");
  qp = qp_call.handle_of(UVERBS_ATTR_CREATE_QP_HANDLE);
  const auto resp = qp_call.result<cxi_abi_create_qp_resp>(UVERBS_ATTR_UHW_OUT);
  add_queue(resp.txq, false);
  add_queue(resp.tgq, false);

  auto mr_call = call(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR);
  mr_call.fresh(UVERBS_ATTR_REG_MR_HANDLE)
      .handle(UVERBS_ATTR_REG_MR_PD_HANDLE, pd)
      .in(UVERBS_ATTR_REG_MR_IOVA, buffer_va)
      .in(UVERBS_ATTR_REG_MR_ADDR, buffer_va)
      .in(UVERBS_ATTR_REG_MR_LENGTH, uint64_t{0x8000})
      .u32(UVERBS_ATTR_REG_MR_ACCESS_FLAGS, IB_UVERBS_ACCESS_LOCAL_WRITE)
      .out(UVERBS_ATTR_REG_MR_RESP_LKEY, 4)
      .out(UVERBS_ATTR_REG_MR_RESP_RKEY, 4);
  done(mr_call, "MR");
  mr = mr_call.handle_of(UVERBS_ATTR_REG_MR_HANDLE);
}

}  // namespace sim::fuzz
