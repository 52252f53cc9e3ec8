// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Keys are isolated: an access that is not allowed is answered with the right status, changes no
// byte, raises nothing at the target and leaves both queue pairs working.
#include <ethernet/cassini_user_defs.h>
#include <rdma/cxiverbs-abi.h>

#include <array>

#include "promises.hpp"

namespace promises {
namespace {

constexpr size_t window = 5000, guard = 4096;
constexpr uint32_t own_vni = 1, other_vni = 10;
constexpr uint8_t untouched = 0x5c;
constexpr unsigned all_rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

// Regions of the target, each between guards.
enum Region {
  full,
  without_write,
  without_read,
  without_atomic,
  never_attached,
  detached,
  deregistered,
  registered_again,  // the memory of the one before
  regions
};
constexpr unsigned rights_of[regions] = {all_rights,
                                         all_rights & ~unsigned{IBV_ACCESS_REMOTE_WRITE},
                                         all_rights & ~unsigned{IBV_ACCESS_REMOTE_READ},
                                         all_rights & ~unsigned{IBV_ACCESS_REMOTE_ATOMIC},
                                         all_rights,
                                         all_rights,
                                         all_rights,
                                         all_rights};

struct Key {
  uint64_t rkey64;
  uint32_t rkey;
};
using Keys = std::array<Key, regions>;

e2e::Options options(const std::string& device, bool initiator) {
  e2e::Options options;
  options.device = device;
  options.job_id = own_vni;
  options.rma = initiator;
  options.imm64 = true;
  options.retry_cnt = 1;
  options.buffer_bytes = 8192;
  return options;
}

class Target {
 public:
  Target(const Place& place, Wire& wire, bool indexed)
      : wire_(wire), endpoint_(options(place.there_dev, false), wire) {
    Keys keys;
    for (unsigned i = 0; i < regions; ++i) {
      if (i == registered_again) mrs_[deregistered].reset();
      unsigned where = i == registered_again ? unsigned{deregistered} : i;
      unsigned access = rights_of[i] | (indexed ? unsigned{CXI_ABI_ACCESS_INDEXED} : 0U);
      mrs_[i].reset(
          made(ibv_reg_mr(endpoint_.pd(), at(where), window, static_cast<int>(access)), "region"));
      keys[i] = {mrs_[i]->rkey64, mrs_[i]->rkey};
      expect(!(keys[i].rkey64 & CXI_ABI_RKEY_INDEXED) == !indexed, "the key is of another kind");
      if (i != never_attached)
        expect_error(ibv_attach_mr(endpoint_.qp(), mrs_[i].get()), 0, "attaching");
    }
    expect_error(ibv_detach_mr(endpoint_.qp(), mrs_[detached].get()), 0, "detaching");
    wire.put(keys);
  }

  // Does what the initiator asks for, until it has enough.
  void serve() {
    for (;;) {
      switch (wire_.take<char>()) {
        case 'u':
          expect_nothing_happened();
          wire_.put('u');
          break;
        case 'w':
          expect_one_write();
          wire_.put('w');
          break;
        case 'm':
          exchange_messages(endpoint_, wire_, false);
          break;
        default:
          return;
      }
    }
  }

 private:
  uint8_t* at(unsigned region) { return memory_.data() + region * (window + guard) + guard; }

  void expect_nothing_happened() {
    Completion completion;
    expect(!endpoint_.poll(completion), "the target got a completion");
    for (size_t i = 0; i < memory_.size(); ++i)
      expect(memory_[i] == untouched, "byte " + std::to_string(i) + " was changed");
  }

  // Of eight bytes at the start of the full region.
  void expect_one_write() {
    for (size_t i = 0; i < 8; ++i)
      expect(at(full)[i] == Endpoint::pattern(i, 5), "an allowed write did not arrive");
    std::fill_n(at(full), 8, untouched);
    expect_nothing_happened();
  }

