// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "key_table.hpp"

namespace cxi {

LocalKey* LocalKeys::reserve(std::uint32_t& key) noexcept {
  std::uint32_t slot = free_;
  if (slot) {
    free_ = entry(slot)->next_free;
  } else {
    slot = next_unused_ ? next_unused_ : 1;
    if (slot >= chunk_entries * max_chunks) return nullptr;
    std::atomic<LocalKey*>& chunk = chunks_[slot / chunk_entries];
    if (!chunk.load(std::memory_order_relaxed)) {
      LocalKey* made = allocate_array<LocalKey>(chunk_entries).release();
      if (!made) return nullptr;
      chunk.store(made, std::memory_order_release);
    }
    next_unused_ = slot + 1;
  }
  LocalKey* found = entry(slot);
  found->generation++;
  key = std::uint32_t{found->generation} << 24 | slot;
  return found;
}

void LocalKeys::release(std::uint32_t key) noexcept {
  const std::uint32_t slot = key & slot_mask;
  LocalKey* dead = entry(slot);
  dead->key.store(0, std::memory_order_release);
  dead->next_free = free_;
  free_ = slot;
}

void LocalKeys::hide(std::uint32_t key) noexcept {
  entry(key & slot_mask)->key.store(0, std::memory_order_release);
}

void LocalKeys::destroy() noexcept {
  for (auto& chunk : chunks_)
    std::free(chunk.exchange(nullptr, std::memory_order_relaxed));
}

bool find_piece(const LocalKeys& keys, const void* pd, std::uint64_t key, std::uint64_t address,
                std::uint64_t length, bool write, Piece& piece) noexcept {
  const LocalKey* entry = keys.find(key);
  if (!entry || entry->pd != pd || (write && !entry->local_write)) return false;
  const std::uint64_t offset = address - entry->base;
  if (offset > entry->length || length > entry->length - offset) return false;
  constexpr std::uint64_t iova_mask = (std::uint64_t{1} << 57) - 1;
  piece.iova = (address + entry->iova_delta) & iova_mask;
  piece.lac = entry->lac;
  piece.length = length;
  piece.cpu =
      entry->has_cpu
          ? reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address + entry->cpu_delta))
          : nullptr;
  return true;
}

}  // namespace cxi
