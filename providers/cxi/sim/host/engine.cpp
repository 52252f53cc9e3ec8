// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/engine.hpp"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <ctime>

namespace sim::host {
namespace {

uint64_t read_clock(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

unsigned processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<unsigned>(CPU_COUNT(&set));
}

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

uint64_t SystemClock::realtime_ns() {
  return read_clock(CLOCK_REALTIME);
}
uint64_t SystemClock::monotonic_ns() {
  return read_clock(CLOCK_MONOTONIC);
}

void IdlePolicy::worked(uint64_t now_ns) {
  empty_looks_ = 0;
  sleep_ = 0;
  last_work_ = now_ns;
}

IdlePolicy::Rest IdlePolicy::rest(uint64_t now_ns) {
  if (++empty_looks_ <= spins_) return {Rest::Kind::spin, 0};
  uint64_t idle = now_ns - last_work_;
  if (idle < yield_for) {
    if (now_ns >= no_yield_until_) return {Rest::Kind::yield, 0};
    return {Rest::Kind::sleep, us};
  }
  uint64_t longest = idle < awake_for ? longest_nap : longest_sleep;
  sleep_ = std::min(longest, std::max(10 * us, sleep_ + sleep_ / 4));
  return {Rest::Kind::sleep, sleep_};
}

void IdlePolicy::yielded(uint64_t took_ns, uint64_t now_ns) {
  if (took_ns < dear_yield) {
    dear_yields_ = 0;
  } else if (++dear_yields_ >= dear_yields_in_a_row) {
    unsigned doublings = std::min(dear_yields_ - dear_yields_in_a_row, most_doublings);
    no_yield_until_ = now_ns + (ms << doublings);
  }
}

Engine::Engine(uverbs::Kernel& kernel, nic::Clock& clock) : kernel_(kernel), clock_(clock) {}
Engine::~Engine() {
  stop();
}

void Engine::start() {
  thread_ = std::thread(&Engine::run, this);
}

void Engine::stop() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard guard(lock_);
    stop_ = true;
  }
  wakeup_.notify_one();
  thread_.join();
}

void Engine::wake() {
  kernel_.wake();
  {
    std::lock_guard guard(lock_);
    woken_ = true;
  }
  wakeup_.notify_one();
}

void Engine::sleep(std::optional<uint64_t> ns) {
  std::unique_lock guard(lock_);
  auto over = [this] { return stop_ || woken_; };
  if (ns)
    wakeup_.wait_for(guard, std::chrono::nanoseconds(*ns), over);
  else
    wakeup_.wait(guard, over);
}

void Engine::run() {
  prctl(PR_SET_TIMERSLACK, 1UL);  // of this thread: naps are shorter than the usual slack
  IdlePolicy policy(processors());
  policy.worked(clock_.monotonic_ns());
  while (!stop_) {
    bool woken = woken_.exchange(false);
    bool worked = kernel_.step();
    uint64_t now = clock_.monotonic_ns();
    if (worked || woken) {
      policy.worked(now);
      continue;
    }
    auto rest = policy.rest(now);
    switch (rest.kind) {
      case IdlePolicy::Rest::Kind::spin:
        pause_briefly();
        break;
      case IdlePolicy::Rest::Kind::yield: {
        sched_yield();
        uint64_t then = clock_.monotonic_ns();
        policy.yielded(then - now, then);
        break;
      }
      case IdlePolicy::Rest::Kind::sleep:
        if (kernel_.quiet()) {
          sleep(std::nullopt);
          break;
        }
        if (auto due = kernel_.next_due_ns()) {
          if (*due <= now) break;
          rest.ns = std::min(rest.ns, *due - now);
        }
        sleep(rest.ns);
        break;
    }
  }
}

}  // namespace sim::host
