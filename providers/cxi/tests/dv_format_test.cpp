// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The encoders and decoders of infiniband/cxidv_format.h: round trips over the whole range, one bit
// of the result for one of the parts, and refusal outside.
#include <gtest/gtest.h>
#include <infiniband/cxidv.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <random>

#include "ethernet/cassini_fields.hpp"
#include "rdma/cxiverbs-abi.h"
#include "remote_key.hpp"

namespace cxi {
namespace {

constexpr std::uint32_t all_pid_bits[] = {6, 7, 8, 9};

c_fab_addr address(std::uint32_t word) {
  c_fab_addr dfa;
  std::memcpy(&dfa, &word, sizeof(dfa));
  return dfa;
}

struct Destination {
  std::uint32_t nid = 1, pid = 2, index = 3;
  bool operator==(const Destination&) const = default;
};

TEST(DvFormat, EveryPidAndIndexComesBack) {
  for (std::uint32_t pid_bits : all_pid_bits)
    for (std::uint32_t nid : {0u, 1u, 0x5a5a5u, 0xff7ffu})
      for (std::uint32_t pid = 0; pid < (1u << pid_bits) - 1; pid++)
        for (std::uint32_t index = 0; index < 1u << (17 - pid_bits); index++) {
          c_fab_addr dfa;
          std::uint32_t index_ext = 99;
          ASSERT_EQ(cxidv_encode_dfa(pid_bits, nid, pid, index, &dfa, &index_ext), 0);
          ASSERT_EQ(dfa.unicast.nid, nid);
          ASSERT_EQ(dfa.unicast.endpoint_defined, ((index >> 5) << pid_bits) + pid);
          ASSERT_EQ(index_ext, index & 0x1f);
          Destination out;
          ASSERT_EQ(cxidv_decode_dfa(pid_bits, dfa, index_ext, &out.nid, &out.pid, &out.index), 0);
          ASSERT_EQ(out, (Destination{nid, pid, index}));
        }
}

TEST(DvFormat, EveryNidComesBack) {
  for (std::uint32_t nid = 0; nid < 1u << 20; nid++) {
    c_fab_addr dfa;
    std::uint32_t index_ext;
    const int err = cxidv_encode_dfa(9, nid, 510, 255, &dfa, &index_ext);
    ASSERT_EQ(err, nid < 0xff800 ? 0 : EINVAL) << nid;
    Destination out;
    ASSERT_EQ(cxidv_decode_dfa(9, address(nid << 12 | 0xdfe), 31, &out.nid, &out.pid, &out.index),
              err);
    if (err) continue;
    ASSERT_EQ(dfa.unicast.nid, nid);
    ASSERT_EQ(out, (Destination{nid, 510, 223}));
  }
}

TEST(DvFormat, DestinationsOutOfRangeAreRefusedAndNothingIsWritten) {
  c_fab_addr dfa = address(0x12345678);
  std::uint32_t index_ext = 77;
  const auto refused = [&](std::uint32_t pid_bits, std::uint32_t nid, std::uint32_t pid,
                           std::uint32_t index) {
    const int err = cxidv_encode_dfa(pid_bits, nid, pid, index, &dfa, &index_ext);
    return err == EINVAL && cxidv_priv_dfa_word(dfa) == 0x12345678 && index_ext == 77;
  };
  for (std::uint32_t pid_bits : {0u, 5u, 10u, 32u, 0xffffffffu})
    EXPECT_TRUE(refused(pid_bits, 1, 1, 1)) << pid_bits;
  for (std::uint32_t pid_bits : all_pid_bits) {
    EXPECT_TRUE(refused(pid_bits, 1u << 20, 1, 1));
    EXPECT_TRUE(refused(pid_bits, UINT32_MAX, 1, 1));
    EXPECT_TRUE(refused(pid_bits, 1, (1u << pid_bits) - 1, 1)) << "stands for any PID";
    EXPECT_TRUE(refused(pid_bits, 1, UINT32_MAX, 1));
    EXPECT_TRUE(refused(pid_bits, 1, 1, 1u << (17 - pid_bits)));
    EXPECT_TRUE(refused(pid_bits, 1, 1, UINT32_MAX));
  }
  Destination out{7, 8, 9};
  EXPECT_EQ(cxidv_decode_dfa(9, address(1 << 12 | 511), 0, &out.nid, &out.pid, &out.index), EINVAL);
  EXPECT_EQ(cxidv_decode_dfa(9, address(1 << 12), 32, &out.nid, &out.pid, &out.index), EINVAL);
  EXPECT_EQ(cxidv_decode_dfa(5, address(1 << 12), 0, &out.nid, &out.pid, &out.index), EINVAL);
  EXPECT_EQ(out, (Destination{7, 8, 9}));
}

TEST(DvFormat, EveryMulticastGroupComesBack) {
  for (std::uint32_t id = 0; id < 1u << 13; id++)
    for (std::uint32_t reduction = 0; reduction < 8; reduction++) {
      c_fab_addr dfa;
      ASSERT_EQ(cxidv_encode_multicast_dfa(id, reduction, &dfa), 0);
      ASSERT_EQ(dfa.multicast.format, 0x1ffu);
      ASSERT_EQ(dfa.multicast.action, 7u);
      ASSERT_EQ(dfa.multicast.multicast_id, id);
      ASSERT_EQ(dfa.multicast.reduction_id, reduction);
      ASSERT_TRUE(cxidv_dfa_is_multicast(dfa));
      std::uint32_t id_back, reduction_back, nid, pid, index;
      ASSERT_EQ(cxidv_decode_multicast_dfa(dfa, &id_back, &reduction_back), 0);
      ASSERT_EQ(id_back, id);
      ASSERT_EQ(reduction_back, reduction);
      ASSERT_EQ(cxidv_decode_dfa(9, dfa, 0, &nid, &pid, &index), EINVAL);
    }
  c_fab_addr dfa = address(1);
  EXPECT_EQ(cxidv_encode_multicast_dfa(1 << 13, 0, &dfa), EINVAL);
  EXPECT_EQ(cxidv_encode_multicast_dfa(0, 8, &dfa), EINVAL);
  EXPECT_EQ(cxidv_priv_dfa_word(dfa), 1u);
}

TEST(DvFormat, OnlyEncodedMulticastAddressesDecode) {
  unsigned decoded = 0;
  for (std::uint32_t low = 0; low < 1u << 23; low++) {
    std::uint32_t id, reduction;
    const c_fab_addr dfa = address(0xff800000 | low);
    if (cxidv_decode_multicast_dfa(dfa, &id, &reduction)) continue;
    decoded++;
    c_fab_addr again;
    ASSERT_EQ(cxidv_encode_multicast_dfa(id, reduction, &again), 0);
    ASSERT_EQ(cxidv_priv_dfa_word(again), 0xff800000 | low);
  }
  EXPECT_EQ(decoded, 1u << 16);
  std::uint32_t id = 5, reduction = 6;
  EXPECT_EQ(cxidv_decode_multicast_dfa(address(0x7f800007), &id, &reduction), EINVAL);
  EXPECT_EQ(id, 5u);
}

TEST(DvFormat, MulticastIndices) {
  for (std::uint32_t index = 0; index < 1u << 18; index++) {
    std::uint32_t id, index_ext, again;
    ASSERT_EQ(cxidv_decode_multicast_index(index, &id, &index_ext), 0);
    ASSERT_EQ(id, index >> 5);
    ASSERT_EQ(index_ext, index & 31);
    ASSERT_EQ(cxidv_encode_multicast_index(id, index_ext, &again), 0);
    ASSERT_EQ(again, index);
  }
  std::uint32_t a = 1, b = 2;
  EXPECT_EQ(cxidv_decode_multicast_index(1 << 18, &a, &b), EINVAL);
  EXPECT_EQ(cxidv_encode_multicast_index(1 << 13, 0, &a), EINVAL);
  EXPECT_EQ(cxidv_encode_multicast_index(0, 32, &a), EINVAL);
  EXPECT_EQ(a, 1u);
  EXPECT_EQ(b, 2u);
}

TEST(DvFormat, InitiatorsAndMatchIds) {
  std::mt19937 chance(1);
  for (std::uint32_t pid_bits : all_pid_bits) {
    const std::uint32_t any_pid = (1u << pid_bits) - 1, any_ep = UINT32_MAX >> pid_bits;
    for (std::uint32_t pid = 0; pid <= any_pid; pid++)
      for (int i = 0; i < 200; i++) {
        constexpr std::uint32_t edges[] = {0, 1, C_NID_ANY, 0x7fffff, 0x7ffffe};
        const std::uint32_t ep = i < 5 ? edges[i] & any_ep : i == 5 ? any_ep : chance() & any_ep;
        const std::uint32_t value = pid << (32 - pid_bits) | ep;
        std::uint32_t pid_back = 1, ep_back = 2, again = 3;
        const bool wild = pid == any_pid || ep == any_ep;
        ASSERT_EQ(cxidv_decode_initiator(pid_bits, value, &pid_back, &ep_back), wild ? EINVAL : 0);
        ASSERT_EQ(cxidv_encode_initiator(pid_bits, pid, ep, &again), wild ? EINVAL : 0);
        if (wild) {
          ASSERT_EQ(pid_back, 1u);
          ASSERT_EQ(ep_back, 2u);
          ASSERT_EQ(again, 3u);
        } else {
          ASSERT_EQ(pid_back, pid);
          ASSERT_EQ(ep_back, ep);
          ASSERT_EQ(again, value);
        }
        ASSERT_EQ(cxidv_decode_match_id(pid_bits, value, &pid_back, &ep_back), 0);
        ASSERT_EQ(pid_back, pid == any_pid ? CXIDV_ANY : pid);
        ASSERT_EQ(ep_back, ep == any_ep ? CXIDV_ANY : ep);
        ASSERT_EQ(cxidv_encode_match_id(pid_bits, pid_back, ep_back, &again), 0);
        ASSERT_EQ(again, value);
      }
    std::uint32_t value = 5;
    EXPECT_EQ(cxidv_encode_match_id(pid_bits, CXIDV_ANY, CXIDV_ANY, &value), 0);
    EXPECT_EQ(value, CXIDV_MATCH_ID_ANY);
    value = 5;
    EXPECT_EQ(cxidv_encode_match_id(pid_bits, any_pid, 0, &value), EINVAL);
    EXPECT_EQ(cxidv_encode_match_id(pid_bits, 1u << pid_bits, 0, &value), EINVAL);
    EXPECT_EQ(cxidv_encode_match_id(pid_bits, 0, any_ep, &value), EINVAL);
    EXPECT_EQ(cxidv_encode_match_id(pid_bits, 0, any_ep + 1, &value), EINVAL);
    EXPECT_EQ(cxidv_encode_initiator(pid_bits, CXIDV_ANY, 0, &value), EINVAL);
    EXPECT_EQ(cxidv_encode_initiator(pid_bits, 0, CXIDV_ANY, &value), EINVAL);
    EXPECT_EQ(value, 5u);
  }
  std::uint32_t value = 5, other = 6;
  for (std::uint32_t pid_bits : {0u, 5u, 10u, 32u}) {
    EXPECT_EQ(cxidv_encode_match_id(pid_bits, 0, 0, &value), EINVAL);
    EXPECT_EQ(cxidv_encode_initiator(pid_bits, 0, 0, &value), EINVAL);
    EXPECT_EQ(cxidv_decode_match_id(pid_bits, 0, &value, &other), EINVAL);
    EXPECT_EQ(cxidv_decode_initiator(pid_bits, 0, &value, &other), EINVAL);
  }
  EXPECT_EQ(value, 5u);
}

bool same(const cxidv_rkey& a, const cxidv_rkey& b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

TEST(DvFormat, KeysAreThoseOfTheDriver) {
  EXPECT_EQ(CXIDV_RKEY_FIRST_INDEX, CXI_ABI_INDEX_INDEXED);
  EXPECT_EQ(CXIDV_RKEY_NUM_INDEX, CXI_ABI_NUM_INDEXED);
  EXPECT_EQ(CXIDV_RKEY_NUM_RI, CXI_ABI_NUM_RI);
  std::uint64_t key = 0;
  cxidv_rkey parts = {};
  parts.flags = CXIDV_RKEY_DRIVER;
  parts.value = (1u << 30) - 1;
  EXPECT_EQ(cxidv_encode_rkey(&parts, &key), 0);
  EXPECT_EQ(key, CXI_ABI_RKEY_DRIVER | 0x3fffffff);
  parts.flags |= CXIDV_RKEY_IMMEDIATE;
  EXPECT_EQ(cxidv_encode_rkey(&parts, &key), 0);
  EXPECT_EQ(key, CXI_ABI_RKEY_DRIVER | CXI_ABI_RKEY_IMMEDIATE | 0x3fffffff);
  parts.flags |= CXIDV_RKEY_ATOMIC;
  EXPECT_EQ(cxidv_encode_rkey(&parts, &key), 0);
  EXPECT_EQ(key, CXI_ABI_RKEY_DRIVER | CXI_ABI_RKEY_IMMEDIATE | CXI_ABI_RKEY_ATOMIC | 0x3fffffff);
  parts = {.value = 5,
           .flags = CXIDV_RKEY_DRIVER | CXIDV_RKEY_INDEXED,
           .index = 96 + 7,
           .ri = 33,
           .reserved = 0};
  EXPECT_EQ(cxidv_encode_rkey(&parts, &key), 0);
  EXPECT_EQ(key, CXI_ABI_RKEY_DRIVER | CXI_ABI_RKEY_INDEXED |
                     std::uint64_t{33} << CXI_ABI_RKEY_RI_SHIFT | 5u << CXI_ABI_RKEY_INDEX_BITS |
                     7);
  const RemoteKey taken = take_remote_key(key & ~(std::uint64_t{63} << CXI_ABI_RKEY_RI_SHIFT), 33);
  EXPECT_TRUE(taken.possible);
  EXPECT_EQ(taken.match_bits, key);
  EXPECT_EQ(taken.index, 7u);
}

TEST(DvFormat, KeysComeBackWholeAndNothingElseDecodes) {
  std::mt19937_64 chance(2);
  for (int i = 0; i < 300000; i++) {
    // Random bits, and often few of them, so that every form is met.
    std::uint64_t key = chance();
    if (i & 1) key &= 0xf00000003fffffff | (i & 2 ? std::uint64_t{63} << 30 : 0);
    cxidv_rkey parts = {};
    const int err = cxidv_decode_rkey(key, &parts);
    const bool driver = key & CXI_ABI_RKEY_DRIVER, indexed = key & CXI_ABI_RKEY_INDEXED;
    const std::uint64_t body = key & CXI_ABI_RKEY_USER_MASK;
    const bool good = !driver    ? !indexed
                      : !indexed ? body >> 30 == 0
                                 : body >> 36 == 0 && (body & 31) < 31 && body >> 30 < 48;
    ASSERT_EQ(err, good ? 0 : EINVAL) << std::hex << key;
    if (err) {
      ASSERT_TRUE(same(parts, {})) << "nothing is written";
      continue;
    }
    std::uint64_t again = 0;
    ASSERT_EQ(cxidv_encode_rkey(&parts, &again), 0);
    ASSERT_EQ(again, key);
    // What the provider takes apart for an access is the same.
    if (!(key & (CXI_ABI_RKEY_IMMEDIATE | CXI_ABI_RKEY_ATOMIC)) && !parts.ri) {
      const RemoteKey taken = take_remote_key(key, 0);
      ASSERT_TRUE(taken.possible);
      ASSERT_EQ(taken.indexed, indexed);
      if (indexed) {
        ASSERT_EQ(taken.index + 96, parts.index);
      }
    }
  }
}

TEST(DvFormat, KeysOutOfRangeAreRefused) {
  const auto refused = [](cxidv_rkey parts) {
    std::uint64_t key = 17;
    return cxidv_encode_rkey(&parts, &key) == EINVAL && key == 17;
  };
  constexpr std::uint32_t driver = CXIDV_RKEY_DRIVER, indexed = driver | CXIDV_RKEY_INDEXED;
  EXPECT_TRUE(refused({std::uint64_t{1} << 60, 0, 0, 0, 0}));
  EXPECT_TRUE(refused({1 << 30, driver, 0, 0, 0}));
  EXPECT_TRUE(refused({1 << 25, indexed, 96, 0, 0}));
  EXPECT_TRUE(refused({0, indexed, 95, 0, 0}));
  EXPECT_TRUE(refused({0, indexed, 127, 0, 0}));
  EXPECT_TRUE(refused({0, indexed, 0, 0, 0}));
  EXPECT_TRUE(refused({0, indexed, 96, 48, 0}));
  EXPECT_TRUE(refused({0, driver, 96, 0, 0}));
  EXPECT_TRUE(refused({0, driver, 0, 1, 0}));
  EXPECT_TRUE(refused({0, CXIDV_RKEY_INDEXED, 96, 0, 0}));
  EXPECT_TRUE(refused({0, 16, 0, 0, 0}));
  EXPECT_TRUE(refused({0, driver, 0, 0, 1}));
}

TEST(DvFormat, ShortKeysWidenAsTheProviderWidensThem) {
  std::mt19937 chance(3);
  for (int i = 0; i < 100000; i++) {
    const std::uint32_t key32 = i < 4 ? static_cast<std::uint32_t>(i) << 30 : chance();
    const std::uint64_t key = cxidv_widen_rkey(key32);
    ASSERT_EQ(key, widen_remote_key(key32));
    std::uint32_t again = ~key32;
    ASSERT_EQ(cxidv_narrow_rkey(key, &again), 0);
    ASSERT_EQ(again, key32);
  }
  for (unsigned bit = 0; bit < 64; bit++) {
    std::uint32_t key32 = 17;
    const bool has_form = bit < 30 || bit == 61 || bit == 63;
    EXPECT_EQ(cxidv_narrow_rkey(std::uint64_t{1} << bit, &key32), has_form ? 0 : EINVAL) << bit;
    if (!has_form) {
      EXPECT_EQ(key32, 17u);
    }
  }
}

cxidv_le_attr random_entry(std::mt19937_64& chance) {
  cxidv_le_attr attr = {};
  attr.ptn = chance() & 2047;
  attr.list = chance() & 3;
  attr.flags = chance() & 0xffff;
  attr.buffer_id = chance() & 0xffff;
  attr.start = chance() >> 7;
  attr.length = chance() & 7 ? chance() >> 8 : CXIDV_LE_UNLIMITED;
  attr.match_bits = chance();
  attr.ignore_bits = chance();
  attr.match_id = static_cast<std::uint32_t>(chance());
  attr.min_free = chance() & 0xffffff;
  attr.lac = chance() & 7;
  attr.ct = chance() & 2047;
  return attr;
}

/// The command as the field types of the tables read it.
template <class F>
std::uint64_t field(const c_target_cmd& command) {
  return F::get(reinterpret_cast<const std::byte*>(&command));
}

TEST(DvFormat, ListEntriesComeBackWhole) {
  std::mt19937_64 chance(4);
  using C = cassini::c_target_cmd;
  for (int i = 0; i < 50000; i++) {
    const cxidv_le_attr attr = random_entry(chance);
    c_target_cmd command;
    std::memset(&command, 0xff, sizeof(command));
    ASSERT_EQ(cxidv_build_le(&attr, &command), 0);
    cxidv_le_attr again;
    std::memset(&again, 0xff, sizeof(again));
    cxidv_read_le(&command, &again);
    ASSERT_EQ(std::memcmp(&again, &attr, sizeof(attr)), 0);
    ASSERT_EQ(field<C::ptlte_index>(command), attr.ptn);
    ASSERT_EQ(field<C::ptl_list>(command), attr.list);
    ASSERT_EQ(field<C::buffer_id>(command), attr.buffer_id);
    ASSERT_EQ(field<C::start>(command), attr.start);
    ASSERT_EQ(field<C::length>(command), attr.length & ((std::uint64_t{1} << 56) - 1));
    ASSERT_EQ(field<C::match_bits>(command), attr.match_bits);
    ASSERT_EQ(field<C::ignore_bits>(command), attr.ignore_bits);
    ASSERT_EQ(field<C::match_id>(command), attr.match_id);
    ASSERT_EQ(field<C::min_free>(command), attr.min_free);
    ASSERT_EQ(field<C::lac>(command), attr.lac);
    ASSERT_EQ(field<C::ct>(command), attr.ct);
    ASSERT_EQ(field<C::op_put>(command), attr.flags >> 14 & 1);
    ASSERT_EQ(field<C::op_get>(command), attr.flags >> 13 & 1);
    ASSERT_EQ(field<C::restart_seq>(command), attr.flags >> 15 & 1);
  }
}

TEST(DvFormat, EveryFlagOfAnEntryIsOneBit) {
  using C = cassini::c_target_cmd;
  const auto command_of = [](std::uint32_t flags) {
    cxidv_le_attr attr = {};
    attr.flags = flags;
    c_target_cmd command;
    EXPECT_EQ(cxidv_build_le(&attr, &command), 0);
    return command;
  };
  EXPECT_EQ(field<C::event_ct_bytes>(command_of(C_LE_EVENT_CT_BYTES)), 1u);
  EXPECT_EQ(field<C::event_ct_overflow>(command_of(C_LE_EVENT_CT_OVERFLOW)), 1u);
  EXPECT_EQ(field<C::event_ct_comm>(command_of(C_LE_EVENT_CT_COMM)), 1u);
  EXPECT_EQ(field<C::event_unlink_disable>(command_of(C_LE_EVENT_UNLINK_DISABLE)), 1u);
  EXPECT_EQ(field<C::event_success_disable>(command_of(C_LE_EVENT_SUCCESS_DISABLE)), 1u);
  EXPECT_EQ(field<C::event_comm_disable>(command_of(C_LE_EVENT_COMM_DISABLE)), 1u);
  EXPECT_EQ(field<C::event_link_disable>(command_of(C_LE_EVENT_LINK_DISABLE)), 1u);
  EXPECT_EQ(field<C::unrestricted_end_ro>(command_of(C_LE_UNRESTRICTED_END_RO)), 1u);
  EXPECT_EQ(field<C::unrestricted_body_ro>(command_of(C_LE_UNRESTRICTED_BODY_RO)), 1u);
  EXPECT_EQ(field<C::unexpected_hdr_disable>(command_of(C_LE_UNEXPECTED_HDR_DISABLE)), 1u);
  EXPECT_EQ(field<C::use_once>(command_of(C_LE_USE_ONCE)), 1u);
  EXPECT_EQ(field<C::no_truncate>(command_of(C_LE_NO_TRUNCATE)), 1u);
  EXPECT_EQ(field<C::manage_local>(command_of(C_LE_MANAGE_LOCAL)), 1u);
  EXPECT_EQ(field<C::op_get>(command_of(C_LE_OP_GET)), 1u);
  EXPECT_EQ(field<C::op_put>(command_of(C_LE_OP_PUT)), 1u);
  EXPECT_EQ(field<C::restart_seq>(command_of(C_LE_RESTART_SEQ)), 1u);
  for (unsigned bit = 0; bit < 16; bit++) {
    const c_target_cmd command = command_of(1u << bit);
    std::array<std::uint8_t, sizeof(command)> bytes;
    std::memcpy(bytes.data(), &command, sizeof(command));
    int bits = 0;
    for (std::uint8_t byte : bytes)
      bits += std::popcount(byte);
    EXPECT_EQ(bits, 1) << bit;
  }
}

TEST(DvFormat, EntriesOutOfRangeAreRefused) {
  const auto refused = [](auto change) {
    cxidv_le_attr attr = {};
    change(attr);
    c_target_cmd command, before;
    std::memset(&command, 0xa5, sizeof(command));
    before = command;
    return cxidv_build_le(&attr, &command) == EINVAL &&
           std::memcmp(&command, &before, sizeof(before)) == 0;
  };
  EXPECT_TRUE(refused([](auto& a) { a.ptn = 2048; }));
  EXPECT_TRUE(refused([](auto& a) { a.list = 4; }));
  EXPECT_TRUE(refused([](auto& a) { a.flags = 1 << 16; }));
  EXPECT_TRUE(refused([](auto& a) { a.buffer_id = 1 << 16; }));
  EXPECT_TRUE(refused([](auto& a) { a.start = std::uint64_t{1} << 57; }));
  EXPECT_TRUE(refused([](auto& a) { a.length = (std::uint64_t{1} << 56) - 1; }))
      << "is how unlimited is written";
  EXPECT_TRUE(refused([](auto& a) { a.length = UINT64_MAX - 1; }));
  EXPECT_TRUE(refused([](auto& a) { a.min_free = 1 << 24; }));
  EXPECT_TRUE(refused([](auto& a) { a.lac = 8; }));
  EXPECT_TRUE(refused([](auto& a) { a.ct = 2048; }));
}

TEST(DvFormat, RendezvousPointersComeBack) {
  std::mt19937_64 chance(5);
  for (int i = 0; i < 100000; i++) {
    const std::uint64_t value = i < 64 ? std::uint64_t{1} << i : chance();
    cxidv_rdzv parts = {};
    cxidv_decode_rdzv_user_ptr(value, &parts);
    std::uint64_t again = 0;
    ASSERT_EQ(cxidv_encode_rdzv_user_ptr(&parts, &again), 0);
    ASSERT_EQ(again, value);
    cxi_rdzv_user_ptr hardware;
    hardware.raw = value;
    ASSERT_EQ(parts.src_nid, hardware.src_nid);
    ASSERT_EQ(parts.src_pid, hardware.src_pid);
    ASSERT_EQ(parts.ptn, hardware.ptlte_index);
    ASSERT_EQ(parts.rendezvous_id, hardware.rendezvous_id);
    ASSERT_EQ(parts.buffer_id, hardware.buffer_id);
  }
  const auto refused = [](cxidv_rdzv parts) {
    std::uint64_t value = 17;
    return cxidv_encode_rdzv_user_ptr(&parts, &value) == EINVAL && value == 17;
  };
  EXPECT_TRUE(refused({1 << 20, 0, 0, 0, 0}));
  EXPECT_TRUE(refused({0, 512, 0, 0, 0}));
  EXPECT_TRUE(refused({0, 0, 2048, 0, 0}));
  EXPECT_TRUE(refused({0, 0, 0, 256, 0}));
  EXPECT_TRUE(refused({0, 0, 0, 0, 1 << 16}));
}

TEST(DvFormat, RendezvousMatchBits) {
  for (std::uint32_t id = 0; id < 256; id++)
    for (std::uint64_t top : {0x0ull, 0xffffull, 0x1234ull}) {
      std::uint64_t bits = 0, put_bits = 0;
      ASSERT_EQ(cxidv_encode_rdzv_match_bits(top << 48 | 0xabcdef, id, &bits), 0);
      cxi_rdzv_match_bits hardware;
      hardware.raw = bits;
      ASSERT_EQ(hardware.rendezvous_id, id);
      ASSERT_EQ(hardware.transaction_type, 0xfu);
      ASSERT_EQ(hardware.unused, 0u);
      ASSERT_EQ(hardware.match_bits, top);
      std::uint32_t id_back = 0;
      ASSERT_EQ(cxidv_decode_rdzv_match_bits(bits, &put_bits, &id_back), 0);
      ASSERT_EQ(put_bits, top << 48);
      ASSERT_EQ(id_back, id);
    }
  std::uint64_t bits = 17, put_bits = 18;
  std::uint32_t id = 19;
  EXPECT_EQ(cxidv_encode_rdzv_match_bits(0, 256, &bits), EINVAL);
  EXPECT_EQ(cxidv_decode_rdzv_match_bits(0x1f00, &put_bits, &id), EINVAL);
  EXPECT_EQ(cxidv_decode_rdzv_match_bits(0xe00, &put_bits, &id), EINVAL);
  EXPECT_EQ(bits, 17u);
  EXPECT_EQ(put_bits, 18u);
  EXPECT_EQ(id, 19u);
}

}  // namespace
}  // namespace cxi
