// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The engine behind nic::Device: one class with the NIC's state, its work spread by duty over
//   device.cpp            resources, as the driver makes them
//   scheduler.cpp         which queue, packet or timer is looked at when
//   transmit.cpp          commands of transmit queues are checked
//   sending.cpp           and become requests, of one packet or several
//   completion.cpp        responses become initiator events and counts
//   receive.cpp           a request finds its list entry
//   delivery.cpp          its data moves, its events are posted, its answer goes out
//   target_commands.cpp   commands of target queues
//   counters.cpp          counting events and what they trigger
//   device_registers.cpp  registers whose values the model knows
#pragma once

#include <array>
#include <bitset>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "fabric/fabric.hpp"
#include "nic/address_context.hpp"
#include "nic/command_parse.hpp"
#include "nic/command_ring.hpp"
#include "nic/counting_event.hpp"
#include "nic/device.hpp"
#include "nic/event_queue.hpp"
#include "nic/events.hpp"
#include "nic/list_matching.hpp"
#include "nic/packets.hpp"
#include "nic/portal_table.hpp"
#include "nic/registers.hpp"
#include "nic/statistics.hpp"
#include "nic/wire.hpp"

namespace sim::nic {

constexpr unsigned no_queue = 0xffff;
constexpr uint16_t no_message = 0xffff;
constexpr size_t piece_bytes = size_t{512} << 10;  // largest payload of one of the model's packets

/// A command that has been sent and not answered: an entry of the source packet tracker.
struct Message {
  bool busy = false;
  bool no_match = false;    // only errors make events
  bool rendezvous = false;  // a get that the NIC itself issued
  bool sent = false;        // its data has left local memory
  bool retried = false;     // a packet of it had to wait for its peer
  uint8_t opcode = 0;
  uint8_t lac = 0;       // of the memory that a reply's data goes to
  uint8_t local_rc = 0;  // an error on this side, which outweighs the answer
  uint16_t queue = no_queue;
  uint16_t rgid = 0;
  uint16_t seq = 0;
  uint16_t parent = no_message;  // of which this is a part
  uint16_t pte = 0;              // whose rendezvous this get is for
  uint16_t parts = 0;            // not answered yet, of a restricted transfer in several packets
  bool all_sent = false;         // no further part follows
  bool parts_by_target = false;  // who is to blame for local_rc
  uint32_t peer = 0;
  uint32_t request_len = 0;
  uint32_t placed = 0;       // bytes of the reply that have been written; bytes done, of all parts
  uint64_t local = 0;        // address for a reply's data
  uint64_t progress_ns = 0;  // when something was last heard or sent
  CommandOptions options;
};

/// A transfer of several packets while it is being sent.
struct Sending {
  uint16_t spt = 0;
  uint16_t queue = no_queue;
  uint8_t lac = 0;
  uint32_t offset = 0, length = 0;  // of the data that goes out, or is asked for piece by piece
  uint64_t local = 0;
  Request request;
};

struct CommandQueue {
  CommandQueue(unsigned i, unsigned group, const CmdqConfig& c)
      : index(i), rgid(group), config(c), ring(c.ring, c.launch, c.policy), lcid(c.lcid) {}

