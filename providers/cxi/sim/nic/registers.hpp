// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The register file: 64-bit words by offset in the CSR aperture, as the tables lay them out.
//
// Registers of which the model knows a value read as that value: the NIC's identity, counters, and
// how much is in use. All others hold what they hold after reset and what was written since; they
// describe nothing, for queues, lists and memory are set up through nic::Device and not through
// them. A written counter counts on from there; a block of counters stands still while its enable
// bit is off and restarts from zero when its init bit is written.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "nic/device.hpp"

namespace cassini {
struct Register;
struct RegisterWord;
}  // namespace cassini

namespace sim::nic {

/// The word at an offset as the model knows it: a number that counts up, or a value of the moment.
struct LiveWord {
  const uint64_t* counter = nullptr;
  std::function<uint64_t()> value;
};
using LiveWords = std::unordered_map<uint32_t, LiveWord>;

class Registers {
 public:
  Registers(uint32_t cassini_version, LiveWords live);

  /// EINVAL: misaligned, or no register is there.
  Made<uint64_t> read(uint32_t offset) const;
  /// The same, and EACCES: software cannot change any bit of the word.
  int write(uint32_t offset, uint64_t value);
  /// What write() would say.
  int check_write(uint32_t offset) const;
  /// Whether the word is one that every program may read.
  bool is_public(uint32_t offset) const;

 private:
  struct Block {  // of counters, with one register that governs them
    uint32_t config_at = 0, first = 0, end = 0;
    bool enabled = true;
  };
  struct Counting {
    uint64_t base = 0;   // of the running number, subtracted
    uint64_t stood = 0;  // its value when the block was stopped
  };
  struct Word {  // all views of a place taken together
    bool exists = false;
    bool is_public = false;
    uint64_t keep = 0, clear = 0, start = 0, reset = 0;
  };

  Word word(uint32_t offset) const;
  const Block* block_of(uint32_t offset) const;
  uint64_t count(uint32_t offset, uint64_t running) const;
  void configure(Block& block, uint64_t value);

  std::vector<const cassini::Register*> registers_;  // of this generation, by offset
  std::vector<uint32_t> reach_;                      // the furthest end up to each of them
  LiveWords live_;
  std::vector<Block> blocks_;
  std::unordered_map<uint32_t, Counting> counting_;
  std::unordered_map<uint32_t, uint64_t> written_;
};

}  // namespace sim::nic
