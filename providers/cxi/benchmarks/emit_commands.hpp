// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What the benchmark sends: commands as a program fills them, most members from variables. Needs
// the structures of ethernet/cassini_user_defs.h, and nothing else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace emission {

struct Request {
  std::uint64_t local, remote, match_bits, user_ptr;
  std::uint32_t dfa, length;
};

inline const std::array<Request, 64>& requests() {
  static const auto all = [] {
    std::array<Request, 64> made{};
    std::uint64_t seed = 1;
    const auto next = [&] {
      return (seed = seed * 6364136223846793005u + 1442695040888963407u) >> 8;
    };
    for (Request& r : made)
      r = {next(),
           next(),
           next(),
           next(),
           static_cast<std::uint32_t>(next()),
           static_cast<std::uint32_t>(next())};
    return made;
  }();
  return all;
}

template <class Command>
void set_dfa(Command& c, const Request& r) {
  std::memcpy(&c.dfa, &r.dfa, sizeof(c.dfa));
}

constexpr std::uint64_t bits56 = (std::uint64_t{1} << 56) - 1;
constexpr std::uint64_t bits57 = (std::uint64_t{1} << 57) - 1;

template <class Command>
void fill_transfer(Command& c, const Request& r) {
  std::memset(&c, 0, sizeof(c));
  set_dfa(c, r);
  c.index_ext = 3;
  c.lac = 1;
  c.event_send_disable = 1;
  c.remote_offset = r.remote & bits56;
  c.local_addr = r.local & bits57;
  c.request_len = r.length;
  c.eq = 17;
}

inline void fill(c_nomatch_dma_cmd& c, const Request& r) {
  fill_transfer(c, r);
}

inline void fill(c_full_dma_cmd& c, const Request& r) {
  fill_transfer(c, r);
  c.initiator = 0x12345;
  c.match_bits = r.match_bits;
  c.user_ptr = r.user_ptr;
}

inline void fill(c_dma_amo_cmd& c, const Request& r) {
  std::memset(&c, 0, sizeof(c));
  set_dfa(c, r);
  c.index_ext = 3;
  c.lac = 1;
  c.event_send_disable = 1;
  c.remote_offset = r.remote & bits56;
  c.local_read_addr = r.local & bits57;
  c.request_len = 8;
  c.eq = 17;
  c.initiator = 0x12345;
  c.match_bits = r.match_bits;
  c.user_ptr = r.user_ptr;
  c.local_write_addr = r.remote & bits57;
  c.atomic_op = C_AMO_OP_SUM;
  c.atomic_type = C_AMO_TYPE_UINT64_T;
  c.write_lac = 2;
}

inline void fill(c_idc_msg_hdr& c, const Request& r) {
  std::memset(&c, 0, sizeof(c));
  set_dfa(c, r);
  c.match_bits = r.match_bits;
  c.header_data = r.remote;
  c.user_ptr = r.user_ptr;
}

inline void fill(c_cstate_cmd& c, const Request& r) {
  std::memset(&c, 0, sizeof(c));
  c.event_send_disable = 1;
  c.initiator = r.length;
  c.index_ext = 3;
  c.user_ptr = r.user_ptr;
  c.eq = 17;
}

inline void fill(c_ct_cmd& c, const Request& r) {
  std::memset(&c, 0, sizeof(c));
  c.ct = 5;
  c.set_ct_success = 1;
  c.ct_success = r.length;
}

inline void fill(c_target_cmd& c, const Request& r) {
  std::memset(&c, 0, sizeof(c));
  c.ptl_list = C_PTL_LIST_PRIORITY;
  c.ptlte_index = 7;
  c.event_link_disable = 1;
  c.use_once = 1;
  c.op_put = 1;
  c.buffer_id = static_cast<std::uint16_t>(r.length);
  c.lac = 1;
  c.start = r.local & bits57;
  c.length = r.length;
  c.match_id = 0xffffffff;
  c.match_bits = r.match_bits;
}

}  // namespace emission
