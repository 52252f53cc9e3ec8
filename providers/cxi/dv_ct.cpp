// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Direct verbs: counting events.
#include <sched.h>
#include <time.h>

#include "dv.hpp"
#include "internal.hpp"
#include "mapping.hpp"

namespace cxi::dv {
namespace {

void forget(NativeLink& link) noexcept {
  Ct& ct = object_of_link<Ct>(link);
  unmap_cookie(ct.page, page_bytes());
  std::free(&ct);
}

int make_ct(cxidv_lni* lni, c_ct_writeback* writeback, cxidv_ct*& made) noexcept {
  auto ct = allocate<Ct>();
  if (!ct) return ENOMEM;
  cxi_abi_ct_req request = {};
  request.writeback_va = reinterpret_cast<std::uintptr_t>(writeback);
  cxi_abi_ct_resp answer = {};
  Context& context = context_of(lni);
  if (const int err =
          ask_for(lni, CXI_OBJECT_CT, CXI_METHOD_CT_CREATE, request, answer, ct->handle))
    return err;
  if (answer.window_flags & CXI_ABI_WINDOW_CT) {
    if (const int err =
            map_cookie(context.ibv.context, answer.doorbell_cookie, page_bytes(), ct->page)) {
      destroy(context, CXI_OBJECT_CT, CXI_METHOD_CT_DESTROY, ct->handle);
      return err;
    }
  }
  ct->pub = {lni, answer.ct, answer.window_flags, writeback,
             reinterpret_cast<volatile std::uint64_t*>(ct->page)};
  enlist(context, ct->link, forget);
  made = &ct.release()->pub;
  return 0;
}

/// Sets, or adds.
int change(std::uint16_t method, const cxidv_ct* pub, std::uint64_t success,
           std::uint64_t failure) noexcept {
  if (!pub) return EINVAL;
  cxi_abi_ct_req request = {};
  request.success = success;
  request.failure = failure;
  const Ct& ct = object_of<Ct>(pub);
  Command<2> command(CXI_OBJECT_CT, method);
  command.object_in(CXI_ATTR_HANDLE, ct.handle);
  command.in(CXI_ATTR_REQ, request);
  return run(context_of(ct), command);
}

void answer_values(const cxi_abi_ct_resp& answer, std::uint64_t* success,
                   std::uint64_t* failure) noexcept {
  if (success) *success = answer.success;
  if (failure) *failure = answer.failure;
}

int read_ct(const Ct& ct, cxi_abi_ct_resp& answer) noexcept {
  Command<2> command(CXI_OBJECT_CT, CXI_METHOD_CT_READ);
  command.object_in(CXI_ATTR_HANDLE, ct.handle);
  command.out(CXI_ATTR_RESP, answer);
  return run(context_of(ct), command);
}

/// One call into the kernel, which may come back with EAGAIN at any time.
int wait_once(const Ct& ct, std::uint64_t threshold, std::uint64_t timeout_ns,
              cxi_abi_ct_resp& answer) noexcept {
  cxi_abi_ct_req request = {};
  request.success = threshold;
  request.timeout_ns = timeout_ns;
  Command<3> command(CXI_OBJECT_CT, CXI_METHOD_CT_WAIT);
  command.object_in(CXI_ATTR_HANDLE, ct.handle);
  command.in(CXI_ATTR_REQ, request);
  command.out(CXI_ATTR_RESP, answer);
  return run(context_of(ct), command);
}

/// Stays away from the kernel between two calls, longer each time. Returns 0, or EINTR.
int pause_before(unsigned attempt, std::uint64_t left_ns) noexcept {
  constexpr unsigned eager = 4;
  constexpr std::uint64_t first_ns = 10'000, longest_ns = 1'000'000;
  if (attempt < eager) {
    sched_yield();
    return 0;
  }
  const unsigned doublings = std::min(attempt - eager, 7u);
  const std::uint64_t ns = std::min({first_ns << doublings, longest_ns, left_ns});
  const timespec pause = {0, static_cast<long>(ns)};
  return clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
}

int wait_ct(const Ct& ct, std::uint64_t threshold, std::uint64_t timeout_ns,
            cxi_abi_ct_resp& answer) noexcept {
  const std::uint64_t start = monotonic_ns();
  for (unsigned attempt = 0;; attempt++) {
    const std::uint64_t passed = monotonic_ns() - start;
    const std::uint64_t left =
        timeout_ns == UINT64_MAX ? UINT64_MAX : timeout_ns - std::min(passed, timeout_ns);
    const int err = wait_once(ct, threshold, left, answer);
    if (err != EAGAIN) return err;
    if (left == 0) return ETIMEDOUT;
    if (const int interrupted = pause_before(attempt, left)) return interrupted;
  }
}

}  // namespace
}  // namespace cxi::dv

using namespace cxi;

CXIDV_EXPORT cxidv_ct* cxidv_create_ct(cxidv_lni* lni, c_ct_writeback* writeback) {
  if (!lni) return null_with_errno(EINVAL);
  cxidv_ct* made = nullptr;
  if (const int err = dv::make_ct(lni, writeback, made)) return null_with_errno(err);
  return made;
}

CXIDV_EXPORT int cxidv_destroy_ct(cxidv_ct* pub) {
  if (!pub) return with_errno(EINVAL);
  return with_errno(dv::destroy(dv::object_of<dv::Ct>(pub), CXI_OBJECT_CT, CXI_METHOD_CT_DESTROY));
}

CXIDV_EXPORT int cxidv_set_ct(cxidv_ct* pub, uint64_t success, uint64_t failure) {
  return with_errno(dv::change(CXI_METHOD_CT_SET, pub, success, failure));
}

CXIDV_EXPORT int cxidv_inc_ct(cxidv_ct* pub, uint64_t success, uint64_t failure) {
  return with_errno(dv::change(CXI_METHOD_CT_INC, pub, success, failure));
}

CXIDV_EXPORT int cxidv_read_ct(cxidv_ct* pub, uint64_t* success, uint64_t* failure) {
  if (!pub) return with_errno(EINVAL);
  cxi_abi_ct_resp answer = {};
  if (const int err = dv::read_ct(dv::object_of<dv::Ct>(pub), answer)) return with_errno(err);
  dv::answer_values(answer, success, failure);
  return 0;
}

CXIDV_EXPORT int cxidv_wait_ct(cxidv_ct* pub, uint64_t threshold, uint64_t timeout_ns,
                               uint64_t* success, uint64_t* failure) {
  if (!pub) return with_errno(EINVAL);
  cxi_abi_ct_resp answer = {};
  if (const int err = dv::wait_ct(dv::object_of<dv::Ct>(pub), threshold, timeout_ns, answer))
    return with_errno(err);
  dv::answer_values(answer, success, failure);
  return 0;
}
