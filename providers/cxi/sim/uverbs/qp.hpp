// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Reliable-unconnected queue pairs: a transmit and a target command queue, a receive and a memory
// portal entry, and slot memory.
#pragma once

#include <map>

#include "uverbs/objects.hpp"

namespace sim::uverbs {

enum class QpState : uint8_t { reset = 0, rts = 3, error = 6 };  // numbers of enum ib_qp_state

// Bits of enum ib_qp_attr_mask that this device knows.
enum QpAttrMask : uint32_t {
  qp_attr_state = 1 << 0,
  qp_attr_cur_state = 1 << 1,
  qp_attr_access_flags = 1 << 3,
  qp_attr_pkey_index = 1 << 4,
  qp_attr_port = 1 << 5,
  qp_attr_path_mtu = 1 << 8,
  qp_attr_retry_cnt = 1 << 10,
  qp_attr_rnr_retry = 1 << 11,
  qp_attr_min_rnr_timer = 1 << 15,
};

struct QpAttributes {  // what modify sets and query returns
  uint32_t access_flags = 0;
  uint8_t path_mtu = path_mtu_2048;
  uint8_t retry_cnt = 7, rnr_retry = 7, min_rnr_timer = 12;

  // Takes over the attributes that `mask` names. A refusal changes nothing.
  int apply(uint32_t mask, const ib_uverbs_modify_qp& from);
};

// A memory entry: matching, with its guard in place, enabled. The guard catches what matches no
// region, so that a bad key is told from a full queue.
nic::Made<std::unique_ptr<PortalEntry>> make_memory_entry(std::shared_ptr<Lni> lni, unsigned eqn);

// A region that is reachable through a queue pair. The program appends its list entries itself and
// names them by these numbers; 0 where the rights need none.
struct Attachment {
  Use<Mr> mr;
  PortalEntry* entry = nullptr;  // the queue pair's memory entry, or the indexed region's own
  KeptEntries list_entries;
  uint16_t plain = 0, immediate = 0, atomic = 0;
};

class CpObject;

class Qp final : public Object {
 public:
  explicit Qp(File& f);
  ~Qp() override;

  // The state machine: RESET to RTS and ERR, RTS to ERR, ERR to RESET, each to itself.
  int change_state(QpState to);
  int modify(uint32_t mask, const ib_uverbs_modify_qp& attr);
  // EINVAL: another PD, or a region restricted to another job; EOPNOTSUPP: a region restricted to a
  // job on an absolute queue pair, an indexed region on queue pairs with different receive CQs;
  // EEXIST: the region, or another one with its key; ENOSPC.
  int attach(Mr& mr);
  int detach(Mr& mr);  // EINVAL: it is not attached
  // A malformed command has stopped a queue: the error state, and the program is told.
  void on_command_failure();
  uint32_t number() const {
    return (absolute ? IB_UVERBS_QPN_UET_ABSOLUTE_ADDR_BIT : 0) | ri << IB_UVERBS_QPN_UET_RI_SHIFT |
           pid << IB_UVERBS_QPN_UET_PID_ON_FEP_SHIFT;
  }

  // In the order in which they are made; the destructor takes them back the other way round.
  std::shared_ptr<Lni> lni;
  Use<Pd> pd;
  Use<Cq> send_cq, recv_cq;
  Use<Jkey> jkey;
  std::vector<uint16_t> vnis;  // where its entries are mapped; the first is the one it sends in
  unsigned pid = 0, ri = 0;
  bool absolute = false;
  bool ri_taken = false;
  int send_reserve = 0, recv_reserve = 0;  // added to the event queues
  bool wakes = false;                      // events of sends also wake the receive CQ
  std::optional<unsigned> profile;         // taken for this queue pair, without a job key
  Use<CpObject> cp;                        // the program's, to start on
  unsigned lcid = 0;
  Owned<CmdqObject> txq, tgq;
  std::unique_ptr<PortalEntry> recv, mem;
  std::map<Mr*, Attachment> attachments;
  std::map<uint32_t, Use<CompCntr>> counters;  // by the operation they count
  PageRange slot_pages;
  std::unique_ptr<MemoryMap> slot_memory;

  QpState state = QpState::rts;
  QpAttributes attributes;
  ib_uverbs_qp_cap cap{};
  bool sq_sig_all = false;
  uint32_t src_id = 0;
  uint64_t user_handle = 0;
  std::shared_ptr<AsyncChannel> async;
  std::shared_ptr<uint32_t> async_events = std::make_shared<uint32_t>(0);

 private:
  void to_error();
  int to_ready();
  void drain_target_queue();
};

// The semantics that queue pairs of this device have.
ib_uverbs_qp_semantics offered_semantics();

}  // namespace sim::uverbs