  Wire& wire_;
  Acquainted endpoint_;
  std::vector<uint8_t> memory_ =
      std::vector<uint8_t>(regions * (window + guard) + guard, untouched);
  std::array<Mr, regions> mrs_;
};

constexpr Operation plain[] = {Operation::write, Operation::read};
constexpr Operation immediate[] = {Operation::write_imm, Operation::write_imm64};
constexpr Operation atomic[] = {Operation::fetch_add, Operation::cmp_swap};

class Initiator {
 public:
  Initiator(const Place& place, Wire& wire)
      : wire_(wire),
        endpoint_(options(place.here_dev, true), wire),
        keys_(wire.take<Keys>()),
        foreign_job_(alloc_job(endpoint_.context(), other_vni)),
        foreign_key_(
            made(ibv_create_jkey(endpoint_.pd(), foreign_job_.get(), 0), "create a job key")) {}
  ~Initiator() { wire_.put('q'); }

  Key key(Region region) const { return keys_[region]; }
  uint32_t foreign() const { return foreign_key_->jkey; }

  // One access; it must fail so, and only so.
  void refused(const std::string& what, Operation operation, Key key, uint64_t address,
               size_t bytes, ibv_wc_status status, unsigned vendor_err,
               std::optional<uint32_t> jkey = {}) {
    std::string name =
        what + ": " + e2e::name(operation) + " of " + std::to_string(bytes) + " bytes";
    bool can_be_inline =
        operation != Operation::read && !e2e::is_atomic(operation) && bytes > 0 && bytes <= 192;
    for (bool use_inline : {false, true}) {
      if (use_inline && !can_be_inline) break;
      endpoint_.fill(bytes, 5);
      Completion completion = access(operation, key, address, bytes, jkey, use_inline);
      expect_status(completion, status, name);
      expect_equal(completion.vendor_err, vendor_err, name + ": vendor_err");
      endpoint_.check(bytes, 5);  // a read has brought nothing
      endpoint_.clear();
      wire_.put('u');
      wire_.take<char>();
    }
  }

  void allowed(const std::string& what, Operation operation, Key key, uint64_t address,
               size_t bytes) {
    expect_status(access(operation, key, address, bytes, {}), IBV_WC_SUCCESS, what);
    wire_.put('u');
    wire_.take<char>();
  }

  // Messages both ways, and an allowed write.
  void expect_usable() {
    wire_.put('m');
    exchange_messages(endpoint_, wire_, true);
    endpoint_.fill(8, 5);
    expect_status(access(Operation::write, keys_[full], 0, 8, {}), IBV_WC_SUCCESS,
                  "an allowed write");
    endpoint_.clear();
    wire_.put('w');
    wire_.take<char>();
  }

  // Every operation with a key that names nothing.
  void key_refused(const std::string& what, Key key, unsigned plain_err, unsigned immediate_err) {
    for (size_t bytes : {size_t{0}, size_t{8}, size_t{3000}}) {
      for (Operation operation : plain)
        refused(what, operation, key, 0, bytes, IBV_WC_REM_ACCESS_ERR, plain_err);
      for (Operation operation : immediate)
        refused(what, operation, key, 0, bytes, IBV_WC_REM_ACCESS_ERR, immediate_err);
    }
    for (Operation operation : atomic)
      refused(what, operation, key, 0, 8, IBV_WC_REM_ACCESS_ERR, plain_err);
    expect_usable();
  }

 private:
  Completion access(Operation operation, Key key, uint64_t address, size_t bytes,
                    std::optional<uint32_t> jkey, bool use_inline = false) {
    Request request{};
    request.use_inline = use_inline;
    request.operation = operation;
    request.wr_id = ++wr_id_;
    request.bytes = bytes;
    request.imm = 0x0123456789abcdef;
    request.operand = request.swap = 1;
    request.remote = Remote{key.rkey64, key.rkey, address};
    request.jkey = jkey;
    expect_error(endpoint_.post(request), 0, std::string("posting a ") + e2e::name(operation));
    Completion completion = endpoint_.wait();
    expect_equal(completion.wr_id, wr_id_, "the request that completed");
    return completion;
  }

