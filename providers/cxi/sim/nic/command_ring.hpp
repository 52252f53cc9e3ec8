// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The ring of a command queue as the NIC reads it: write pointer from the doorbell word, commands
// of 32 to 256 bytes, read pointer and errors in the status word (behaviour 2.2 to 2.6). Ring and
// doorbell belong to a program that may write anything at any time: pointers are checked, bytes are
// copied once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "nic/device.hpp"

namespace sim::nic {

using CommandBytes = std::array<std::byte, 256>;

class CommandRing {
 public:
  CommandRing(SharedPages ring, SharedPages launch, StatusPolicy policy);

  /// Pointers to the first command slot, status and doorbell word rewritten.
  void restart();

  const uint64_t* doorbell() const;

  enum class Look { nothing_new, more, bad_pointer };
  /// Reads the doorbell. A write pointer outside the ring, or one that steps back or passes the
  /// read pointer, is flagged and changes nothing.
  Look look();
  bool pending() const { return rd32_ != wr_ * 2; }

  struct Fetched {
    int return_code;  // C_RC_OK, CMD_ALIGN_ERROR, CMD_INVALID_ARG (not wholly published)
    unsigned bytes;
  };
  /// Copies the next command; pending() must hold. It stays next until advance().
  Fetched fetch(CommandBytes& out) const;
  void advance(unsigned bytes);
  /// Tells the error in the status word; the caller stops the queue.
  void fail(int return_code, uint8_t command);

  unsigned slot() const { return rd32_ / 2; }
  bool second_half_of_128() const { return rd32_ % 4 != 0; }

 private:
  void write_status();

  SharedPages ring_, launch_;
  StatusPolicy policy_;
  unsigned slots_;
  unsigned rd32_, wr_;        // units of 32 bytes; slots
  unsigned since_write_ = 0;  // units
  uint8_t return_code_, fail_command_ = 0;
  bool fail_half_ = false;
};

}  // namespace sim::nic
