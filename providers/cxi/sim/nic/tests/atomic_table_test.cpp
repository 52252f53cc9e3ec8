// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Every atomic operation on every type, fetching and not, through the whole engine; expected values
// are computed another way than the NIC does, in 128 bits or by hand.
#include <bit>
#include <complex>

#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

using Bytes = std::array<std::byte, 16>;

template <class T>
Bytes bytes_of(T value) {
  Bytes out{};
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

struct Operation {
  unsigned op, cswap;
};
constexpr Operation operations[] = {
    {C_AMO_OP_MIN, 0},
    {C_AMO_OP_MAX, 0},
    {C_AMO_OP_SUM, 0},
    {C_AMO_OP_LOR, 0},
    {C_AMO_OP_LAND, 0},
    {C_AMO_OP_BOR, 0},
    {C_AMO_OP_BAND, 0},
    {C_AMO_OP_LXOR, 0},
    {C_AMO_OP_BXOR, 0},
    {C_AMO_OP_SWAP, 0},
    {C_AMO_OP_AXOR, 0},
    {C_AMO_OP_CSWAP, C_AMO_OP_CSWAP_EQ},
    {C_AMO_OP_CSWAP, C_AMO_OP_CSWAP_NE},
    {C_AMO_OP_CSWAP, C_AMO_OP_CSWAP_LE},
    {C_AMO_OP_CSWAP, C_AMO_OP_CSWAP_LT},
    {C_AMO_OP_CSWAP, C_AMO_OP_CSWAP_GE},
    {C_AMO_OP_CSWAP, C_AMO_OP_CSWAP_GT},
};

// Whether `order` (of operand two against memory) is what the comparison asks for.
bool compared(unsigned cswap, std::partial_ordering order) {
  switch (cswap) {
    case C_AMO_OP_CSWAP_EQ:
      return order == 0;
    case C_AMO_OP_CSWAP_NE:
      return order != 0;
    case C_AMO_OP_CSWAP_LE:
      return order <= 0;
    case C_AMO_OP_CSWAP_LT:
      return order < 0;
    case C_AMO_OP_CSWAP_GE:
      return order >= 0;
    default:
      return order > 0;
  }
}

class AtomicTable : public TwoNics {
 protected:
  static constexpr unsigned pid = 5, index = 3;
  static constexpr uint64_t at = 4096;
  void SetUp() override {
    const unsigned pte = b.add_pte(pid, index, {.matching = true, .long_events = true});
    auto entry = b.buffer(pte, C_PTL_LIST_PRIORITY, 1, at, 64);
    entry.op_get = 1;
    b.target.push(entry);
    go(b.target);
    run();
  }
  struct Outcome {
    unsigned return_code;
    Bytes memory;
  };
  // Runs it both ways; what is fetched must be what was there.
  Outcome apply(Operation o, unsigned type, unsigned length, Bytes memory, Bytes op1, Bytes op2) {
    Outcome out{};
    for (const unsigned opcode : {C_CMD_ATOMIC, C_CMD_FETCHING_ATOMIC}) {
      c_dma_amo_cmd c = a.amo(opcode, dfa(2, pid, index), index, o.op, type, length);
      c.cswap_op = o.cswap & 7;
      std::memcpy(&c.op2_word1, op2.data(), 8);
      std::memcpy(&c.op2_word2, op2.data() + 8, 8);
      std::memcpy(a.memory->at(0), op1.data(), 16);
      std::memset(a.memory->at(64), 0x5a, 32);
      std::memcpy(b.memory->at(at), memory.data(), 16);
      a.tx.push(c);
      go(a.tx);
      run();
      const auto event = a.init_eq.next();
      a.init_eq.ack();
      EXPECT_TRUE(event);
      if (!event) return out;
      EXPECT_EQ(event->hdr.event_type, opcode == C_CMD_ATOMIC ? C_EVENT_ACK : C_EVENT_REPLY);
      const auto told = b.target_eq.next();
      b.target_eq.ack();
      if (told) {
        EXPECT_EQ(told->tgt_long.event_type,
                  opcode == C_CMD_ATOMIC ? C_EVENT_ATOMIC : C_EVENT_FETCH_ATOMIC);
        EXPECT_EQ(told->tgt_long.return_code, event->init_short.return_code);
        if (event->init_short.return_code == C_RC_OK) {
          EXPECT_EQ(told->tgt_long.atomic_op, o.op);
          EXPECT_EQ(told->tgt_long.atomic_type, type);
          EXPECT_EQ(told->tgt_long.cswap_op, o.cswap);
          EXPECT_EQ(told->tgt_long.rlength, length);
        }
      }
      Outcome now{event->init_short.return_code, {}};
      std::memcpy(now.memory.data(), b.memory->at(at), 16);
      if (opcode == C_CMD_FETCHING_ATOMIC) {
        EXPECT_EQ(now.return_code, out.return_code);
        EXPECT_EQ(now.memory, out.memory) << "fetching or not, the same";
        if (now.return_code == C_RC_OK) {
          EXPECT_EQ(std::memcmp(a.memory->at(64), memory.data(), length), 0) << "the old value";
          EXPECT_EQ(*a.memory->at(64 + length), std::byte{0x5a}) << "and no more";
        }
      }
      out = now;
    }
    return out;
  }
  template <class T>
  void expect_value(Operation o, unsigned type, T memory, T op1, T op2, T expected) {
    const auto out = apply(o, type, sizeof(T), bytes_of(memory), bytes_of(op1), bytes_of(op2));
    EXPECT_EQ(out.return_code, unsigned{C_RC_OK}) << o.op << "/" << o.cswap << " type " << type;
    EXPECT_EQ(out.memory, bytes_of(expected)) << o.op << "/" << o.cswap << " type " << type;
  }
  void expect_unusable(Operation o, unsigned type, unsigned length) {
    const Bytes memory = bytes_of(uint64_t{0x1234}), op1 = bytes_of(uint64_t{1});
    const auto out = apply(o, type, length, memory, op1, op1);
    EXPECT_EQ(out.return_code, unsigned{C_RC_AMO_INVAL_OP_ERROR})
        << o.op << "/" << o.cswap << " type " << type;
    EXPECT_EQ(out.memory, memory);
  }

  template <class T>
  static std::optional<T> expected_integer(Operation o, unsigned type, T memory, T op1, T op2) {
    using Wide = __int128;
    const Wide mem = memory, one = op1;
    switch (o.op) {
      case C_AMO_OP_MIN:
        return static_cast<T>(std::min(mem, one));
      case C_AMO_OP_MAX:
        return static_cast<T>(std::max(mem, one));
      case C_AMO_OP_SUM:
        return static_cast<T>(mem + one);
      case C_AMO_OP_SWAP:
        if (type != C_AMO_TYPE_UINT32_T && type != C_AMO_TYPE_UINT64_T) return std::nullopt;
        return static_cast<T>(mem + one);
      case C_AMO_OP_LOR:
        return mem != 0 || one != 0 ? T{1} : T{0};
      case C_AMO_OP_LAND:
        return mem != 0 && one != 0 ? T{1} : T{0};
      case C_AMO_OP_LXOR:
        return (mem != 0) != (one != 0) ? T{1} : T{0};
      case C_AMO_OP_BOR:
        return static_cast<T>(mem | one);
      case C_AMO_OP_BAND:
        return static_cast<T>(mem & one);
      case C_AMO_OP_BXOR:
        return static_cast<T>(mem ^ one);
      case C_AMO_OP_AXOR:
        return static_cast<T>((mem & ~Wide{op2}) ^ one);
      default:
        return compared(o.cswap, op2 <=> memory) ? op1 : memory;
    }
  }
  template <class T>
  void integers(unsigned type) {
    const T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    const T pairs[][3] = {{T(5), T(3), T(5)},  {T(3), T(5), T(4)},  {low, high, T(1)},
                          {high, T(1), high},  {T(0), T(64), T(0)}, {T(0x5a), T(0x33), T(0xf)},
                          {T(-1), T(1), T(0)}, {T(0), T(0), T(-1)}};
    for (const Operation o : operations) {
      for (const auto& [memory, op1, op2] : pairs) {
        if (const auto value = expected_integer<T>(o, type, memory, op1, op2))
          expect_value<T>(o, type, memory, op1, op2, *value);
        else
          expect_unusable(o, type, sizeof(T));
      }
    }
  }
  template <class T>
  void reals(unsigned type) {
    const T nan = std::numeric_limits<T>::quiet_NaN();
    for (const Operation o : operations) {
      if (o.op == C_AMO_OP_MIN || o.op == C_AMO_OP_MAX) {
        const bool least = o.op == C_AMO_OP_MIN;
        expect_value<T>(o, type, T(2.5), T(-4), T(0), least ? T(-4) : T(2.5));
        expect_value<T>(o, type, T(-4), T(2.5), T(0), least ? T(-4) : T(2.5));
        expect_value<T>(o, type, nan, T(1), T(0), nan);
        expect_value<T>(o, type, T(1), nan, T(0), nan);
      } else if (o.op == C_AMO_OP_SUM) {
        expect_value<T>(o, type, T(2.5), T(-4), T(0), T(-1.5));
      } else if (o.op == C_AMO_OP_CSWAP) {
        for (const T op2 : {T(1), T(2.5), T(3), nan}) {
          expect_value<T>(o, type, T(2.5), T(9), op2,
                          compared(o.cswap, op2 <=> T(2.5)) ? T(9) : T(2.5));
        }
      } else {
        expect_unusable(o, type, sizeof(T));
      }
    }
  }
  template <class T>
  void complexes(unsigned type) {
    using C = std::complex<T>;
    for (const Operation o : operations) {
      const bool equality =
          o.op == C_AMO_OP_CSWAP && (o.cswap == C_AMO_OP_CSWAP_EQ || o.cswap == C_AMO_OP_CSWAP_NE);
      if (o.op == C_AMO_OP_SUM) {
        expect_value<C>(o, type, C(1, -2), C(0.5, 4), C(), C(1.5, 2));
      } else if (equality) {
        const bool eq = o.cswap == C_AMO_OP_CSWAP_EQ;
        expect_value<C>(o, type, C(1, 2), C(7, 8), C(1, 2), eq ? C(7, 8) : C(1, 2));
        expect_value<C>(o, type, C(1, 2), C(7, 8), C(1, 3), eq ? C(1, 2) : C(7, 8));
      } else {
        expect_unusable(o, type, sizeof(C));
      }
    }
  }
};

TEST_F(AtomicTable, Integers) {
  integers<int8_t>(C_AMO_TYPE_INT8_T);
  integers<uint8_t>(C_AMO_TYPE_UINT8_T);
  integers<int16_t>(C_AMO_TYPE_INT16_T);
  integers<uint16_t>(C_AMO_TYPE_UINT16_T);
  integers<int32_t>(C_AMO_TYPE_INT32_T);
  integers<uint32_t>(C_AMO_TYPE_UINT32_T);
  integers<int64_t>(C_AMO_TYPE_INT64_T);
  integers<uint64_t>(C_AMO_TYPE_UINT64_T);
}

TEST_F(AtomicTable, FloatingPoint) {
  reals<float>(C_AMO_TYPE_FLOAT_T);
  reals<double>(C_AMO_TYPE_DOUBLE_T);
}

TEST_F(AtomicTable, Complex) {
  complexes<float>(C_AMO_TYPE_FLOAT_COMPLEX_T);
  complexes<double>(C_AMO_TYPE_DOUBLE_COMPLEX_T);
}

TEST_F(AtomicTable, HundredAndTwentyEightBitsKnowEqualityOnly) {
  using Wide = std::array<uint64_t, 2>;
  for (const Operation o : operations) {
    if (o.op == C_AMO_OP_CSWAP && o.cswap == C_AMO_OP_CSWAP_EQ) {
      expect_value<Wide>(o, C_AMO_TYPE_UINT128_T, {1, 2}, {7, 8}, {1, 2}, {7, 8});
      expect_value<Wide>(o, C_AMO_TYPE_UINT128_T, {1, 2}, {7, 8}, {1, 3}, {1, 2});
    } else {
      expect_unusable(o, C_AMO_TYPE_UINT128_T, 16);
    }
  }
}

TEST_F(AtomicTable, OperationsAndTypesThatDoNotExist) {
  expect_unusable({3, 0}, C_AMO_TYPE_UINT64_T, 8);
  expect_unusable({13, 0}, C_AMO_TYPE_UINT64_T, 8);
  expect_unusable({C_AMO_OP_CSWAP, 6}, C_AMO_TYPE_UINT64_T, 8);
  expect_unusable({C_AMO_OP_SUM, 0}, 13, 8);
  expect_unusable({C_AMO_OP_SUM, 0}, 15, 8);
}

TEST_F(AtomicTable, LengthsAndPlacesThatDoNotFit) {
  constexpr Operation sum{C_AMO_OP_SUM, 0};
  const Bytes one = bytes_of(uint64_t{1});
  constexpr unsigned sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16};
  for (unsigned type = 0; type < 12; type++) {
    for (const unsigned length : {0u, 1u, 2u, 4u, 8u, 16u, 17u}) {
      if (length == sizes[type]) continue;
      const auto out = apply(sum, type, length, one, one, one);
      EXPECT_EQ(out.return_code, unsigned{C_RC_AMO_LENGTH_ERROR}) << type << " of " << length;
      EXPECT_EQ(out.memory, one);
    }
  }
}

}  // namespace
}  // namespace sim::nic::testing
