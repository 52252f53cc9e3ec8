// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Memory as the NIC sees it: address contexts with memory descriptors in them, and the checks of
// every access (behaviour 4). IO addresses are drawn from a seed and never equal the virtual ones,
// so that a program that confuses the two fails here as it would on hardware.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nic/device.hpp"

namespace sim::nic {

struct MemoryRegion {
  uint64_t iova = 0, len = 0;
  uint64_t va = 0;
  std::shared_ptr<GuestMemory> memory;  // null: pages
  SharedPages pages;
  unsigned id = 0;
  bool readable = false, writable = false;
};

/// One address context: a window of IO addresses and the regions in it.
class AddressContext {
 public:
  AddressContext(unsigned lac, uint64_t random);

  /// The IO address of the region's first byte, or nothing when the window is used up.
  std::optional<uint64_t> place(uint64_t va, uint64_t len) const;
  void add(MemoryRegion region);
  bool remove(unsigned id);
  bool empty() const { return regions_.empty(); }

  /// A return code; C_RC_OK: done. Either everything is accessible, or bytes before the bad one may
  /// have been transferred.
  int read(uint64_t iova, std::span<std::byte> out);
  int write(uint64_t iova, std::span<const std::byte> in);

 private:
  MemoryRegion* find(uint64_t iova, uint64_t len, int* rc);

  uint64_t base_, end_, next_;
  std::vector<MemoryRegion> regions_;  // by address
  size_t last_ = 0;                    // the region of the last access
};

/// The address contexts of all resource groups: eight logical ones for each.
class AddressUnit {
 public:
  explicit AddressUnit(uint64_t seed) : random_(seed ? seed : 1) {}

  Made<Mapping> map(unsigned rgid, MemoryRegion region);
  void unmap(unsigned rgid, unsigned id);
  void forget(unsigned rgid);  // the group is gone, and what is left in its contexts

  int read(unsigned rgid, unsigned lac, uint64_t iova, std::span<std::byte> out);
  int write(unsigned rgid, unsigned lac, uint64_t iova, std::span<const std::byte> in);

 private:
  uint64_t draw();

  struct Group {
    std::array<std::unique_ptr<AddressContext>, 8> contexts;
  };
  std::vector<Group> groups_;
  uint64_t random_;
  unsigned next_id_ = 1;
};

}  // namespace sim::nic
