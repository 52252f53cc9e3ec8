// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "completions.hpp"

#include <poll.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "text.hpp"

namespace examples {

bool CompletionWait::arm() {
  if (!cq_->channel) return true;
  const int error = ibv_req_notify_cq(cq_, 0);
  if (error) complain("no event can be asked for: %s", std::strerror(error));
  return error == 0;
}

bool CompletionWait::nothing(PeerWatch& watch) {
  if (!cq_->channel) {
    idle_.nothing();
    return watch.nothing();
  }
  // Armed before the queue was found empty: whatever came since then has raised an event.
  const int at_most = static_cast<int>(std::chrono::milliseconds(PeerWatch::patience).count());
  pollfd descriptor{cq_->channel->fd, POLLIN, 0};
  const int ready = poll(&descriptor, 1, at_most);
  if (ready == 0 || (ready < 0 && errno == EINTR)) return watch.look(PeerWatch::Clock::now());
  ibv_cq* cq;
  void* context;
  if (ibv_get_cq_event(cq_->channel, &cq, &context) != 0) {
    complain("no completion event: %s", std::strerror(errno));
    return false;
  }
  events_++;
  return arm();
}

void CompletionWait::acknowledge() {
  if (events_) ibv_ack_cq_events(cq_, std::exchange(events_, 0));
}

std::string why_failed(const char* what, enum ibv_wc_status status, std::uint32_t vendor_err) {
  const char* hint;
  switch (status) {
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
      hint = "the message is larger than the receiver's region: give both sides the same --size";
      break;
    case IBV_WC_RETRY_EXC_ERR:
      hint =
          "the peer is gone or cannot be reached: see whether it still runs, and in the same VNI";
      break;
    case IBV_WC_RNR_RETRY_EXC_ERR:
      hint = "the peer posts no receives: give both sides the same --rx-depth and --iters";
      break;
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_LOC_PROT_ERR:
      hint =
          "the network interface refused access to the memory: see whether both sides are given "
          "the same options";
      break;
    case IBV_WC_WR_FLUSH_ERR:
      hint = "the queue pair was stopped after an earlier error";
      break;
    default:
      hint = "see the manual of the device for the vendor error";
      break;
  }
  return format("%s failed: %s (status %d, vendor error 0x%x): %s", what, ibv_wc_status_str(status),
                static_cast<int>(status), vendor_err, hint);
}

}  // namespace examples
