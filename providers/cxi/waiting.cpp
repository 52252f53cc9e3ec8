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

/// Nobody tells those who wait in a call that the device has gone: they have to ask.
bool is_gone(Context& context) noexcept {
  ibv_port_attr port;
  if (!context.dead && ibv_query_port(&context.ibv.context, 1, &port) == EIO) context.dead = true;
  return context.dead;
}

}  // namespace

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
