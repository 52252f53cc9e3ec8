// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Bit-fields of Cassini structures as types. A field is named once, by its least significant bit
// and its width in a little-endian structure; reader, writer and mask follow. The fields themselves
// are generated (ethernet/cassini_fields.hpp, ethernet/cassini_csrs.hpp).
//
//   std::byte slot[64] = {};
//   cassini::c_full_dma_cmd::request_len::set(slot, 4096);          // any memory, any alignment
//   uint64_t words[8] = {};                                         // or whole words in registers:
//   words[3] |= cassini::c_full_dma_cmd::request_len::encode(4096); // request_len::word == 3
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace cassini {

namespace detail {

template <std::size_t Bytes>
struct Unsigned {};
template <>
struct Unsigned<1> {
  using type = std::uint8_t;
};
template <>
struct Unsigned<2> {
  using type = std::uint16_t;
};
template <>
struct Unsigned<4> {
  using type = std::uint32_t;
};
template <>
struct Unsigned<8> {
  using type = std::uint64_t;
};

/// The little-endian number in Bytes bytes, 0 to 8 of them: read in pieces of 8, 4, 2 and 1.
template <std::size_t Bytes>
constexpr std::uint64_t load(const std::byte* from) {
  if constexpr (Bytes == 0) {
    return 0;
  } else if constexpr (!std::has_single_bit(Bytes)) {
    constexpr std::size_t piece = std::bit_floor(Bytes);
    return load<piece>(from) | load<Bytes - piece>(from + piece) << (8 * piece);
  } else if (std::is_constant_evaluated()) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < Bytes; i++)
      value |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
    return value;
  } else {
    typename Unsigned<Bytes>::type value;
    std::memcpy(&value, from, Bytes);
    return value;
  }
}

/// The low Bytes bytes of value, stored the way load() reads them.
template <std::size_t Bytes>
constexpr void store(std::byte* to, std::uint64_t value) {
  if constexpr (Bytes == 0) {
    return;
  } else if constexpr (!std::has_single_bit(Bytes)) {
    constexpr std::size_t piece = std::bit_floor(Bytes);
    store<piece>(to, value);
    store<Bytes - piece>(to + piece, value >> (8 * piece));
  } else if (std::is_constant_evaluated()) {
    for (std::size_t i = 0; i < Bytes; i++)
      to[i] = static_cast<std::byte>(value >> (8 * i) & 0xff);
  } else {
    const auto narrow = static_cast<typename Unsigned<Bytes>::type>(value);
    std::memcpy(to, &narrow, Bytes);
  }
}

constexpr std::uint64_t low_bits(std::size_t width) {
  return ~std::uint64_t{0} >> (64 - width);
}

}  // namespace detail

/// Width bits that start at bit Lsb of a structure; bit 0 is the least significant bit of byte 0.
/// Reading and writing touch only the bytes in which the field lies.
template <std::size_t Lsb, std::size_t Width>
struct Field {
  static_assert(Width >= 1 && Width <= 64);
  static constexpr std::size_t lsb = Lsb;
  static constexpr std::size_t width = Width;
  static constexpr std::size_t end = Lsb + Width;  ///< first bit behind the field
  static constexpr std::uint64_t max = detail::low_bits(Width);

  /// The 64-bit word of the structure in which the field lies, its place and its mask in that word.
  static constexpr bool in_one_word = Lsb / 64 == (end - 1) / 64;
  static constexpr std::size_t word = Lsb / 64;
  static constexpr unsigned shift = Lsb % 64;
  static constexpr std::uint64_t mask = in_one_word ? max << shift : 0;

  /// The value in its place in the word; bits that do not fit are dropped.
  static constexpr std::uint64_t encode(std::uint64_t value) requires(in_one_word) {
    return (value & max) << shift;
  }

  /// The field's value in the word.
  static constexpr std::uint64_t decode(std::uint64_t word_value) requires(in_one_word) {
    return (word_value >> shift) & max;
  }

  /// The field's value in the structure that starts at base.
  static constexpr std::uint64_t get(const std::byte* base) {
    const std::byte* first = base + first_byte;
    std::uint64_t value = detail::load<low_bytes>(first) >> bit;
    if constexpr (bytes > 8) value |= detail::load<1>(first + 8) << (64 - bit);
    return value & max;
  }
  static constexpr std::uint64_t get(std::span<const std::byte> structure) {
    return get(structure.data());
  }

