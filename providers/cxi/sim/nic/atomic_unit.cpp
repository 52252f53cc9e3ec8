// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "nic/atomic_unit.hpp"

#include <cfenv>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "ethernet/cassini_user_defs.h"
#include "nic/command_parse.hpp"

namespace sim::nic {
namespace {

enum class Kind { integer, real, complex, wide };

Kind kind_of(unsigned type) {
  switch (type) {
    case C_AMO_TYPE_FLOAT_T:
    case C_AMO_TYPE_DOUBLE_T:
      return Kind::real;
    case C_AMO_TYPE_FLOAT_COMPLEX_T:
    case C_AMO_TYPE_DOUBLE_COMPLEX_T:
      return Kind::complex;
    case C_AMO_TYPE_UINT128_T:
      return Kind::wide;
    default:
      return Kind::integer;
  }
}

bool usable(const AtomicOperands& o) {
  const Kind kind = kind_of(o.type);
  switch (o.op) {
    case C_AMO_OP_MIN:
    case C_AMO_OP_MAX:
      return kind == Kind::integer || kind == Kind::real;
    case C_AMO_OP_SUM:
      return kind != Kind::wide;
    case C_AMO_OP_LOR:
    case C_AMO_OP_LAND:
    case C_AMO_OP_BOR:
    case C_AMO_OP_BAND:
    case C_AMO_OP_LXOR:
    case C_AMO_OP_BXOR:
    case C_AMO_OP_AXOR:
      return kind == Kind::integer;
    case C_AMO_OP_SWAP:  // remapped to the bus's fetch-add, which knows two types (behaviour 8.4)
      return o.type == C_AMO_TYPE_UINT32_T || o.type == C_AMO_TYPE_UINT64_T;
    case C_AMO_OP_CSWAP:
      if (o.cswap == C_AMO_OP_CSWAP_EQ) return true;
      if (o.cswap == C_AMO_OP_CSWAP_NE) return kind != Kind::wide;
      return o.cswap <= C_AMO_OP_CSWAP_GT && (kind == Kind::integer || kind == Kind::real);
    default:
      return false;
  }
}

template <class T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

template <class T>
AtomicValue store(const AtomicValue& memory, T value) {
  AtomicValue out = memory;
  std::memcpy(out.data(), &value, sizeof(value));
  return out;
}

template <class T>
bool compare(unsigned op, T a, T b) {
  switch (op) {
    case C_AMO_OP_CSWAP_EQ:
      return a == b;
    case C_AMO_OP_CSWAP_NE:
      return a != b;
    case C_AMO_OP_CSWAP_LE:
      return a <= b;
    case C_AMO_OP_CSWAP_LT:
      return a < b;
    case C_AMO_OP_CSWAP_GE:
      return a >= b;
    default:
      return a > b;
  }
}

template <class T>
T integer(const AtomicOperands& o, T mem, T op1, T op2) {
  switch (o.op) {
    case C_AMO_OP_MIN:
      return op1 < mem ? op1 : mem;
    case C_AMO_OP_MAX:
      return op1 > mem ? op1 : mem;
    case C_AMO_OP_SUM:
    case C_AMO_OP_SWAP: {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(static_cast<U>(mem) + static_cast<U>(op1)));
    }
    case C_AMO_OP_LOR:
      return static_cast<T>(mem || op1);
    case C_AMO_OP_LAND:
      return static_cast<T>(mem && op1);
    case C_AMO_OP_LXOR:
      return static_cast<T>(!mem != !op1);
    case C_AMO_OP_BOR:
      return static_cast<T>(mem | op1);
    case C_AMO_OP_BAND:
      return static_cast<T>(mem & op1);
    case C_AMO_OP_BXOR:
      return static_cast<T>(mem ^ op1);
    case C_AMO_OP_AXOR:
      return static_cast<T>((mem & ~op2) ^ op1);
    default:
      return compare(o.cswap, op2, mem) ? op1 : mem;
  }
}

template <class T>
T real(const AtomicOperands& o, T mem, T op1, T op2) {
  switch (o.op) {
    case C_AMO_OP_MIN:
    case C_AMO_OP_MAX:
      if (std::isnan(mem) || std::isnan(op1)) {
        std::feraiseexcept(FE_INVALID);
        return std::numeric_limits<T>::quiet_NaN();
      }
      return (o.op == C_AMO_OP_MIN ? op1 < mem : op1 > mem) ? op1 : mem;
    case C_AMO_OP_SUM: {
      volatile T sum = mem + op1;  // keeps the addition between clearing and reading the flags
      return sum;
    }
    default:
      return compare(o.cswap, op2, mem) ? op1 : mem;
  }
}

template <class T>
std::complex<T> complex_value(const AtomicOperands& o, std::complex<T> mem, std::complex<T> op1,
                              std::complex<T> op2) {
  if (o.op == C_AMO_OP_SUM) {
    volatile T re = mem.real() + op1.real();
    volatile T im = mem.imag() + op1.imag();
    return {re, im};
  }
  return (op2 == mem) == (o.cswap == C_AMO_OP_CSWAP_EQ) ? op1 : mem;
}

template <class T>
AtomicValue on_integer(const AtomicOperands& o, const AtomicValue& m) {
  return store(m, integer<T>(o, load<T>(m.data()), load<T>(o.op1), load<T>(o.op2)));
}

template <class T>
AtomicValue on_real(const AtomicOperands& o, const AtomicValue& m) {
  return store(m, real<T>(o, load<T>(m.data()), load<T>(o.op1), load<T>(o.op2)));
}

template <class T>
AtomicValue on_complex(const AtomicOperands& o, const AtomicValue& m) {
  using C = std::complex<T>;
  return store(m, complex_value<T>(o, load<C>(m.data()), load<C>(o.op1), load<C>(o.op2)));
}

}  // namespace

