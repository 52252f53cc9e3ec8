// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// One process that sends to itself by direct verbs, for tests in front of the software NIC.
#pragma once

#include <deque>
#include <numeric>

#include "dv_on_model.hpp"

namespace on_model {

constexpr std::uint32_t matching = 5, plain = 6;  // portal indices
constexpr std::uint32_t both = C_LE_OP_PUT | C_LE_OP_GET;

class Datapath : public Native {
 protected:
  Datapath() : pte(prepare()) {}
  PtePtr& prepare() {
    EXPECT_EQ(cxidv_query_device(context.get(), &device, sizeof device), 0);
    memory.resize(65536);
    std::iota(memory.begin(), memory.begin() + 32768, std::uint8_t{1});
    cxidv_md_attr attr = {};
    attr.addr = memory.data();
    attr.length = memory.size();
    attr.flags = CXIDV_MD_READ | CXIDV_MD_WRITE;
    md = MdPtr(made(cxidv_map_md(lni.get(), &attr), "map md"));
    cp = make_cp(lni);
    sends = make_eq(lni);
    arrivals = make_eq(lni);
    transmit = CmdqPtr(made(try_transmit_queue(lni, cp.get()), "transmit queue"));
    target = make_target_queue(lni, arrivals.get());
    domain = make_domain(lni);
    return enabled(CXIDV_PTE_MATCHING | CXIDV_PTE_LONG_EVENTS, matching);
  }
  ~Datapath() override {
    for (const Place& place : places)
      EXPECT_EQ(cxidv_unmap_pte(place.pte, place.domain, place.index, 0), 0);
  }

  void map(const PtePtr& entry, const DomainPtr& at, std::uint32_t index) {
    ASSERT_EQ(cxidv_map_pte(entry.get(), at.get(), index, 0), 0);
    places.push_back({entry.get(), at.get(), index});
  }
  /// A portal entry at an index. The fixture keeps it, since what is mapped cannot go.
  PtePtr& enabled(std::uint32_t flags, std::uint32_t index) {
    PtePtr& one = entries.emplace_back(make_pte(lni, arrivals.get(), flags));
    map(one, domain, index);
    EXPECT_EQ(set_state(target, one, C_PTLTE_ENABLED), 0);
    EXPECT_EQ(take(arrivals, C_EVENT_STATE_CHANGE).tgt_long.return_code, unsigned{C_RC_OK});
    return one;
  }

  /// The next event, which must be of that type; acknowledged.
  static c_event take(const EqPtr& eq, unsigned type) {
    c_event copy = {};
    const c_event* event = next(eq);
    std::memcpy(&copy, event, cxidv_event_bytes(event));
    cxidv_eq_ack(eq.get());
    EXPECT_EQ(cxidv_event_type(&copy), type);
    return copy;
  }
  /// The same, and it says OK.
  static c_event take_ok(const EqPtr& eq, unsigned type) {
    const c_event event = take(eq, type);
    EXPECT_EQ(cxidv_event_return_code(&event), unsigned{C_RC_OK}) << type;
    return event;
  }

  std::uint64_t iova(std::size_t offset) { return cxidv_md_iova(md.get(), &memory[offset]); }

  /// Puts an entry for [offset, offset + length) in a list of a portal entry, and waits for it.
  cxidv_le_attr entry(const PtePtr& of, std::uint32_t list, std::uint32_t buffer_id,
                      std::size_t offset, std::size_t length, std::uint32_t flags) {
    cxidv_le_attr attr = {};
    attr.ptn = of->ptn;
    attr.list = list;
    attr.flags = flags;
    attr.buffer_id = buffer_id;
    attr.start = iova(offset);
    attr.length = length;
    attr.match_bits = 0x1234;
    attr.match_id = CXIDV_MATCH_ID_ANY;
    attr.lac = md->lac;
    return attr;
  }
  c_target_cmd append(const cxidv_le_attr& attr) {
    c_target_cmd command = {};
    EXPECT_EQ(cxidv_build_le(&attr, &command), 0);
    EXPECT_EQ(cxidv_emit_append(target.get(), &command), 0);
    cxidv_cmdq_ring(target.get());
    return command;
  }
  c_target_cmd append_linked(const cxidv_le_attr& attr) {
    const c_target_cmd command = append(attr);
    EXPECT_EQ(take_ok(arrivals, C_EVENT_LINK).tgt_long.buffer_id, attr.buffer_id);
    return command;
  }

  std::uint32_t initiator() {
    std::uint32_t value = 0;
    EXPECT_EQ(cxidv_encode_initiator(device.pid_bits, domain->pid, device.nid, &value), 0);
    return value;
  }
  std::uint8_t address(c_fab_addr& dfa, std::uint32_t index) {
    std::uint32_t index_ext = 0;
    EXPECT_EQ(cxidv_encode_dfa(device.pid_bits, device.nid, domain->pid, index, &dfa, &index_ext),
              0);
    return static_cast<std::uint8_t>(index_ext);
  }
  template <class Command>
  Command dma(std::uint32_t index, std::size_t local, std::uint32_t length) {
    Command c = {};
    c.index_ext = address(c.dfa, index) & 31;
    c.lac = md->lac & 7;
    c.event_send_disable = 1;
    c.eq = sends->eqn & 2047;
    c.request_len = length;
    if constexpr (requires { c.local_addr; })
      c.local_addr = iova(local);
    else
      c.local_read_addr = iova(local);
    if constexpr (requires { c.match_bits; }) {
      c.initiator = initiator();
      c.match_bits = 0x1234;
      c.user_ptr = 0xabcdef;
    }
    return c;
  }
  bool same(std::size_t a, std::size_t b, std::size_t length) const {
    return std::memcmp(&memory[a], &memory[b], length) == 0;
  }

  struct Place {
    cxidv_pte* pte;
    cxidv_domain* domain;
    std::uint32_t index;
  };
  cxidv_device_attr device = {};
  std::vector<std::uint8_t> memory;
  MdPtr md;
  CpPtr cp;
  EqPtr sends, arrivals;
  CmdqPtr transmit, target;
  DomainPtr domain, second_domain;
  std::deque<PtePtr> entries;
  std::vector<Place> places;
  PtePtr& pte;
};

}  // namespace on_model
