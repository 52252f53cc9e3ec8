// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Making and destroying queue pairs. Everything is checked first; what is made afterwards takes
// itself back when a later step is refused.
#include <algorithm>
#include <cerrno>

#include "uverbs/native.hpp"

namespace sim::uverbs {
namespace {

constexpr uint32_t qpn_reserved_bits = 0x7f000000;
constexpr uint64_t core_create_flags =
    IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK | IB_UVERBS_QP_CREATE_SCATTER_FCS |
    IB_UVERBS_QP_CREATE_CVLAN_STRIPPING | IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING |
    IB_UVERBS_QP_CREATE_SQ_SIG_ALL;

struct Request {  // everything that has been asked for, checked
  cxi_abi_create_qp_req driver{};
  ib_uverbs_qp_cap cap{};
  uint64_t flags = 0;
  QpAttributes attributes;
  Pd* pd = nullptr;
  Cq *send_cq = nullptr, *recv_cq = nullptr;
  Jkey* jkey = nullptr;
  CpObject* cp = nullptr;
  std::optional<uint32_t> qpn;
  bool absolute() const { return qpn && (*qpn & IB_UVERBS_QPN_UET_ABSOLUTE_ADDR_BIT); }
  unsigned pid() const { return *qpn & IB_UVERBS_QPN_UET_PID_ON_FEP_MASK; }
  unsigned ri() const { return (*qpn & IB_UVERBS_QPN_UET_RI_MASK) >> IB_UVERBS_QPN_UET_RI_SHIFT; }
};

int check_driver_request(const cxi_abi_create_qp_req& req) {
  for (uint32_t slots : {req.tx_slots, req.tgt_slots}) {
    if (slots < min_cmdq_slots || slots > max_cmdq_slots) return EINVAL;
  }
  if (req.send_eq_reserve > max_eq_reserve || req.recv_eq_reserve > max_eq_reserve) return EINVAL;
  if (req.slot_bytes % 64 != 0 || req.slot_bytes > max_slot_bytes) return EINVAL;
  if ((req.slot_bytes == 0) != (req.slot_count == 0)) return EINVAL;
  if (uint64_t{req.slot_bytes} * req.slot_count > max_slot_memory) return EINVAL;
  return req.recv_le_charge > device_totals[CXI_ABI_RSRC_LE] ? EINVAL : 0;
}

int check_cap(const ib_uverbs_qp_cap& cap) {
  const bool fits = cap.max_send_wr <= max_qp_wr && cap.max_recv_wr <= max_qp_wr &&
                    cap.max_send_sge <= max_sge && cap.max_recv_sge <= max_sge &&
                    cap.max_inline_data <= max_inline;
  return fits ? 0 : EINVAL;
}

// Only what has been offered may be asked for; members whose bit is clear do not count.
int check_semantics(const ib_uverbs_qp_semantics& asked) {
  const ib_uverbs_qp_semantics offered = offered_semantics();
  const uint32_t mask = asked.comp_mask;
  if (mask & ~offered.comp_mask) return EINVAL;
  if (asked.reserved[0] || asked.reserved[1] || asked.reserved[2]) return EINVAL;
  auto exceeds = [mask](uint32_t bit, uint32_t want, uint32_t have) {
    return (mask & bit) != 0 && want > have;
  };
  if ((mask & IB_UVERBS_QP_SEMANTICS_MASK_MSG_ORDER) && (asked.msg_order & ~offered.msg_order)) {
    return EINVAL;
  }
  if (exceeds(IB_UVERBS_QP_SEMANTICS_MASK_RAW, asked.max_rdma_raw_size,
              offered.max_rdma_raw_size) ||
      exceeds(IB_UVERBS_QP_SEMANTICS_MASK_WAR, asked.max_rdma_war_size,
              offered.max_rdma_war_size) ||
      exceeds(IB_UVERBS_QP_SEMANTICS_MASK_WAW, asked.max_rdma_waw_size,
              offered.max_rdma_waw_size) ||
      exceeds(IB_UVERBS_QP_SEMANTICS_MASK_PDU, asked.max_pdu, offered.max_pdu)) {
    return EINVAL;
  }
  if (mask & IB_UVERBS_QP_SEMANTICS_MASK_IMM) {
    if (asked.imm_data_size != 0 && asked.imm_data_size != 32 && asked.imm_data_size != 64) {
      return EINVAL;
    }
  }
  if ((mask & IB_UVERBS_QP_SEMANTICS_MASK_USAGE) && (asked.usage_flags & ~offered.usage_flags)) {
    return EINVAL;
  }
  return 0;
}

// Attributes given at creation in place of a modify.
int check_attributes(const ib_uverbs_ex_modify_qp& attr, QpAttributes& out) {
  constexpr uint32_t known = qp_attr_state | qp_attr_cur_state | qp_attr_access_flags |
                             qp_attr_pkey_index | qp_attr_port | qp_attr_path_mtu |
                             qp_attr_retry_cnt | qp_attr_rnr_retry | qp_attr_min_rnr_timer;
  const ib_uverbs_modify_qp& base = attr.base;
  if (base.attr_mask & ~known) return EOPNOTSUPP;
  if ((base.attr_mask & qp_attr_state) && base.qp_state != static_cast<uint8_t>(QpState::rts)) {
    return EOPNOTSUPP;
  }
  if ((base.attr_mask & qp_attr_path_mtu) && (base.path_mtu < 1 || base.path_mtu > path_mtu_2048)) {
    return EINVAL;
  }
  return out.apply(base.attr_mask, base);
}

int check_number(const Request& request, NicState& nic) {
  if (!request.absolute() && !request.jkey) return EINVAL;
  if (!request.qpn) return 0;
  if (*request.qpn & qpn_reserved_bits) return EINVAL;
  if (request.pid() >= nic.pids.count() || request.ri() >= CXI_ABI_NUM_RI) return EINVAL;
  if (request.pd->pid && *request.pd->pid != request.pid()) return EINVAL;
  return 0;
}

int parse(Call& call, Request& request) {
  if (call.in<uint64_t>(UVERBS_ATTR_CREATE_QP_TYPE) != IB_UVERBS_QPT_RU) return EOPNOTSUPP;
  if (int error = call.flags(UVERBS_ATTR_CREATE_QP_FLAGS, core_create_flags, request.flags)) {
    return error;
  }
  if (request.flags & ~uint64_t{IB_UVERBS_QP_CREATE_SQ_SIG_ALL}) return EOPNOTSUPP;
  request.pd = call.object<Pd>(UVERBS_ATTR_CREATE_QP_PD_HANDLE);
  request.send_cq = call.object<Cq>(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
  request.recv_cq = call.object<Cq>(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE);
  request.jkey = call.object<Jkey>(UVERBS_ATTR_CREATE_QP_JOB_KEY);
  if (!request.pd || !request.send_cq || !request.recv_cq) return EINVAL;
  if (request.jkey && request.jkey->pd.get() != request.pd) return EINVAL;
  // Commands can name only event queues of their own logical NI.
  for (const Cq* cq : {request.send_cq, request.recv_cq}) {
    if (&cq->queue().lni() != request.pd->lni.get()) return EINVAL;
  }
  if (int error = call.driver_in(request.driver)) return error;
  if (int error = check_driver_request(request.driver)) return error;
  if (request.driver.cp_handle != CXI_ABI_HANDLE_NONE) {
    request.cp = find_object<CpObject>(call.file, request.driver.cp_handle, CXI_OBJECT_CP);
    if (!request.cp) return ENOENT;
    if (request.cp->lni != request.pd->lni) return EINVAL;
  }
  request.cap = call.in<ib_uverbs_qp_cap>(UVERBS_ATTR_CREATE_QP_CAP);
  if (int error = check_cap(request.cap)) return error;
  if (call.has(UVERBS_ATTR_CREATE_QP_SEMANTICS)) {
    auto asked = call.in<ib_uverbs_qp_semantics>(UVERBS_ATTR_CREATE_QP_SEMANTICS);
    if (int error = check_semantics(asked)) return error;
  }
  if (call.has(UVERBS_ATTR_CREATE_QP_ATTR)) {
    auto attr = call.in<ib_uverbs_ex_modify_qp>(UVERBS_ATTR_CREATE_QP_ATTR);
    if (int error = check_attributes(attr, request.attributes)) return error;
  }
  if (call.has(UVERBS_ATTR_CREATE_QP_SOURCE_QPN)) {
    request.qpn = call.in<uint32_t>(UVERBS_ATTR_CREATE_QP_SOURCE_QPN);
  }
  return check_number(request, call.file.nic);
}

// The VNIs in which the entries are mapped: the job's, or every one of the service's list.
int choose_vnis(Call& call, const Request& request, Qp& qp) {
  const Service& service = qp.lni->service();
  if (request.jkey) qp.vnis = {request.jkey->vni()};
  if (request.absolute() && !service.vni_range) {
    for (uint16_t vni : service.vnis)
      if (std::ranges::find(qp.vnis, vni) == qp.vnis.end()) qp.vnis.push_back(vni);
  }
  // A range is too long to be mapped; a queue pair in it needs a job.
  if (qp.vnis.empty()) return EINVAL;
  if (request.cp && request.cp->vni != qp.vnis.front()) return EINVAL;
  const bool granted = service.enabled && service.admits(call.caller.credentials()) &&
                       std::ranges::all_of(qp.vnis, [&](uint16_t v) { return service.has_vni(v); });
  return granted ? 0 : EPERM;
}

int choose_number(const Request& request, Qp& qp) {
  Pd& pd = *request.pd;
  PidTable& pids = qp.file.nic.pids;
  unsigned pid;
  if (request.qpn) {
    pid = request.pid();
  } else if (pd.pid) {
    pid = *pd.pid;
  } else {
    auto lowest = pids.lowest_free(qp.vnis);
    if (!lowest) return ENOSPC;
    pid = *lowest;
  }
  unsigned ri = 0;
  if (request.qpn) {
    ri = request.ri();
  } else {
    while (ri < CXI_ABI_NUM_RI && pd.resource_indices[ri])
      ++ri;
  }
  if (ri >= CXI_ABI_NUM_RI || pd.resource_indices[ri]) return ENOSPC;
  qp.pid = pid;
  qp.ri = ri;
  qp.absolute = request.absolute();
  return 0;
}

// Slots that messages from the network cannot take; those that the CQ promises them stay theirs.
int raise_reserve(const Cq& cq, uint32_t more) {
  EventQueue& queue = cq.queue();
  const uint32_t wanted = queue.reserve() + more;
  if (wanted > max_eq_reserve || CXI_ABI_EQ_FIXED_SLOTS + wanted + cq.cqe > queue.slots()) {
    return ENOMEM;
  }
  return queue.change_reserve(static_cast<int>(more));
}

int reserve_events(const Request& request, Qp& qp) {
  if (int error = raise_reserve(*request.send_cq, request.driver.send_eq_reserve)) return error;
  qp.send_reserve = static_cast<int>(request.driver.send_eq_reserve);
  if (int error = raise_reserve(*request.recv_cq, request.driver.recv_eq_reserve)) return error;
  qp.recv_reserve = static_cast<int>(request.driver.recv_eq_reserve);
  return 0;
}

int make_queues(Call& call, const Request& request, Qp& qp) {
  if (request.cp) {
    qp.lcid = request.cp->lcid;
  } else if (request.jkey) {
    qp.lcid = request.jkey->lcid;
  } else {
    auto lcid = qp.lni->take_profile(qp.vnis.front(), qp.lni->service().first_traffic_class(),
                                     CXI_ABI_TC_TYPE_DEFAULT, false);
    if (!lcid) return lcid.error;
    qp.profile = qp.lcid = lcid.value;
  }
  CommandQueue::Spec spec;
  spec.slots = request.driver.tx_slots;
  spec.eqn = request.send_cq->queue().eqn();
  spec.lcid = qp.lcid;
  auto txq = CommandQueue::make(qp.lni, *call.file.arena, spec);
  if (!txq) return txq.error;
  txq.value->qp = &qp;
  qp.txq = Owned(call.add(std::make_unique<CmdqObject>(call.file, std::move(txq.value))));

  spec.transmit = false;
  spec.slots = request.driver.tgt_slots;
  spec.eqn = request.recv_cq->queue().eqn();
  auto tgq = CommandQueue::make(qp.lni, *call.file.arena, spec);
  if (!tgq) return tgq.error;
  tgq.value->qp = &qp;
  qp.tgq = Owned(call.add(std::make_unique<CmdqObject>(call.file, std::move(tgq.value))));
  return 0;
}

int make_entries(const Request& request, Qp& qp) {
  nic::PteConfig config;
  config.eqn = request.recv_cq->queue().eqn();
  config.matching = true;
  config.long_events = true;
  auto recv = PortalEntry::make(qp.lni, config, request.driver.recv_le_charge);
  if (!recv) return recv.error;
  qp.recv = std::move(recv.value);
  auto mem = make_memory_entry(qp.lni, config.eqn);
  if (!mem) return mem.error;
  qp.mem = std::move(mem.value);
  nic::Device& device = qp.lni->device();
  if (int error = device.set_pte_state(qp.recv->number(), nic::PteState::enabled, 0)) return error;
  for (uint16_t vni : qp.vnis) {
    if (int error = qp.recv->map(vni, qp.pid, CXI_ABI_INDEX_RECV + qp.ri)) return error;
    if (int error = qp.mem->map(vni, qp.pid, CXI_ABI_INDEX_MEMORY + qp.ri)) return error;
    if (int error = qp.mem->map(vni, qp.pid, CXI_ABI_INDEX_MEMORY_READ + qp.ri)) return error;
  }
  return 0;
}

int make_slots(Call& call, const Request& request, Qp& qp) {
  const uint64_t bytes = uint64_t{request.driver.slot_bytes} * request.driver.slot_count;
  if (bytes == 0) return 0;
  auto pages = call.file.arena->allocate(bytes);
  if (!pages) return pages.error;
  qp.slot_pages = std::move(pages.value);
  auto memory = MemoryMap::of_pages(qp.lni, qp.slot_pages.pages);
  if (!memory) return memory.error;
  qp.slot_memory = std::move(memory.value);
  return 0;
}

cxi_abi_create_qp_resp response(const Qp& qp) {
  cxi_abi_create_qp_resp resp{};
  resp.txq = (*qp.txq)->info((*qp.txq).id);
  resp.tgq = (*qp.tgq)->info((*qp.tgq).id);
  resp.recv_pte = qp.recv->number();
  resp.mem_pte = qp.mem->number();
  resp.pid = qp.pid;
  resp.ri = qp.ri;
  resp.vni = qp.vnis.front();
  if (qp.slot_memory) {
    resp.slot_lac = qp.slot_memory->lac();
    resp.slot_cookie = qp.slot_pages.offset;
    resp.slot_map_bytes = qp.slot_pages.length;
    resp.slot_iova = qp.slot_memory->iova();
  }
  resp.send_eq_reserve = qp.send_cq->queue().reserve();
  resp.recv_eq_reserve = qp.recv_cq->queue().reserve();
  return resp;
}

}  // namespace

int create_qp(Call& call) {
  Request request;
  if (int error = parse(call, request)) return error;
  if (call.file.nic.qps >= max_qps) return ENOSPC;

  auto qp = std::make_unique<Qp>(call.file);
  qp->lni = request.pd->lni;
  if (int error = choose_vnis(call, request, *qp)) return error;
  if (int error = choose_number(request, *qp)) return error;
  qp->pd = Use(request.pd);
  qp->send_cq = Use(request.send_cq);
  qp->recv_cq = Use(request.recv_cq);
  qp->jkey = Use(request.jkey);
  qp->cp = Use(request.cp);
  if (int error = make_queues(call, request, *qp)) return error;
  if (int error = reserve_events(request, *qp)) return error;
  if (int error = make_slots(call, request, *qp)) return error;
  // The PID stays with the PD, so it is taken when nothing but the entries can fail.
  std::vector<uint16_t> taken;
  if (int error = request.pd->claim(qp->pid, qp->vnis, taken)) return error;
  call.undo([pd = request.pd, taken] { pd->unclaim(taken); });
  request.pd->resource_indices.set(qp->ri);
  qp->ri_taken = true;
  if (int error = make_entries(request, *qp)) return error;
  if (request.send_cq != request.recv_cq) {
    nic::Device& device = qp->lni->device();
    const unsigned from = request.send_cq->queue().eqn(), to = request.recv_cq->queue().eqn();
    if (int error = device.add_eq_wake(from, to)) return error;
    qp->wakes = true;
  }

  qp->attributes = request.attributes;
  qp->cap = request.cap;
  qp->sq_sig_all = request.flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
  qp->src_id = call.in<uint32_t>(UVERBS_ATTR_CREATE_QP_SRC_ID);
  qp->user_handle = call.in<uint64_t>(UVERBS_ATTR_CREATE_QP_USER_HANDLE);
  qp->async = call.has(UVERBS_ATTR_CREATE_QP_EVENT_FD)
                  ? call.file.async(call.identity(UVERBS_ATTR_CREATE_QP_EVENT_FD))
                  : call.file.default_async();
  Qp& made = call.made(UVERBS_ATTR_CREATE_QP_HANDLE, std::move(qp));
  call.put(UVERBS_ATTR_CREATE_QP_RESP_CAP, made.cap);
  call.put(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, made.number());
  call.driver_out(response(made));
  return 0;
}

int attach_mr(Call& call) {
  auto* qp = call.object<Qp>(UVERBS_ATTR_QP_ATTACH_MR_QP_HANDLE);
  auto* mr = call.object<Mr>(UVERBS_ATTR_QP_ATTACH_MR_MR_HANDLE);
  if (int error = qp->attach(*mr)) return error;
  call.undo([qp, mr] { qp->detach(*mr); });
  const Attachment& attachment = qp->attachments.at(mr);
  cxi_abi_attach_mr_resp resp{};
  resp.plain_buffer_id = attachment.plain;
  resp.immediate_buffer_id = attachment.immediate;
  resp.atomic_buffer_id = attachment.atomic;
  resp.pte = attachment.entry->number();
  call.driver_out(resp);
  return 0;
}

int detach_mr(Call& call) {
  auto* qp = call.object<Qp>(UVERBS_ATTR_QP_DETACH_MR_QP_HANDLE);
  return qp->detach(*call.object<Mr>(UVERBS_ATTR_QP_DETACH_MR_MR_HANDLE));
}

int destroy_qp(Call& call) {
  auto* qp = call.object<Qp>(UVERBS_ATTR_DESTROY_QP_HANDLE);
  if (int error = qp->may_go()) return error;
  uint32_t removed = qp->async ? qp->async->remove(qp->user_handle) : 0;
  ib_uverbs_destroy_qp_resp resp{};
  resp.events_reported = *qp->async_events - std::min(removed, *qp->async_events);
  call.put(UVERBS_ATTR_DESTROY_QP_RESP, resp);
  call.file.objects.destroy(qp->id);
  return 0;
}

}  // namespace sim::uverbs
