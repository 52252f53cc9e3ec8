// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The thread on which the NICs run, and when it rests.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "nic/ports.hpp"
#include "uverbs/kernel.hpp"

namespace sim::host {

class SystemClock final : public nic::Clock {
 public:
  uint64_t realtime_ns() override;
  uint64_t monotonic_ns() override;
};

// What to do after a look that found nothing. A pure function of what happened, so that it can be
// tested without a clock.
class IdlePolicy {
 public:
  struct Rest {
    enum class Kind { spin, yield, sleep } kind = Kind::spin;
    uint64_t ns = 0;  // of a sleep
  };

  explicit IdlePolicy(unsigned processors) : spins_(processors >= 4 ? many_spins : few_spins) {}

  void worked(uint64_t now_ns);
  Rest rest(uint64_t now_ns);
  // How long the last yield took: programs that spin without yielding keep the processor for a
  // whole slice, and then a short sleep gets it back sooner.
  void yielded(uint64_t took_ns, uint64_t now_ns);

 private:
  static constexpr unsigned few_spins = 2, many_spins = 200;
  static constexpr uint64_t us = 1000, ms = 1000 * us;
  static constexpr uint64_t yield_for = 300 * us;  // since the last work
  static constexpr uint64_t dear_yield = 200 * us;
  static constexpr unsigned dear_yields_in_a_row = 3;
  static constexpr unsigned most_doublings = 6;  // of 1 ms without yields
  static constexpr uint64_t awake_for = 100 * ms;
  static constexpr uint64_t longest_nap = 200 * us;
  static constexpr uint64_t longest_sleep = 5 * ms;

  const unsigned spins_;
  unsigned empty_looks_ = 0;
  uint64_t last_work_ = 0;
  uint64_t no_yield_until_ = 0;
  unsigned dear_yields_ = 0;
  uint64_t sleep_ = 0;
};

class Engine {
 public:
  Engine(uverbs::Kernel& kernel, nic::Clock& clock);
  ~Engine();

  void start();
  void stop();
  // Something happened that the NICs should look at now.
  void wake();

 private:
  void run();
  void sleep(std::optional<uint64_t> ns);  // nothing: until woken

  uverbs::Kernel& kernel_;
  nic::Clock& clock_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> woken_{false};
  std::mutex lock_;
  std::condition_variable wakeup_;
  std::thread thread_;
};

}  // namespace sim::host