  unsigned index;
  unsigned rgid;
  CmdqConfig config;
  CommandRing ring;
  unsigned lcid;
  CommandOptions state;  // what CSTATE loaded
  unsigned outstanding = 0;
  bool fence = false;
  bool noop_must_follow = false;  // the second half of an LCID change
  bool failed = false, stopped = false;
  bool listed = false;   // in the list of queues with work
  bool sending = false;  // a transfer in several packets goes first
};

/// A message that has found its list entry: all that is needed once the entry may be gone.
struct Delivery {
  uint16_t pte = 0;
  uint16_t rgid = 0;
  uint16_t buffer_id = 0;
  uint16_t ct = 0;
  uint16_t promised = 0;  // event slots still promised to it
  uint8_t list = 0;
  uint8_t lac = 0;
  bool auto_unlinked = false;
  bool comm_event = false;     // may post its event at all
  bool success_event = false;  // also when nothing went wrong
  bool count = false, count_bytes = false;
  bool rendezvous_event = false;
  bool no_answer = false;  // multicast
  bool has_fetched = false;
  uint8_t raw_header = 0;    // bytes of the packet header in front of the payload
  uint32_t last_offset = 0;  // of the data that goes with the final answer to a get
  uint64_t heard_ns = 0;     // when its last packet came
  std::array<std::byte, 16> fetched{};
  uint64_t address = 0;  // first byte placed or read
  uint64_t space = 0;    // of the entry from there, for a rendezvous
  uint32_t mlength = 0;  // of the data that comes with the message
  uint32_t received = 0;
  int return_code = 0;
  Request request;
  AtomicOperands operands;
};

/// A get whose data is being sent back.
struct Serving {
  Delivery delivery;
  uint32_t offset = 0;
};

class Nic final : public Device, private fabric::Endpoint {
 public:
  Nic(const DeviceConfig& config, fabric::Fabric& fabric, Clock& clock, Trace& trace,
      Interrupts& interrupts);
  ~Nic() override;
  bool attached() const { return attached_; }

  const DeviceConfig& config() const override { return config_; }
  Made<unsigned> alloc_rgid(std::shared_ptr<TriggeredEntries> triggered) override;
  void free_rgid(unsigned rgid) override;
  int set_cp(unsigned rgid, unsigned lcid, uint16_t vni, unsigned tc, unsigned tc_type) override;
  void clear_cp(unsigned rgid, unsigned lcid) override;
  Made<Mapping> map_memory(unsigned rgid, std::shared_ptr<GuestMemory> memory, uint64_t va,
                           uint64_t len, bool nic_reads, bool nic_writes) override;
  Made<Mapping> map_pages(unsigned rgid, SharedPages pages) override;
  void unmap_memory(unsigned rgid, unsigned id) override;
  Made<unsigned> create_eq(unsigned rgid, const EqConfig& config) override;
  void destroy_eq(unsigned eqn) override;
  Made<unsigned> adjust_eq_reserve(unsigned eqn, int delta) override;
  void poke_eq(unsigned eqn) override;
  void tell_every_event(unsigned eqn, bool every) override;
  int add_eq_wake(unsigned eqn, unsigned wakes) override;
  void remove_eq_wake(unsigned eqn, unsigned wakes) override;
  int begin_eq_resize(unsigned eqn, SharedPages ring) override;
  int complete_eq_resize(unsigned eqn) override;
  Made<unsigned> create_cmdq(unsigned rgid, const CmdqConfig& config) override;
  void stop_cmdq(unsigned index) override;
  void restart_cmdq(unsigned index) override;
  void destroy_cmdq(unsigned index) override;
  Made<unsigned> create_pte(unsigned rgid, const PteConfig& config) override;
  void destroy_pte(unsigned pte) override;
  void keep_entries(unsigned pte, int delta) override;
  int set_pte_state(unsigned pte, PteState state, uint32_t drop_count) override;
  Made<PteStatus> query_pte(unsigned pte) override;
  unsigned unexpected_offsets(unsigned pte, std::span<uint64_t> out) override;
  int append(unsigned pte, const ListEntry& entry) override;
  void reset_lists(unsigned pte) override;
  int invalidate_le(unsigned pte, unsigned list, unsigned buffer_id) override;
  int map_portal(unsigned pte, uint16_t vni, unsigned pid, unsigned index) override;
  int map_multicast(unsigned pte, uint16_t vni, uint32_t mcast) override;
  void unmap_portal(uint16_t vni, unsigned pid, unsigned index) override;
  void unmap_multicast(unsigned pte) override;
  Made<unsigned> create_ct(unsigned rgid, std::shared_ptr<GuestMemory> memory,
                           uint64_t writeback_va) override;
  void destroy_ct(unsigned ct) override;
  int add_ct(unsigned ct, uint64_t success, unsigned failure) override;
  int set_ct(unsigned ct, std::optional<uint64_t> success,
             std::optional<unsigned> failure) override;
  Made<CtValue> read_ct(unsigned ct) override;
  Made<uint64_t> read_csr(uint32_t offset) override { return registers_.read(offset); }
  int write_csr(uint32_t offset, uint64_t value) override {
    return registers_.write(offset, value);
  }
  int check_csr_write(uint32_t offset) override { return registers_.check_write(offset); }
  bool is_public_csr(uint32_t offset) override { return registers_.is_public(offset); }
  void set_link(bool up) override;
  bool link_up() const override { return link_up_; }
  bool step() override;
  std::optional<uint64_t> next_due_ns() const override;
  void wake() override { look_everywhere_ = true; }

