// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A program that does what its input says, however senseless.
#pragma once

#include "fuzz/input.hpp"
#include "fuzz/program.hpp"
#include "uverbs/schema.hpp"

namespace sim::fuzz {

class Attacker {
 public:
  Attacker(uverbs::Kernel& kernel, unsigned nic);

  // One call or one piece of memory.
  void act(Input& input);
  // As if it had been killed and started again.
  void restart();

 private:
  // attacker.cpp: calls
  uint32_t any_handle(Input& input) const;
  uint32_t handle_of_type(Input& input, uint16_t type) const;
  void call_by_table(Input& input, const uverbs::Method& method, bool careful);
  void destroy_something(Input& input);
  void make_something(Input& input);
  void call_with_garbage(Input& input);

  // attacker_queues.cpp: the data path
  CommandWriter* any_queue(Input& input);
  void write_transfer(Input& input);
  void write_immediate(Input& input);
  void write_target_command(Input& input);
  void write_counter_command(Input& input);
  void write_garbage(Input& input);
  void ring(Input& input);
  void read_events(Input& input);
  void push(Input& input, CommandWriter* queue, std::span<std::byte> command);

  uverbs::Kernel& kernel_;
  const unsigned nic_;
  std::unique_ptr<Program> program_;
};

}  // namespace sim::fuzz
