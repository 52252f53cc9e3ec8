// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What the fuzzer hands over, read from the front: any bytes are a valid sequence of decisions, and
// when they are used up every decision is the first one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sim::fuzz {

class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data, size) {}

  bool empty() const { return at_ >= data_.size(); }
  uint8_t byte() { return empty() ? uint8_t{0} : data_[at_++]; }
  unsigned below(unsigned n) { return byte() % n; }
  bool one_in(unsigned n) { return byte() % n == n - 1; }
  uint64_t raw(unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i)
      value = value << 8 | byte();
    return value;
  }
  // Small numbers, numbers at the edges of fields, and any number at all.
  uint64_t number() {
    constexpr std::array<uint64_t, 32> edges = {
        63,         64,         65,         127,        128,        255,
        256,        510,        511,        512,        1023,       1024,
        2047,       2048,       2049,       4095,       4096,       4097,
        8192,       16383,      16384,      65535,      65536,      0xfffff,
        0xffffff,   0x7fffffff, 0xffffffff, 0xfff00000, 1ull << 48, (1ull << 56) - 1,
        1ull << 63, ~0ull};
    const uint8_t kind = byte();
    if (kind < 160) return kind % 64;
    if (kind < 224) return edges[kind % edges.size()];
    return raw(1 + kind % 8);
  }
  void fill(std::span<std::byte> out) {
    for (std::byte& b : out)
      b = static_cast<std::byte>(byte());
  }

 private:
  std::span<const uint8_t> data_;
  size_t at_ = 0;
};

}  // namespace sim::fuzz