 private:
  struct Profile {
    bool valid = false;
    uint16_t vni = 0;
    uint8_t dscp = 0;
    bool hrp = false;
  };
  struct Group {
    bool used = false;
    unsigned trackers = 0;  // in use
    std::array<Profile, 16> profiles;
    std::shared_ptr<TriggeredEntries> triggered;
  };
  struct Doorbell {  // one cache line of the queue is read when nothing happens: the word itself
    const uint64_t* at;
    uint64_t seen;
    unsigned queue;
    unsigned idle;
  };
  struct Parked {  // waits for a list entry at a lossless portal entry
    fabric::Packet packet;
    Request request;
  };

  // fabric::Endpoint
  void deliver(fabric::Packet&& packet) override { wire_.receive(std::move(packet)); }
  bool progress() override;
  size_t backlog() const override { return wire_.received_bytes(); }

  // scheduler.cpp
  bool end_switches();
  bool ring_bells();
  bool ring_bell(Doorbell& bell);
  void list_queue(CommandQueue& queue);
  void unlist_queue(unsigned index);
  bool run_queues();
  bool run_timers();
  void post_timestamps(uint64_t realtime);
  void look_at_thresholds();

  // transmit.cpp
  struct Outcome {  // of a command
    int return_code = 0;
    bool stalled = false;  // to be tried again later
  };
  bool run_transmit(CommandQueue& queue);
  void count_command(const CommandQueue& queue);
  Outcome execute(CommandQueue& queue, const TxCommand& command);
  Outcome transfer(unsigned queue, unsigned rgid, unsigned lcid, const TxCommand& command,
                   const CommandOptions& options);
  int check_rights(unsigned rgid, const CommandOptions& options) const;
  void fail_queue(CommandQueue& queue, int return_code, uint8_t command);

  // sending.cpp
  void send_first(uint16_t spt, const TxCommand& command, Request& request);
  void send_multicast(uint16_t spt, const TxCommand& command, const Request& request);
  void send_request(uint16_t spt, const Request& request, fabric::Packet&& packet);
  bool send_pieces();
  bool send_piece(Sending& sending);
  bool send_part(Sending& sending);
  void end_sending(const Sending& sending);
  void abort_sending(CommandQueue& queue);
  bool issue_rendezvous_get(const Delivery& delivery);

  int read_source(const Message& message, unsigned lac, uint64_t address, std::span<std::byte> out);

  // completion.cpp
  bool may_take_spt(unsigned rgid) const;
  uint16_t take_spt(unsigned rgid);
  void free_spt(uint16_t spt, bool may_still_be_answered);
  void sent_locally(Message& message);
  void handle_response(fabric::Packet&& packet);
  void finish(uint16_t spt, int return_code, bool by_target, uint32_t mlength, unsigned list,
              bool may_still_be_answered = false);
  void finish_part(uint16_t parent, int return_code, bool by_target, uint32_t mlength,
                   unsigned list);
  EventQueue* queue_of(unsigned rgid, unsigned eqn);
  void post(EventQueue& queue, const EventBytes& event);
  void notify(EventQueue& queue);
  void count_tally(EventQueue& queue);
  static int lost(const Message& message);
  bool give_up();
  void abandon(fabric::Packet&& packet);
  void abort_long_gets(unsigned queue);
  void end_queue_messages(unsigned queue, int return_code);
  void cancel_rendezvous(unsigned pte, unsigned buffer_id);
  void forget_rendezvous(unsigned pte);

