// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Tables that turn the keys in work requests into what they stand for: one load to find the entry,
// one comparison to see that the key is still alive. Readers take no lock; writers hold the
// context's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "memory.hpp"
#include "sge.hpp"

namespace cxi {

struct Job;
struct Pd;

/// A region as local requests use it. Written before its key, which readers check first.
struct LocalKey {
  std::atomic<std::uint32_t> key;  ///< generation << 24 | slot; 0: free
  std::uint8_t generation;
  std::uint8_t lac;
  bool local_write;
  bool has_cpu;  ///< the CPU can reach the memory where cpu_delta says
  const void* pd;
  std::uint64_t base;  ///< first address as in work requests
  std::uint64_t length;
  std::uint64_t iova_delta;
  std::uint64_t cpu_delta;  ///< pointer = address as in work requests + cpu_delta
  std::uint32_t next_free;
};

class LocalKeys {
 public:
  static constexpr std::uint32_t chunk_entries = 256;
  static constexpr std::uint32_t max_chunks = 256;
  static constexpr std::uint32_t slot_mask = 0xffffff;

  /// Reserves an entry, its key not yet alive. Null when the table is full or memory is short.
  LocalKey* reserve(std::uint32_t& key) noexcept;
  /// Makes a reserved entry visible. Partner: the acquire load in find().
  static void publish(LocalKey& entry, std::uint32_t key) noexcept {
    entry.key.store(key, std::memory_order_release);
  }
  /// Kills the key, so that its next user gets another one.
  void release(std::uint32_t key) noexcept;
  /// Hides a live key; publish() of its hidden() entry brings it back.
  void hide(std::uint32_t key) noexcept;
  LocalKey* hidden(std::uint32_t key) noexcept { return entry(key & slot_mask); }

  /// The live entry, or null. Keys of 64 bits have nothing in their upper half.
  const LocalKey* find(std::uint64_t key) const noexcept {
    const std::uint64_t slot = key & slot_mask;
    if (key >> 32 != 0 || slot >= std::uint64_t{chunk_entries} * max_chunks) return nullptr;
    const LocalKey* chunk = chunks_[slot / chunk_entries].load(std::memory_order_acquire);
    if (!chunk) return nullptr;
    const LocalKey* entry = &chunk[slot % chunk_entries];
    if (entry->key.load(std::memory_order_acquire) != key || key == 0) return nullptr;
    return entry;
  }

  void destroy() noexcept;

 private:
  LocalKey* entry(std::uint32_t slot) noexcept {
    return &chunks_[slot / chunk_entries].load(std::memory_order_relaxed)[slot % chunk_entries];
  }

  std::atomic<LocalKey*> chunks_[max_chunks];
  std::uint32_t next_unused_;  // slots from here on were never used; slot 0 never is
  std::uint32_t free_;         // first of a list of used ones, 0: none
};

/// Looks a range up. False: no such key in this domain, out of its bounds, or not writable.
bool find_piece(const LocalKeys& keys, const void* pd, std::uint64_t key, std::uint64_t address,
                std::uint64_t length, bool write, Piece& piece) noexcept;

/// A job key: what a request that carries it is sent with.
struct JobKeyEntry {
  std::atomic<std::uint32_t> key;  ///< serial << 8 | slot, from the kernel; 0: free
  std::uint16_t vni;
  std::uint8_t lcid;
  const void* pd;
  Job* job;
};

class JobKeys {
 public:
  static constexpr std::uint32_t entries = 256;

  void insert(std::uint32_t key, const void* pd, Job* job, std::uint16_t vni,
              std::uint8_t lcid) noexcept {
    JobKeyEntry& entry = table_[key % entries];
    entry.pd = pd;
    entry.job = job;
    entry.vni = vni;
    entry.lcid = lcid;
    entry.key.store(key, std::memory_order_release);  // partner: the load in find()
  }
  void remove(std::uint32_t key) noexcept {
    table_[key % entries].key.store(0, std::memory_order_release);
  }
  /// The entry if the key is alive and belongs to the domain.
  const JobKeyEntry* find(std::uint32_t key, const void* pd) const noexcept {
    const JobKeyEntry& entry = table_[key % entries];
    if (key == 0 || entry.key.load(std::memory_order_acquire) != key || entry.pd != pd)
      return nullptr;
    return &entry;
  }

 private:
  JobKeyEntry table_[entries];
};

}  // namespace cxi