  /// Stores the value, dropping bits that do not fit; neighbours keep theirs.
  static constexpr void set(std::byte* base, std::uint64_t value) {
    value &= max;
    std::byte* first = base + first_byte;
    if constexpr (Width == 8 * bytes) {
      detail::store<bytes>(first, value);
    } else {
      const std::uint64_t others = detail::load<low_bytes>(first) & ~(max << bit);
      detail::store<low_bytes>(first, others | value << bit);
    }
    if constexpr (bytes > 8) {
      const std::uint64_t others = detail::load<1>(first + 8) & ~(max >> (64 - bit));
      detail::store<1>(first + 8, others | value >> (64 - bit));
    }
  }
  static constexpr void set(std::span<std::byte> structure, std::uint64_t value) {
    set(structure.data(), value);
  }

 private:
  static_assert(std::endian::native == std::endian::little, "Cassini structures are little endian");
  static constexpr std::size_t first_byte = Lsb / 8;
  static constexpr unsigned bit = Lsb % 8;
  static constexpr std::size_t bytes = (end - 1) / 8 - first_byte + 1;
  static constexpr std::size_t low_bytes = bytes < 8 ? bytes : 8;
};

/// Count elements of Width bits each, side by side.
template <std::size_t Lsb, std::size_t Width, std::size_t Count>
struct ArrayField {
  static_assert(Lsb % 8 == 0 && Width % 8 == 0 && Width <= 64);
  static constexpr std::size_t lsb = Lsb;
  static constexpr std::size_t width = Width;
  static constexpr std::size_t count = Count;
  static constexpr std::size_t end = Lsb + Width * Count;
  static constexpr std::uint64_t max = detail::low_bits(Width);

  template <std::size_t Index>
  requires(Index < Count) using at = Field<Lsb + Index * Width, Width>;

  static constexpr std::uint64_t get(const std::byte* base, std::size_t index) {
    return Field<0, Width>::get(base + (Lsb + index * Width) / 8);
  }
  static constexpr std::uint64_t get(std::span<const std::byte> structure, std::size_t index) {
    return get(structure.data(), index);
  }
  static constexpr void set(std::byte* base, std::size_t index, std::uint64_t value) {
    Field<0, Width>::set(base + (Lsb + index * Width) / 8, value);
  }
  static constexpr void set(std::span<std::byte> structure, std::size_t index,
                            std::uint64_t value) {
    set(structure.data(), index, value);
  }
};

/// Bytes of any number behind a structure, such as the data of an immediate command.
template <std::size_t Lsb>
struct TailField {
  static_assert(Lsb % 8 == 0);
  static constexpr std::size_t lsb = Lsb;
  static constexpr std::size_t end = Lsb;
  static constexpr std::size_t byte_offset = Lsb / 8;

  static constexpr std::byte* at(std::byte* base) { return base + byte_offset; }
  static constexpr const std::byte* at(const std::byte* base) { return base + byte_offset; }
};

/// A structure of SizeBytes inside another one. Its own fields are members of the derived type,
/// counted from the start of the outer structure. A small one can also be read and written whole.
template <std::size_t Lsb, std::size_t SizeBytes>
struct StructField {
  static_assert(Lsb % 8 == 0);
  static constexpr std::size_t lsb = Lsb;
  static constexpr std::size_t width = SizeBytes * 8;
  static constexpr std::size_t end = Lsb + width;

  static constexpr std::byte* at(std::byte* base) { return base + Lsb / 8; }
  static constexpr const std::byte* at(const std::byte* base) { return base + Lsb / 8; }
};
template <std::size_t Lsb, std::size_t SizeBytes>
requires(SizeBytes <= 8) struct StructField<Lsb, SizeBytes> : Field<Lsb, SizeBytes * 8> {
  static_assert(Lsb % 8 == 0);
  static constexpr std::byte* at(std::byte* base) { return base + Lsb / 8; }
  static constexpr const std::byte* at(const std::byte* base) { return base + Lsb / 8; }
};

/// Whether the fields lie within SizeBytes and no two of them share a bit.
template <std::size_t SizeBytes, class... F>
consteval bool apart() {
  constexpr std::size_t n = sizeof...(F);
  constexpr std::array<std::size_t, n> first{F::lsb...};
  constexpr std::array<std::size_t, n> last{F::end...};
  for (std::size_t i = 0; i < n; i++) {
    if (last[i] > SizeBytes * 8) return false;
    for (std::size_t j = 0; j < i; j++)
      if (first[i] < last[j] && first[j] < last[i]) return false;
  }
  return true;
}

}  // namespace cassini