  Wire& wire_;
  Acquainted endpoint_;
  Keys keys_;
  Job foreign_job_;
  JobKey foreign_key_;
  uint64_t wr_id_ = 0;
};

template <bool indexed>
void target(const Place& place, Wire& wire) {
  Target(place, wire, indexed).serve();
}

template <bool indexed>
void wrong_vni(const Place& place, Wire& wire) {
  Initiator me(place, wire);
  for (auto list : {std::span(plain), std::span(immediate), std::span(atomic)})
    for (Operation operation : list)
      me.refused("a wrong VNI", operation, me.key(full), 0, 8, IBV_WC_RETRY_EXC_ERR,
                 C_RC_VNI_NOT_FOUND, me.foreign());
  me.expect_usable();
}

// An index of its own ends the search for a key that names another index.
template <bool indexed>
void wrong_key(const Place& place, Wire& wire) {
  Initiator me(place, wire);
  Key key = me.key(full);
  unsigned step = indexed ? 32 : 1024;  // another serial number, the same index
  me.key_refused("another serial number", {key.rkey64 + step, key.rkey + step},
                 C_RC_ENTRY_NOT_FOUND, C_RC_OP_VIOLATION);
  me.key_refused("a key of the application", {key.rkey64 & 0x3ff, key.rkey & 0x3ff},
                 C_RC_ENTRY_NOT_FOUND, C_RC_OP_VIOLATION);
}

template <bool indexed>
void stale_key(const Place& place, Wire& wire) {
  Initiator me(place, wire);
  // The index of an indexed region may serve the next one already.
  Key stale = me.key(deregistered), again = me.key(registered_again);
  expect(stale.rkey64 != again.rkey64, "a region that was registered again has the same key");
  me.key_refused("a stale key", stale, C_RC_ENTRY_NOT_FOUND, C_RC_OP_VIOLATION);
  me.allowed("a read with the new key", Operation::read, again, 0, 100);
}

template <bool indexed>
void not_attached(const Place& place, Wire& wire) {
  Initiator me(place, wire);
  unsigned plain_err = indexed ? C_RC_PTLTE_NOT_FOUND : C_RC_ENTRY_NOT_FOUND;
  unsigned imm_err = indexed ? C_RC_PTLTE_NOT_FOUND : C_RC_OP_VIOLATION;
  me.key_refused("a region that was never attached", me.key(never_attached), plain_err, imm_err);
  me.key_refused("a detached region", me.key(detached), plain_err, imm_err);
}

template <bool indexed>
void missing_right(const Place& place, Wire& wire) {
  Initiator me(place, wire);
  for (size_t bytes : {size_t{0}, size_t{8}, size_t{3000}}) {
    me.refused("no right to write", Operation::write, me.key(without_write), 0, bytes,
               IBV_WC_REM_ACCESS_ERR, C_RC_OP_VIOLATION);
    for (Operation operation : immediate)
      me.refused("no right to write", operation, me.key(without_write), 0, bytes,
                 IBV_WC_REM_ACCESS_ERR, C_RC_OP_VIOLATION);
    me.refused("no right to read", Operation::read, me.key(without_read), 0, bytes,
               IBV_WC_REM_ACCESS_ERR, C_RC_OP_VIOLATION);
  }
  for (Operation operation : atomic)
    me.refused("no right for atomics", operation, me.key(without_atomic), 0, 8,
               IBV_WC_REM_ACCESS_ERR, C_RC_ENTRY_NOT_FOUND);
  me.allowed("a read without the right to write", Operation::read, me.key(without_write), 0, 100);
  me.expect_usable();
}

template <bool indexed>
void out_of_bounds(const Place& place, Wire& wire) {
  Initiator me(place, wire);
  struct Range {
    const char* what;
    uint64_t address;
    size_t bytes;
    bool sent = true;  // an offset of more than 56 bits is not
  };
  constexpr Range ranges[] = {
      {"a byte before the start", ~uint64_t{0}, 1, false},
      {"across the start", ~uint64_t{0} - 3, 8, false},
      {"as far as addresses go", (uint64_t{1} << 56) - 8, 8},
      {"a byte behind the end", window, 1},
      {"eight bytes behind the end", window, 8},
      {"across the end", window - 4, 8},
      {"more than there is", 0, window + 1},
      {"nothing, but behind the end", window + 1, 0},
  };
  // What does not fit an entry does not match it.
  for (const Range& range : ranges) {
    for (auto list : {std::span(plain), std::span(immediate), std::span(atomic)})
      for (Operation operation : list) {
        unsigned vendor_err = imm_bits(operation) ? C_RC_OP_VIOLATION : C_RC_ENTRY_NOT_FOUND;
        if (!e2e::is_atomic(operation) || range.bytes == 8)
          me.refused(range.what, operation, me.key(full), range.address, range.bytes,
                     IBV_WC_REM_ACCESS_ERR, range.sent ? vendor_err : 0);
      }
  }
  me.expect_usable();
}

template <bool indexed>
void zero_length(const Place& place, Wire& wire) {
  Initiator me(place, wire);
  for (uint64_t address : {uint64_t{0}, uint64_t{window / 2}, uint64_t{window}})
    for (Operation operation : plain)
      me.allowed("nothing at " + std::to_string(address), operation, me.key(full), address, 0);
  me.expect_usable();
}

template <bool indexed>
constexpr Promise list_of(const char* name, Side side) {
  return {name, side, target<indexed>};
}

// One key of the application in two VNIs, which two queue pairs of the same number serve.
constexpr uint64_t shared_key = 0x1234;
constexpr uint32_t shared_qpn = 5 << IBV_QPN_RI_SHIFT | 40;

struct Served {
  explicit Served(e2e::Options options, uint32_t vni) : memory(window, untouched) {
    options.job_id = vni;
    options.qpn = shared_qpn;
    endpoint = std::make_unique<Endpoint>(options);
    ibv_mr_init_attr attr{};
    attr.length = window;
    attr.access = static_cast<int>(all_rights);
    attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_RKEY;
    attr.addr = memory.data();
    attr.rkey = shared_key;
    mr.reset(made(ibv_reg_mr_ex(endpoint->pd(), &attr), "region"));
    expect_error(ibv_attach_mr(endpoint->qp(), mr.get()), 0, "attaching");
  }
  bool holds(uint32_t seed) const {
    for (size_t i = 0; i < memory.size(); ++i)
      if (memory[i] != Endpoint::pattern(i, seed)) return false;
    return true;
  }

