// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "waiting.hpp"

#include <sched.h>
#include <time.h>

#include <cerrno>

#include "internal.hpp"

namespace cxi {
namespace {

constexpr std::uint64_t patience_ns = 10'000'000'000;
constexpr unsigned short_rounds = 64;
constexpr unsigned rounds_between_questions = 128;

}  // namespace

bool is_gone(Context& context) noexcept {
  if (context.dead) return true;
  const int saved = errno;
  ibv_port_attr port;
  struct ibv_query_port command = {};
  if (ibv_cmd_query_port(&context.ibv.context, 1, &port, &command, sizeof(command)) == EIO)
    context.dead = true;
  errno = saved;
  return context.dead;
}

Waiting::Waiting(Context& context) noexcept
    : context_(context), deadline_(monotonic_ns() + patience_ns) {}

int Waiting::pause() noexcept {
  if (context_.dead) return EIO;
  if (++rounds_ <= short_rounds) {
    sched_yield();
    return 0;
  }
  if (rounds_ % rounds_between_questions == 0 && is_gone(context_)) return EIO;
  if (monotonic_ns() > deadline_) return EBUSY;
  const timespec moment = {0, 20'000};
  nanosleep(&moment, nullptr);
  return 0;
}

}  // namespace cxi