  // receive.cpp
  void handle_packet(fabric::Packet&& packet);
  void handle_request(const Request& request, fabric::Packet&& packet);
  void count_arrival(const Request& request, size_t payload_bytes);
  void count_refusal(const Request& request, int return_code);
  void handle_continuation(const Request& request, fabric::Packet&& packet);
  struct Decision {
    int return_code = 0;
    bool park = false;
    unsigned list = 0;
    uint32_t node = no_entry;
    uint32_t unexpected = no_entry;  // taken for its header
    unsigned promised = 0;
    bool disable = false;           // the portal entry, for the reason that follows
    bool software_managed = false;  // the same, but to that state
    unsigned reason = 0;
  };
  static uint64_t placement_offset(const PortalEntry& entry, const Request& request);
  Decision decide(PortalEntry& entry, const Request& request);
  Decision decide_raw(PortalEntry& entry, const Request& request);
  bool find_unexpected_place(PortalEntry& entry, const Request& request, Decision& decision);
  unsigned events_of(const PortalEntry& entry, const ListNode& node, const Request& request,
                     unsigned list) const;
  Decision shortage(PortalEntry& entry, unsigned reason);
  void change_state(PortalEntry& entry, PteState state, unsigned reason);
  bool park(unsigned pte, const Request& request, fabric::Packet& packet);
  bool may_park() const;
  void park_continuation(std::deque<Parked>& packets, const Request& request,
                         fabric::Packet&& packet);
  void unpark(unsigned pte);

  // delivery.cpp
  int read_target(const Delivery& delivery, uint64_t address, std::span<std::byte> out);
  int write_target(const Delivery& delivery, uint64_t address, std::span<const std::byte> in);
  Delivery accept(PortalEntry& entry, const Request& request, const Decision& decision);
  void accept_raw(PortalEntry& entry, const Request& request, const Decision& decision,
                  fabric::Packet&& packet);
  void begin(Delivery&& delivery, fabric::Packet&& packet);
  void write_payload(Delivery& delivery, uint32_t offset, std::span<const std::byte> payload);
  void do_atomic(Delivery& delivery, std::span<const std::byte> payload);
  enum class Served { nothing, part, whole };
  Served serve(Serving& serving);
  void complete(Delivery& delivery);
  void count_delivery(const Delivery& delivery);
  static bool is_answered(const Request& request);
  Response answer_to(const Request& request) const;
  void send_answer(const Response& response, fabric::Packet&& packet);
  void refuse(const Request& request, int return_code);
  void post_target(PortalEntry& entry, TargetEvent& event, Delivery* promise);
  void unlink_automatically(PortalEntry& entry, uint32_t node, Delivery& delivery);
  void post_rendezvous(PortalEntry& entry, Delivery& delivery, bool get_issued);
  void release_promises(Delivery& delivery);
  void cut_off(Delivery& delivery, bool answer);
  bool end_stale_deliveries();
  void cancel_deliveries(unsigned pte, std::optional<unsigned> list,
                         std::optional<unsigned> buffer_id, bool events);

  // target_commands.cpp
  bool run_target(CommandQueue& queue);
  int execute(CommandQueue& queue, const TargetCommand& command);
  void append_entry(PortalEntry& entry, const ListNode& node, bool restart_seq);
  void link_result(PortalEntry& entry, const ListNode& node, int return_code);
  void unlink_entry(PortalEntry& entry, const ListNode& node);
  void count_search(const PortalEntry& entry, const ListNode& node);
  void search(PortalEntry& entry, const ListNode& node, bool remove);
  bool claim(PortalEntry& entry, ListNode& node, const ListNode& message);
  void post_unexpected(PortalEntry& entry, TargetEvent event, const ListNode& message);
  int set_state(PortalEntry& entry, PteState state, uint32_t drop_count);