  std::vector<uint8_t> memory;
  std::unique_ptr<Endpoint> endpoint;
  Mr mr;
};

void two_vnis_there(const Place& place, Wire& wire) {
  Served own(options(place.there_dev, false), own_vni);
  Served other(options(place.there_dev, false), other_vni);
  expect_equal(own.endpoint->qp()->qp_num, shared_qpn, "the queue pair's number");
  expect_equal(other.endpoint->qp()->qp_num, shared_qpn, "the queue pair's number");
  wire.put(own.endpoint->address());
  wire.take<char>();
  expect(own.holds(own_vni), "the region of the first VNI has other data");
  expect(other.holds(other_vni), "the region of the second VNI has other data");
  wire.put('d');
}

void two_vnis_here(const Place& place, Wire& wire) {
  auto address = wire.take<e2e::Address>();
  for (uint32_t vni : {own_vni, other_vni}) {
    e2e::Options mine = options(place.here_dev, true);
    mine.job_id = vni;
    Endpoint me(mine);
    me.connect(address);
    me.fill(window, vni);
    Request request{};
    request.operation = Operation::write;
    request.bytes = window;
    request.remote = Remote{shared_key, shared_key, 0};
    expect_error(me.post(request), 0, "posting");
    expect_status(me.wait(), IBV_WC_SUCCESS, "a write in VNI " + std::to_string(vni));
  }
  wire.put('c');
  wire.take<char>();
}

}  // namespace

std::span<const Promise> of_keys() {
  static const Promise list[] = {
      list_of<false>("wrong-vni", wrong_vni<false>),
      list_of<true>("wrong-vni-indexed", wrong_vni<true>),
      list_of<false>("wrong-key", wrong_key<false>),
      list_of<true>("wrong-key-indexed", wrong_key<true>),
      list_of<false>("stale-key", stale_key<false>),
      list_of<true>("stale-key-indexed", stale_key<true>),
      list_of<false>("region-not-attached", not_attached<false>),
      list_of<true>("region-not-attached-indexed", not_attached<true>),
      list_of<false>("missing-right", missing_right<false>),
      list_of<true>("missing-right-indexed", missing_right<true>),
      list_of<false>("out-of-bounds", out_of_bounds<false>),
      list_of<true>("out-of-bounds-indexed", out_of_bounds<true>),
      list_of<false>("zero-length", zero_length<false>),
      list_of<true>("zero-length-indexed", zero_length<true>),
      {"one-key-in-two-vnis", two_vnis_here, two_vnis_there},
  };
  return list;
}

}  // namespace promises
