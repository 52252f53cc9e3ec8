// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What the NIC counts, where it happens. Which of Cassini's counters reads which number is said in
// register_places.cpp. Counters of things that a model has not (caches, link errors, stalls,
// connections) have no number here and read as zero.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sim::nic {

using Count = uint64_t;

/// Bytes of a packet on the wire; the model's own packets are larger.
constexpr size_t wire_payload_bytes = 2048;
constexpr size_t wire_packets(size_t payload_bytes) {
  return payload_bytes == 0 ? 1 : (payload_bytes + wire_payload_bytes - 1) / wire_payload_bytes;
}

/// Where counters that Cassini keeps by traffic shaping class are counted: the four traffic
/// classes, then high-rate puts, restricted packets and collective leaves, by the DSCPs of
/// behaviour 3.3.
constexpr size_t high_rate_class = 4;
constexpr size_t traffic_class_of(unsigned dscp) {
  switch (dscp) {
    case 14:
      return 0;
    case 10:
      return 1;
    case 6:
      return 2;
    case 50:
      return high_rate_class;
    case 30:
      return 5;
    case 52:
      return 6;
    default:
      return 3;
  }
}

/// Frames in one direction: by the size of the frame, check sequence included.
struct FrameStatistics {
  /// The first size that belongs to the next class.
  static constexpr std::array<size_t, 12> size_limits = {28,  36,   64,   65,   128,  256,
                                                         512, 1024, 2048, 4096, 8192, SIZE_MAX};
  Count frames = 0, octets = 0, multicast = 0, multicast_octets = 0;
  std::array<Count, size_limits.size()> by_size{};

  void count(size_t header_bytes, size_t payload_bytes, bool to_many = false);

 private:
  void count_frames(size_t bytes, size_t how_many);
};

struct Statistics {
  struct {  // command queues, and the unit that triggers
    Count transmit_good = 0, transmit_bad = 0, target_good = 0, target_bad = 0;
    Count align_errors = 0, op_errors = 0, arg_errors = 0, perm_errors = 0;
    Count target_arg_errors = 0, target_perm_errors = 0;
    std::array<Count, 4> immediate{}, dma{}, queue{}, target{};  // by the queue's statistics pool
    std::array<Count, 16> dma_by_opcode{}, queue_by_opcode{}, counter_by_opcode{};
    Count triggering_good = 0, triggering_bad = 0, counter_updates = 0, bad_pointers = 0;
    std::array<Count, 4> triggered{};
  } commands;

  struct {  // transmit side, by traffic_class_of()
    std::array<Count, 10> put_messages{}, get_messages{}, put_packets{};
    Count multi_packet_messages = 0, high_rate_commands = 0;
    Count ordered_packets = 0, unordered_packets = 0, unanswered_packets = 0;
    Count no_translation = 0, invalid_context = 0, page_permission = 0;
    Count source_errors = 0, high_rate_answers = 0;
  } sending;

  struct {  // trackers of what is under way
    Count responses_sent = 0, responses_received = 0, responses_dropped = 0;
    Count responses_bad = 0, timeouts = 0, retried = 0;
    Count most_requests = 0, most_messages = 0;  // at a time
    Count messages_begun = 0, message_packets = 0, messages_cancelled = 0;
  } tracking;

  struct {  // what arrives
    Count unrestricted = 0, small_messages = 0, continuations = 0, restricted = 0, responses = 0;
    Count unrecognized = 0, messages = 0, multi_packet_messages = 0;
    Count puts = 0, puts_good = 0, atomics = 0, atomics_good = 0, gets = 0, gets_good = 0;
    Count writes = 0, flushes = 0;
    Count atomic_operations = 0, bus_atomics = 0, fetching_bus_atomics = 0;
    Count float_invalid = 0, float_overflow = 0, float_underflow = 0, float_inexact = 0;
    Count atomic_misaligned = 0, atomic_bad_operation = 0, atomic_bad_length = 0;
    Count portal_found = 0, vni_unknown = 0, portal_unknown = 0, dropped_by_portal = 0;
  } arriving;

  struct {  // list processing
    Count good = 0, bad = 0;
    Count puts = 0, rendezvous_puts = 0, gets = 0, atomics = 0, fetching_atomics = 0;
    std::array<Count, 4> disabled_by_reason{}, not_found_by_reason{};  // by enum c_sc_reason
    Count op_violation = 0, unlink_not_found = 0, no_space_append = 0, no_space_net = 0;
    Count search_no_match = 0, set_state_no_match = 0, source_errors = 0, software_managed = 0;
    Count illegal_op = 0, restricted_unicast = 0;
    std::array<Count, 32> events{};  // by enum c_event_type
    struct Search {
      Count asked = 0, found = 0, not_found = 0;
    };
    Search search, search_delete;
    Count any_nid = 0, any_pid = 0, any_rank = 0;  // searches with such wildcards
    Count unlinks = 0, unlinks_good = 0, appends = 0, appends_good = 0;
    Count set_states = 0, set_states_good = 0;
    Count match_requests = 0, matches = 0, use_once = 0, locally_managed = 0;
    std::array<Count, 3> matches_by_list{};                  // by enum c_ptl_list
    std::array<Count, 4> match_attempts{}, most_attempts{};  // by processing element
    Count rendezvous_offloaded = 0, truncated = 0, unexpected_get_atomic = 0;
  } lists;

  struct {  // event queues
    Count enqueued = 0, dropped_flow_control = 0, dropped_ordinary = 0;
    Count ring_switches = 0, deferred_switches = 0, status_updates = 0, to_no_queue = 0;
    std::array<Count, 32> by_type{};  // by enum c_event_type
  } events;

  struct {  // translations asked for, by whom
    Count sending = 0, arriving = 0, refused = 0;
  } addresses;

  FrameStatistics sent, received;
};

}  // namespace sim::nic
