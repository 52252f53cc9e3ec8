// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Which regions peers reach through which queue pairs. The kernel checks, charges and numbers; the
// list entries are appended and unlinked from here, and each of these commands is waited for: when
// attach returns peers can reach the region, when detach returns they cannot any more.
#include <infiniband/driver.h>

#include <cstring>

#include "command.hpp"
#include "internal.hpp"
#include "rdma/cxiverbs-abi.h"
#include "waiting.hpp"

namespace cxi {
namespace {

constexpr unsigned max_entries = 3;

int command_attach(const Qp& qp, const Mr& mr, cxi_abi_attach_mr_resp& answer) noexcept {
  Command<3> command(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_ATTACH_MR);
  command.object_in(UVERBS_ATTR_QP_ATTACH_MR_QP_HANDLE, qp.ibv.qp.handle);
  command.object_in(UVERBS_ATTR_QP_ATTACH_MR_MR_HANDLE, mr.ibv.ibv_mr.handle);
  command.out(UVERBS_ATTR_UHW_OUT, answer);
  return command.execute(qp.context->ibv.context);
}

int command_detach(const Attachment& attachment) noexcept {
  Context& context = *attachment.qp->context;
  const int err = ibv_cmd_qp_detach_mr(&attachment.qp->ibv.qp, &attachment.mr->ibv.ibv_mr);
  if (err == EIO) context.dead = true;
  return err;
}

/// Commands of one attachment to the target queue, one for each of its entries.
struct Commands {
  std::uint64_t words[max_entries][8];
  std::uint16_t ids[max_entries];
  unsigned count = 0;
};

void add_entry(Commands& commands, const Attachment& attachment, AppendRegion entry,
               std::uint16_t id, std::uint64_t key_bits) noexcept {
  if (id == 0) return;
  const Mr& mr = *attachment.mr;
  entry.pte = attachment.pte;
  entry.buffer_id = id;
  entry.lac = mr.lac;
  entry.start = mr.iova;
  entry.length = mr.length;
  entry.match_bits = mr.ibv.ibv_mr.rkey64 | key_bits;
  if (entry.match_bits & CXI_ABI_RKEY_INDEXED)
    entry.match_bits |= std::uint64_t{attachment.qp->ri} << CXI_ABI_RKEY_RI_SHIFT;
  encode_append_region(commands.words[commands.count], entry);
  commands.ids[commands.count++] = id;
}

Commands append_commands(const Attachment& attachment) noexcept {
  const int access = attachment.mr->ibv.access;
  Commands commands;
  add_entry(commands, attachment,
            {.put = (access & IBV_ACCESS_REMOTE_WRITE) != 0,
             .get = (access & IBV_ACCESS_REMOTE_READ) != 0},
            attachment.plain_id, 0);
  add_entry(commands, attachment, {.put = true, .event = true}, attachment.immediate_id,
            CXI_ABI_RKEY_IMMEDIATE);
  add_entry(commands, attachment, {.put = true, .get = true}, attachment.atomic_id,
            CXI_ABI_RKEY_ATOMIC);
  return commands;
}

Commands unlink_commands(const Attachment& attachment) noexcept {
  Commands commands;
  // Events first: nothing new is reported once the region begins to go.
  for (const std::uint16_t id :
       {attachment.immediate_id, attachment.atomic_id, attachment.plain_id}) {
    if (id == 0) continue;
    encode_unlink(commands.words[commands.count], attachment.pte, id);
    commands.ids[commands.count++] = id;
  }
  return commands;
}

bool give_command(Qp& qp, const std::uint64_t (&words)[8]) noexcept {
  Guard guard(qp.recv.lock);
  std::byte* place = qp.recv.commands.reserve(2);
  if (!place) return false;
  std::memcpy(place, words, sizeof(words));
  qp.recv.commands.ring();
  return true;
}

/// Takes answers out of the ring ahead of what a poll has yet to read.
bool all_answered(Qp& qp, const AwaitedAnswers& awaited) noexcept {
  Cq& cq = *qp.recv_cq;
  Guard guard(cq.lock);
  cq.ring.look_ahead([&cq](EventView event) {
    if (event.type() == C_EVENT_COMMAND_FAILURE) note_command_failure(cq, event);
    if (take_answer(cq, event)) cq.ring.blank(event, false);
  });
  drop_fillers(cq);
  return awaited.missing == 0;
}

/// Has the target queue execute the commands. Returns 0 when all were answered, ENOSPC when one was
/// refused, EBUSY when the queue does not move, EIO when the device is gone, ENOMEM when none was
/// given.
int execute(Qp& qp, std::uint16_t pte, const Commands& commands) noexcept {
  AwaitedAnswers awaited = {};
  awaited.pte = pte;
  awaited.missing = commands.count;
  for (unsigned i = 0; i < commands.count; i++)
    awaited.ids[i] = commands.ids[i];
  {
    Guard guard(qp.recv_cq->lock);
    if (!make_way(*qp.recv_cq, commands.count)) return ENOMEM;
    qp.recv_cq->awaited = &awaited;
  }
  Waiting waiting(*qp.context);
  unsigned given = 0;
  int err = 0;
  while (!err) {
    while (given < commands.count && give_command(qp, commands.words[given]))
      given++;
    if (all_answered(qp, awaited)) break;
    err = waiting.pause();
    if (!err && qp.target_stopped) err = EBUSY;
  }
  Guard guard(qp.recv_cq->lock);
  qp.recv_cq->awaited = nullptr;
  return !err && awaited.refused ? ENOSPC : err;
}

bool is_indexed(const Attachment& attachment) noexcept {
  return attachment.pte != attachment.qp->mem_pte;
}

void remember(Attachment& attachment) noexcept {
  Qp& qp = *attachment.qp;
  attachment.next_of_qp = qp.attachments;
  qp.attachments = &attachment;
  attachment.next_of_mr = attachment.mr->attachments;
  attachment.mr->attachments = &attachment;
  if (!is_indexed(attachment)) return;
  std::atomic<Attachment*>& head = qp.context->indexed[attachment.pte];
  Guard guard(qp.recv_cq->lock);
  attachment.next_indexed = head.load(std::memory_order_relaxed);
  head.store(&attachment, std::memory_order_release);
}

template <Attachment* Attachment::*next>
void unlink(Attachment*& head, const Attachment& attachment) noexcept {
  Attachment** at = &head;
  while (*at != &attachment)
    at = &((*at)->*next);
  *at = attachment.*next;
}

/// Only what is remembered; in the NIC and the kernel it is gone.
void forget(Attachment& attachment) noexcept {
  Qp& qp = *attachment.qp;
  unlink<&Attachment::next_of_qp>(qp.attachments, attachment);
  unlink<&Attachment::next_of_mr>(attachment.mr->attachments, attachment);
  if (is_indexed(attachment)) {
    Cq& cq = *qp.recv_cq;
    Guard guard(cq.lock);
    // The entry's number may soon name another one: events that are not read yet stay with us.
    cq.ring.look_ahead([&](EventView event) {
      if (event.type() == C_EVENT_PUT && find_indexed(*qp.context, event) == &attachment)
        cq.ring.change_entry(event, qp.mem_pte);
    });
    std::atomic<Attachment*>& head = qp.context->indexed[attachment.pte];
    Attachment* first = head.load(std::memory_order_relaxed);
    unlink<&Attachment::next_indexed>(first, attachment);
    head.store(first, std::memory_order_release);
  }
  std::free(&attachment);
}

/// Takes the region away from peers. On an error it is attached as before.
int detach(Attachment& attachment) noexcept {
  Qp& qp = *attachment.qp;
  if (qp.context->dead) return EIO;
  if (const int err = execute(qp, attachment.pte, unlink_commands(attachment)))
    if (err != ENOSPC) return err;  // refused: it is not linked
  if (const int err = command_detach(attachment)) return err;
  forget(attachment);
  return 0;
}

Attachment* find(const Qp& qp, const Mr& mr) noexcept {
  Attachment* at = mr.attachments;
  while (at && at->qp != &qp)
    at = at->next_of_mr;
  return at;
}

}  // namespace

Attachment* find_indexed(const Context& context, EventView event) noexcept {
  using Long = cassini::c_event_target_long;
  if (event.bytes != Long::bytes) return nullptr;
  const auto id = Long::buffer_id::get(event.at);
  Attachment* at =
      context.indexed[Long::ptlte_index::get(event.at)].load(std::memory_order_acquire);
  while (at && at->immediate_id != id)
    at = at->next_indexed;
  return at;
}

bool take_answer(Cq& cq, EventView event) noexcept {
  using Long = cassini::c_event_target_long;
  AwaitedAnswers* awaited = cq.awaited;
  if (!awaited || event.bytes != Long::bytes) return false;
  if (event.type() != C_EVENT_LINK && event.type() != C_EVENT_UNLINK) return false;
  const std::uint64_t id = Long::buffer_id::get(event.at);
  if (Long::ptlte_index::get(event.at) != awaited->pte || id == 0) return false;
  for (std::uint16_t& wanted : awaited->ids) {
    if (wanted != id) continue;
    wanted = 0;
    awaited->missing--;
    awaited->refused = awaited->refused || event.return_code() != C_RC_OK;
    return true;
  }
  return false;
}

int attach_mr(ibv_qp* ibv_qp, ibv_mr* ibv_mr) noexcept {
  Qp& qp = qp_of(ibv_qp);
  Mr& mr = *reinterpret_cast<Mr*>(verbs_get_mr(ibv_mr));
  if (ibv_mr->context != ibv_qp->context) return EINVAL;
  MutexGuard topology(qp.context->topology);
  if (qp.context->dead) return EIO;
  if (qp.target_stopped) return EBUSY;
  Owned<Attachment> owned = allocate<Attachment>();
  if (!owned) return ENOMEM;
  cxi_abi_attach_mr_resp answer = {};
  if (const int err = command_attach(qp, mr, answer)) {
    if (err == EIO) qp.context->dead = true;
    return err;
  }
  Attachment& attachment = *owned.release();
  attachment.qp = &qp;
  attachment.mr = &mr;
  attachment.pte = static_cast<std::uint16_t>(answer.pte % pte_numbers);
  attachment.plain_id = answer.plain_buffer_id;
  attachment.immediate_id = answer.immediate_buffer_id;
  attachment.atomic_id = answer.atomic_buffer_id;
  remember(attachment);
  const int err = execute(qp, attachment.pte, append_commands(attachment));
  if (!err) return 0;
  // What was linked of it goes again; a queue that stands still links nothing more.
  if (detach(attachment)) {
    command_detach(attachment);
    forget(attachment);
  }
  return err;
}

int detach_mr(ibv_qp* ibv_qp, ibv_mr* ibv_mr) noexcept {
  Qp& qp = qp_of(ibv_qp);
  MutexGuard topology(qp.context->topology);
  Attachment* attachment = find(qp, *reinterpret_cast<Mr*>(verbs_get_mr(ibv_mr)));
  return attachment ? detach(*attachment) : EINVAL;
}

int detach_everywhere(Mr& mr) noexcept {
  while (mr.attachments) {
    if (const int err = detach(*mr.attachments)) {
      if (!mr.attachments->qp->context->dead) return err;
      forget(*mr.attachments);
    }
  }
  return 0;
}

void detach_indexed(Qp& qp) noexcept {
  for (Attachment* at = qp.attachments; at;) {
    Attachment* next = at->next_of_qp;
    if (is_indexed(*at)) (void)detach(*at);
    at = next;
  }
}

void forget_attachments(Qp& qp) noexcept {
  while (qp.attachments)
    forget(*qp.attachments);
}

}  // namespace cxi