  // device_registers.cpp
  LiveWords live_words();

  // counters.cpp
  Outcome execute_counter(CommandQueue& queue, const TxCommand& command);
  void count(unsigned rgid, unsigned ct, bool success, uint64_t amount);
  void counter_changed(unsigned ct);
  bool fire_due();
  bool fire(const TriggeredOp& op);
  size_t triggered_in_use() const;

  EventQueue* eq(unsigned eqn) const { return eqn < eqs_.size() ? eqs_[eqn].get() : nullptr; }
  PortalEntry* pte(unsigned n) const { return n < ptes_.size() ? ptes_[n].get() : nullptr; }
  CommandQueue* cmdq(unsigned n) const { return n < cmdqs_.size() ? cmdqs_[n].get() : nullptr; }
  Counter* ct(unsigned n) const { return n < cts_.size() ? cts_[n].get() : nullptr; }
  // A counter by the number that a command or an entry named earlier: it may be another's by now.
  Counter* ct_of(unsigned rgid, unsigned n) const {
    Counter* counter = ct(n);
    return counter && counter->rgid() == rgid ? counter : nullptr;
  }
  EntryPool& pool(const PortalEntry& entry) { return pools_[entry.pool]; }
  uint32_t take_entry(PortalEntry& entry) { return pool(entry).take(entry.account); }
  void give_entry(PortalEntry& entry, uint32_t node) { pool(entry).give(node, entry.account); }
  bool tracing() const { return trace_on_; }
  template <class... A>
  void say(const char* format, const A&... arguments);

  static uint64_t message_key(uint32_t nid, uint16_t spt) { return uint64_t{nid} << 16 | spt; }

  DeviceConfig config_;
  fabric::Fabric& fabric_;
  Clock& clock_;
  Trace& trace_;
  Interrupts& interrupts_;
  Statistics stats_;
  Wire wire_;
  AddressUnit memory_;
  PortalTable table_;
  bool attached_ = false;
  bool link_up_ = true;
  bool trace_on_ = false;
  uint64_t now_ns_ = 0;  // monotonic, read once per pass

  std::vector<Group> groups_;
  std::shared_ptr<TriggeredEntries> whole_device_;
  std::vector<std::unique_ptr<EventQueue>> eqs_;
  std::vector<std::unique_ptr<PortalEntry>> ptes_;
  std::vector<std::unique_ptr<Counter>> cts_;
  std::vector<std::unique_ptr<CommandQueue>> cmdqs_;
  std::array<EntryPool, 4> pools_;
  unsigned next_pool_ = 0;

  std::vector<Doorbell> active_, sleeping_;
  std::vector<unsigned> work_, work_now_;  // queues with commands to run
  std::vector<unsigned> switching_;        // event queues that wait for room to leave their ring
  bool look_everywhere_ = true;
  unsigned passes_ = 0;
  uint64_t next_time_check_ = 0;
  uint64_t next_timestamp_ns_ = 0;
  uint64_t next_stale_check_ns_ = 0;
  unsigned timestamp_queues_ = 0, threshold_queues_ = 0;

  std::vector<Message> messages_;
  std::vector<Sending> sendings_;
  std::deque<uint16_t> free_spts_;
  unsigned busy_messages_ = 0;
  uint64_t next_give_up_ns_ = 0;
  CommandBytes command_;  // the command being executed

  std::unordered_map<uint64_t, Delivery> deliveries_;  // of more than one packet, by message_key
  std::vector<Serving> servings_;
  std::map<unsigned, std::deque<Parked>> parked_;
  size_t parked_packets_ = 0, parked_bytes_ = 0;

  std::deque<std::pair<unsigned, TriggeredOp>> due_;      // counters and what they have set off
  std::vector<std::pair<unsigned, unsigned>> due_waits_;  // counter and queue of what has no room
  Registers registers_;
};

}  // namespace sim::nic
