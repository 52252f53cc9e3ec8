// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs/qp.hpp"

#include <cerrno>

#include "uverbs/native.hpp"

namespace sim::uverbs {
namespace {

constexpr uint32_t any_drop_count = 0xffffff;  // matches whatever the entry has counted
constexpr unsigned max_drain_steps = 1u << 16;
constexpr uint8_t max_retries = 7, max_rnr_timer = 31;
constexpr unsigned overflow_list = 1, priority_list = 0;  // enum c_ptl_list
constexpr uint64_t guard_bit = CXI_ABI_RKEY_IMMEDIATE;

nic::ListEntry guard_entry() {
  nic::ListEntry guard;
  guard.list = overflow_list;
  guard.length = ~0ull;
  guard.match_bits = guard_bit;
  guard.ignore_bits = ~guard_bit;
  guard.event_comm_disable = true;
  return guard;
}

}  // namespace

nic::Made<std::unique_ptr<PortalEntry>> make_memory_entry(std::shared_ptr<Lni> lni, unsigned eqn) {
  nic::PteConfig config;
  config.eqn = eqn;
  config.matching = true;
  config.long_events = true;
  config.space_check = true;
  nic::Device& device = lni->device();
  auto entry = PortalEntry::make(std::move(lni), config, 1);  // the guard
  if (!entry) return entry;
  int error = device.append(entry.value->number(), guard_entry());
  if (error == 0) error = device.set_pte_state(entry.value->number(), nic::PteState::enabled, 0);
  if (error) return {nullptr, error};
  return entry;
}

ib_uverbs_qp_semantics offered_semantics() {
  ib_uverbs_qp_semantics offered{};
  offered.comp_mask = IB_UVERBS_QP_SEMANTICS_MASK_MSG_ORDER | IB_UVERBS_QP_SEMANTICS_MASK_RAW |
                      IB_UVERBS_QP_SEMANTICS_MASK_WAR | IB_UVERBS_QP_SEMANTICS_MASK_WAW |
                      IB_UVERBS_QP_SEMANTICS_MASK_PDU | IB_UVERBS_QP_SEMANTICS_MASK_IMM |
                      IB_UVERBS_QP_SEMANTICS_MASK_USAGE;
  offered.max_pdu = max_pdu;
  offered.imm_data_size = 64;
  offered.usage_flags = IB_UVERBS_QP_USAGE_ATTACH_MR;
  return offered;
}

int QpAttributes::apply(uint32_t mask, const ib_uverbs_modify_qp& from) {
  if ((mask & qp_attr_port) && from.port_num != port) return EINVAL;
  if ((mask & qp_attr_pkey_index) && from.pkey_index != 0) return EINVAL;
  if ((mask & qp_attr_retry_cnt) && from.retry_cnt > max_retries) return EINVAL;
  if ((mask & qp_attr_rnr_retry) && from.rnr_retry > max_retries) return EINVAL;
  if ((mask & qp_attr_min_rnr_timer) && from.min_rnr_timer > max_rnr_timer) return EINVAL;
  if (mask & qp_attr_access_flags) access_flags = from.qp_access_flags;
  if (mask & qp_attr_path_mtu) path_mtu = from.path_mtu;
  if (mask & qp_attr_retry_cnt) retry_cnt = from.retry_cnt;
  if (mask & qp_attr_rnr_retry) rnr_retry = from.rnr_retry;
  if (mask & qp_attr_min_rnr_timer) min_rnr_timer = from.min_rnr_timer;
  return 0;
}

Qp::Qp(File& f) : Object(f, UVERBS_OBJECT_QP) {
  ++f.nic.qps;
}

Qp::~Qp() {
  // Queues first: nothing may be in flight when the entries and the memory go.
  txq = {};
  tgq = {};
  while (!attachments.empty())
    detach(*attachments.begin()->first);
  recv.reset();
  mem.reset();
  slot_memory.reset();
  if (profile) lni->drop_profile(*profile);
  if (wakes) lni->device().remove_eq_wake(send_cq->queue().eqn(), recv_cq->queue().eqn());
  if (send_reserve) send_cq->queue().change_reserve(-send_reserve);
  if (recv_reserve) recv_cq->queue().change_reserve(-recv_reserve);
  if (ri_taken) pd->resource_indices.reset(ri);
  if (async) async->remove(user_handle);
  --file.nic.qps;
}

void Qp::drain_target_queue() {
  // What the program has rung for is executed; a queue that does not move any more has failed.
  for (unsigned i = 0; i < max_drain_steps && !(*tgq)->drained(); ++i) {
    if (!lni->device().step()) break;
  }
}

void Qp::to_error() {
  nic::Device& device = lni->device();
  device.stop_cmdq((*txq)->index());
  drain_target_queue();
  device.set_pte_state(recv->number(), nic::PteState::disabled, 0);
  device.reset_lists(recv->number());
  // Disabled, not reset: regions are attached and detached in this state too.
  device.set_pte_state(mem->number(), nic::PteState::disabled, 0);
  file.nic.poke(send_cq->queue());
  if (&recv_cq->queue() != &send_cq->queue()) file.nic.poke(recv_cq->queue());
}

int Qp::to_ready() {
  nic::Device& device = lni->device();
  // Restarting a queue that still has commands would lose them.
  device.stop_cmdq((*tgq)->index());
  device.restart_cmdq((*txq)->index());
  device.restart_cmdq((*tgq)->index());
  int error = device.set_pte_state(mem->number(), nic::PteState::enabled, any_drop_count);
  if (error == 0) {
    error = device.set_pte_state(recv->number(), nic::PteState::enabled, any_drop_count);
  }
  return error;
}

int Qp::change_state(QpState to) {
  if (to == state) return 0;
  const bool possible = to == QpState::error || (state == QpState::error && to == QpState::reset) ||
                        (state == QpState::reset && to == QpState::rts);
  if (!possible) return EOPNOTSUPP;
  // RESET differs from ERR in what the program may do next; the queues stand still in both.
  if (to == QpState::error && state == QpState::rts) to_error();
  if (to == QpState::rts) {
    if (int error = to_ready()) return error;
  }
  state = to;
  return 0;
}

int Qp::modify(uint32_t mask, const ib_uverbs_modify_qp& attr) {
  constexpr uint32_t known = qp_attr_state | qp_attr_cur_state | qp_attr_access_flags |
                             qp_attr_pkey_index | qp_attr_port | qp_attr_path_mtu |
                             qp_attr_retry_cnt | qp_attr_rnr_retry | qp_attr_min_rnr_timer;
  constexpr uint8_t last_state = static_cast<uint8_t>(QpState::error);
  if ((mask & qp_attr_state) && attr.qp_state > last_state) return EINVAL;
  if ((mask & qp_attr_cur_state) && attr.cur_qp_state > last_state) return EINVAL;
  if (!(mask & qp_attr_state)) return EINVAL;
  if (mask & ~known) return EOPNOTSUPP;
  if ((mask & qp_attr_cur_state) && attr.cur_qp_state != static_cast<uint8_t>(state)) return EINVAL;
  if ((mask & qp_attr_path_mtu) && attr.path_mtu != attributes.path_mtu) return EINVAL;
  QpAttributes changed = attributes;
  if (int error = changed.apply(mask, attr)) return error;
  auto to = static_cast<QpState>(attr.qp_state);
  if (to != QpState::reset && to != QpState::rts && to != QpState::error) return EOPNOTSUPP;
  if (int error = change_state(to)) return error;
  attributes = changed;
  return 0;
}

int Qp::attach(Mr& mr) {
  if (mr.pd.get() != pd.get()) return EINVAL;
  if (mr.jkey) {
    if (absolute) return EOPNOTSUPP;
    if (mr.jkey->vni() != vnis.front()) return EINVAL;
  }
  if (attachments.contains(&mr)) return EEXIST;
  // Keys that applications choose are told apart by the queue pair alone.
  for (const auto& [other, unused] : attachments) {
    if (other->rkey64 == mr.rkey64) return EEXIST;
  }
  Attachment attachment;
  if (mr.index) {
    if (int error = mr.join_index(*this)) return error;
    attachment.entry = mr.index_entry.get();
  } else {
    attachment.entry = mem.get();
  }
  const bool immediate = mr.access & IB_UVERBS_ACCESS_REMOTE_WRITE;
  const bool atomic = mr.access & IB_UVERBS_ACCESS_REMOTE_ATOMIC;
  auto charge = attachment.entry->keep_entries(1u + immediate + atomic);
  int error = charge.error;
  if (error == 0) {
    attachment.list_entries = std::move(charge.value);
    attachment.plain = attachment.entry->take_buffer_id();
    if (immediate) attachment.immediate = attachment.entry->take_buffer_id();
    if (atomic) attachment.atomic = attachment.entry->take_buffer_id();
    const bool numbered =
        attachment.plain && (!immediate || attachment.immediate) && (!atomic || attachment.atomic);
    if (!numbered) error = ENOSPC;
  }
  attachment.mr = Use(&mr);
  attachments.emplace(&mr, std::move(attachment));
  if (error) detach(mr);
  return error;
}

int Qp::detach(Mr& mr) {
  auto node = attachments.extract(&mr);
  if (node.empty()) return EINVAL;
  const Attachment& attachment = node.mapped();
  for (uint16_t buffer : {attachment.plain, attachment.immediate, attachment.atomic}) {
    if (buffer == 0) continue;
    // Whatever still uses the unlinked entry is cut off, so that the memory may go.
    (void)lni->device().invalidate_le(attachment.entry->number(), priority_list, buffer);
    attachment.entry->drop_buffer_id(buffer);
  }
  node.mapped().list_entries = KeptEntries();
  if (mr.index) mr.leave_index(*this);
  return 0;
}

void Qp::on_command_failure() {
  if (state != QpState::rts) return;
  to_error();
  state = QpState::error;
  if (async) file.nic.raise_async(*async, user_handle, event_qp_fatal, async_events);
}

}  // namespace sim::uverbs
