// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fuzz/world.hpp"

#include <random>

#include "fuzz/attacker.hpp"
#include "fuzz/bystander.hpp"

namespace sim::fuzz {
namespace {

constexpr uint64_t give_up_ns = 31'000'000'000;  // after which no message is waited for

struct World {
  World() {
    uverbs::KernelConfig config;
    config.nics = 2;
    kernel = uverbs::Kernel::make(config, clock, trace);
  }
  void run(unsigned most) {
    for (unsigned i = 0; i < most && kernel->step(); ++i)
      clock.now += 1000;
  }
  uverbs::test::FakeClock clock;
  Silence trace;
  std::unique_ptr<uverbs::Kernel> kernel;
  // The first is there from the start; another may come when attackers have left numbers behind.
  std::vector<std::unique_ptr<Bystander>> bystanders;
};

void act(World& world, std::vector<std::unique_ptr<Attacker>>& attackers, Input& input) {
  const unsigned what = input.below(16);
  if (what < 11) return attackers[input.below(8) % 2 == 1 && what % 2 == 1]->act(input);
  switch (what) {
    case 11:
    case 12:
    case 13:
      return world.run(1u << input.below(8));
    case 14: {
      constexpr uint64_t times[] = {1'000, 1'000'000, 1'000'000'000, give_up_ns};
      world.clock.now += times[input.below(4)];
      return world.run(16);
    }
    default:
      if (world.bystanders.size() < 2 && input.one_in(3)) {
        world.bystanders.push_back(std::make_unique<Bystander>(*world.kernel, 1));
      } else if (input.one_in(4)) {
        world.kernel->set_link(1, input.below(2) != 0);  // not the bystander's
      } else {
        attackers[input.below(2)]->restart();
      }
      return;
  }
}

// Nobody holds or waits for anything.
void expect_empty(World& world) {
  for (int round = 0; round < 3; ++round) {
    world.run(20'000);
    must(!world.kernel->step(), "the NICs come to rest");
    world.clock.now += give_up_ns;
  }
  for (unsigned nic = 0; nic < 2; ++nic) {
    FakeCaller caller;
    int error = 0;
    auto file = world.kernel->open(nic, caller, &error);
    must(file != nullptr, "the device can be opened");
    uverbs::NicState& state = static_cast<uverbs::File&>(*file).nic;
    must(state.event_queues.empty() && state.command_queues.empty(), "queues are gone");
    must(state.qps == 0 && state.pds == 0 && state.mrs == 0 && state.ahs == 0, "objects are gone");
    for (const auto& [id, service] : state.services.all()) {
      must(service.lnis == 0, "logical NIs are gone");
      for (const auto& elements : service.in_use)
        for (const uint32_t used : elements)
          must(used == 0, "nothing is charged");
    }
    world.kernel->release(*file);
  }
}

}  // namespace

void run(const uint8_t* data, size_t size) {
  World world;
  world.bystanders.push_back(std::make_unique<Bystander>(*world.kernel));
  std::vector<std::unique_ptr<Attacker>> attackers;
  for (unsigned nic = 0; nic < 2; ++nic)
    attackers.push_back(std::make_unique<Attacker>(*world.kernel, nic));
  world.bystanders[0]->expect_untouched();
  Input input(data, size);
  constexpr unsigned most_acts = 400;
  for (unsigned i = 0; i < most_acts && !input.empty(); ++i)
    act(world, attackers, input);
  world.run(200);
  for (auto& bystander : world.bystanders)
    bystander->expect_untouched();
  if (size % 2 == 0) attackers.clear();  // they work with them and without them
  for (auto& bystander : world.bystanders)
    bystander->expect_working(world.clock);
  attackers.clear();
  for (auto& bystander : world.bystanders)
    bystander->expect_destructible();
  world.bystanders.clear();
  expect_empty(world);
}

// Sequences that lean on one kind of act each, from a generator that is the same everywhere.
std::vector<std::vector<uint8_t>> first_corpus() {
  std::vector<std::vector<uint8_t>> corpus;
  std::mt19937 random(1);  // the standard says what it yields
  for (unsigned seed = 0; seed < 64; ++seed) {
    auto& bytes = corpus.emplace_back();
    for (unsigned i = 0; i < 400 + 10 * seed; ++i) {
      // Every third byte is of the seed's kind; decisions are mostly the plain ones.
      const auto value = static_cast<unsigned>(random() & 0xff);
      const unsigned chosen = i % 3 == 0 ? seed % 16 : value % (seed < 32 ? 64 : 256);
      bytes.push_back(static_cast<uint8_t>(chosen));
    }
  }
  return corpus;
}

}  // namespace sim::fuzz