int check_atomic(const AtomicOperands& operands, uint32_t length) {
  const unsigned bytes = atomic_bytes(operands.type);
  if (bytes == 0 || !usable(operands)) return C_RC_AMO_INVAL_OP_ERROR;
  return length == bytes ? C_RC_OK : C_RC_AMO_LENGTH_ERROR;
}

AtomicResult apply_atomic(const AtomicOperands& o, const AtomicValue& m) {
  std::feclearexcept(FE_ALL_EXCEPT);
  AtomicResult out;
  switch (o.type) {
    case C_AMO_TYPE_INT8_T:
      out.value = on_integer<int8_t>(o, m);
      break;
    case C_AMO_TYPE_UINT8_T:
      out.value = on_integer<uint8_t>(o, m);
      break;
    case C_AMO_TYPE_INT16_T:
      out.value = on_integer<int16_t>(o, m);
      break;
    case C_AMO_TYPE_UINT16_T:
      out.value = on_integer<uint16_t>(o, m);
      break;
    case C_AMO_TYPE_INT32_T:
      out.value = on_integer<int32_t>(o, m);
      break;
    case C_AMO_TYPE_UINT32_T:
      out.value = on_integer<uint32_t>(o, m);
      break;
    case C_AMO_TYPE_INT64_T:
      out.value = on_integer<int64_t>(o, m);
      break;
    case C_AMO_TYPE_UINT64_T:
      out.value = on_integer<uint64_t>(o, m);
      break;
    case C_AMO_TYPE_FLOAT_T:
      out.value = on_real<float>(o, m);
      break;
    case C_AMO_TYPE_DOUBLE_T:
      out.value = on_real<double>(o, m);
      break;
    case C_AMO_TYPE_FLOAT_COMPLEX_T:
      out.value = on_complex<float>(o, m);
      break;
    case C_AMO_TYPE_DOUBLE_COMPLEX_T:
      out.value = on_complex<double>(o, m);
      break;
    default:  // 128 bits know only compare and swap on equality
      out.value =
          std::memcmp(o.op2, m.data(), m.size()) == 0 ? store(m, load<AtomicValue>(o.op1)) : m;
      break;
  }
  const bool floating = o.type >= C_AMO_TYPE_FLOAT_T && o.type != C_AMO_TYPE_UINT128_T;
  out.exceptions = floating ? std::fetestexcept(FE_ALL_EXCEPT) : 0;
  return out;
}

}  // namespace sim::nic
