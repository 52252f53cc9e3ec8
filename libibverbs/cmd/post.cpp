// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Work requests by way of the kernel, for devices whose queues it keeps. A command is the request,
// then all work requests, then the scatter/gather entries of all of them.
#include "../export.hpp"
#include "../memory.hpp"
#include "../send_wr.hpp"
#include "cmd.hpp"

namespace verbs {
namespace {

struct Count {
  size_t requests = 0, entries = 0;
};

template <class Wr>
Count count(const Wr* wr) {
  Count total;
  for (; wr; wr = wr->next) {
    total.requests++;
    total.entries += static_cast<size_t>(wr->num_sge);
  }
  return total;
}

// The number that the kernel gives is that of the failing request, counted from one; none means
// that not even the first was looked at.
template <class Wr>
Wr* failing(Wr* wr, uint32_t number) {
  while (number > 1 && wr && wr->next) {
    wr = wr->next;
    number--;
  }
  return wr;
}

ib_uverbs_sge* copy_entries(ib_uverbs_sge* to, const ibv_sge* from, int count) {
  static_assert(sizeof(*to) == sizeof(*from));
  if (count > 0) memcpy(to, from, static_cast<size_t>(count) * sizeof(*to));
  return to + count;
}

void fill_send(ib_uverbs_send_wr& to, const ibv_send_wr& from, bool datagram) {
  to.wr_id = from.wr_id;
  to.num_sge = static_cast<uint32_t>(from.num_sge);
  to.opcode = static_cast<uint32_t>(from.opcode);
  to.send_flags = from.send_flags;
  to.ex.imm_data = from.imm_data;  // or the key to invalidate, which lies in the same place
  if (datagram) {
    to.wr.ud.ah = from.wr.ud.ah->handle;
    to.wr.ud.remote_qpn = from.wr.ud.remote_qpn;
    to.wr.ud.remote_qkey = from.wr.ud.remote_qkey;
    return;
  }
  copy_remote_part(to, from);
}

// Request is one of the three structures, Kernel the kernel's work request, which fill() makes.
template <class Request, class Kernel, class Wr, class Fill>
int post(ibv_context& context, uint32_t command, uint32_t handle, Wr* wr, Wr** bad_wr, Fill fill) {
  Count total = count(wr);
  size_t size =
      sizeof(Request) + total.requests * sizeof(Kernel) + total.entries * sizeof(ib_uverbs_sge);
  Owned<std::byte> memory(static_cast<std::byte*>(calloc(1, size)));
  if (!memory) {
    *bad_wr = wr;
    return ENOMEM;
  }
  auto* request = reinterpret_cast<Request*>(memory.get());
  if constexpr (requires { request->qp_handle; })
    request->qp_handle = handle;
  else
    request->srq_handle = handle;
  request->wr_count = static_cast<uint32_t>(total.requests);
  request->sge_count = static_cast<uint32_t>(total.entries);
  request->wqe_size = sizeof(Kernel);

  auto* to = reinterpret_cast<Kernel*>(request + 1);
  auto* entries = reinterpret_cast<ib_uverbs_sge*>(to + total.requests);
  for (const Wr* from = wr; from; from = from->next) {
    fill(*to++, *from);
    entries = copy_entries(entries, from->sg_list, from->num_sge);
  }
  uint32_t bad = 0;
  int error = invoke_write(context, command, {memory.get(), size}, writable_bytes_of(bad), {});
  if (error) *bad_wr = failing(wr, bad);
  return error;
}

void fill_recv(ib_uverbs_recv_wr& to, const ibv_recv_wr& from) {
  to.wr_id = from.wr_id;
  to.num_sge = static_cast<uint32_t>(from.num_sge);
}

}  // namespace
}  // namespace verbs

using namespace verbs;

VERBS_EXPORT int ibv_cmd_post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  bool datagram = qp->qp_type == IBV_QPT_UD;
  return post<ib_uverbs_post_send, ib_uverbs_send_wr>(
      *qp->context, IB_USER_VERBS_CMD_POST_SEND, qp->handle, wr, bad_wr,
      [=](ib_uverbs_send_wr& to, const ibv_send_wr& from) { fill_send(to, from, datagram); });
}

VERBS_EXPORT int ibv_cmd_post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  return post<ib_uverbs_post_recv, ib_uverbs_recv_wr>(*qp->context, IB_USER_VERBS_CMD_POST_RECV,
                                                      qp->handle, wr, bad_wr, fill_recv);
}

VERBS_EXPORT int ibv_cmd_post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  return post<ib_uverbs_post_srq_recv, ib_uverbs_recv_wr>(
      *srq->context, IB_USER_VERBS_CMD_POST_SRQ_RECV, srq->handle, wr, bad_wr, fill_recv);
}
