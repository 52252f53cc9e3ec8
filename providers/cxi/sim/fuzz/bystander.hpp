// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A program on the same NIC, of another user, in a VNI of its own, that does nothing while others
// attack. Everything of its can be compared with how it was, and all of it must still work.
#pragma once

#include "fuzz/program.hpp"

namespace sim::fuzz {

class Bystander {
 public:
  // Each number is another user in another VNI.
  explicit Bystander(uverbs::Kernel& kernel, unsigned number = 0);

  // What can be seen of it is what it was.
  void expect_untouched();
  // Its queues, entries and counters do what they are for.
  void expect_working(uverbs::test::FakeClock& clock);
  // Everything can be destroyed, newest first, and nothing earlier.
  void expect_destructible();
  const Program& program() const { return *program_; }

 private:
  std::vector<std::byte> picture();
  void put_to_itself();

  uverbs::Kernel& kernel_;
  std::unique_ptr<Program> administrator_;  // whose descriptor keeps the service
  std::unique_ptr<Program> program_;
  std::vector<std::byte> before_;
};

}  // namespace sim::fuzz
