// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The standard objects but for queue pairs (qp.hpp), and the driver's own that stand for one
// resource each.
#pragma once

#include <rdma/ib_user_ioctl_verbs.h>

#include <bitset>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "uverbs/file.hpp"
#include "uverbs/handles.hpp"
#include "uverbs/nic_state.hpp"
#include "uverbs/resources.hpp"

namespace sim::uverbs {

// A resource of the device with a handle of its own: made by a native call, or a part of a verbs
// object, which then uses it.
template <class Resource, uint16_t Type>
class Native : public Object {
 public:
  static constexpr uint16_t object_type = Type;
  Native(File& f, std::unique_ptr<Resource> r) : Object(f, Type), resource(std::move(r)) {}
  Resource* operator->() const { return resource.get(); }

  std::unique_ptr<Resource> resource;
};

using EqObject = Native<EventQueue, CXI_OBJECT_EQ>;
using CmdqObject = Native<CommandQueue, CXI_OBJECT_CMDQ>;
using MdObject = Native<MemoryMap, CXI_OBJECT_MD>;

// A part with a handle that lives as long as the object it belongs to.
template <class T>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T& part) : file_(&part.file), id_(part.id), use_(&part) {}
  Owned(Owned&& other) noexcept { *this = std::move(other); }
  Owned& operator=(Owned&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(id_, other.id_);
    std::swap(use_, other.use_);
    return *this;
  }
  ~Owned() {
    use_ = Use<T>();
    if (file_) file_->objects.destroy(id_);
  }
  T* get() const { return use_.get(); }
  T& operator*() const { return *use_; }
  explicit operator bool() const { return file_ != nullptr; }

 private:
  File* file_ = nullptr;
  uint32_t id_ = 0;
  Use<T> use_;
};

class Pd final : public Object {
 public:
  Pd(File& f, std::shared_ptr<Lni> lni);
  ~Pd() override;

  // The PID is latched by the first queue pair and kept until the PD goes. ENOSPC: it is another's.
  // `taken` are those of the VNIs that it was not taken in before.
  int claim(unsigned pid, const std::vector<uint16_t>& vnis, std::vector<uint16_t>& taken);
  // Takes a claim back.
  void unclaim(const std::vector<uint16_t>& taken);

  const std::shared_ptr<Lni> lni;
  std::optional<unsigned> pid;
  std::bitset<CXI_ABI_NUM_RI> resource_indices;
  std::bitset<CXI_ABI_NUM_INDEXED> indexed;  // portal indices of indexed regions

 private:
  std::set<uint16_t> vnis_;  // in which the PID is taken
};

class Cq final : public Object {
 public:
  explicit Cq(File& f) : Object(f, UVERBS_OBJECT_CQ) {}
  ~Cq() override;

  // Takes a queue that was made for it.
  void own(EqObject& queue);
  // Takes one of the program's, for as long as it lives. ENOMEM: it has no room for the reserve.
  int borrow(EqObject& queue, uint32_t reserve);
  EventQueue& queue() const { return *queue_->resource; }
  uint32_t queue_handle() const { return queue_->id; }
  bool owns_queue() const { return !borrowed_; }
  uint32_t comp_events() const { return notifies ? queue().notifier.finish() : 0; }

  bool notifies = false;  // has a completion channel
  uint32_t cqe = 0;
  uint64_t user_handle = 0;
  std::shared_ptr<AsyncChannel> async;
  std::shared_ptr<uint32_t> async_events = std::make_shared<uint32_t>(0);

 private:
  EqObject* queue_ = nullptr;
  Owned<EqObject> owned_;
  Use<EqObject> borrowed_;
  Notifier::Reader lender_;  // who gets the records of a borrowed queue otherwise
  int raised_ = 0;           // what was added to its reserve
};

class Jkey;
class Qp;

class Mr final : public Object {
 public:
  explicit Mr(File& f) : Object(f, UVERBS_OBJECT_MR) { ++f.nic.mrs; }
  ~Mr() override;

  MemoryMap& memory() const { return *md->resource; }

  // An indexed region has a portal entry of its own while it is attached anywhere, mapped in the
  // VNIs of the queue pairs. EOPNOTSUPP: they have different receive queues.
  int join_index(Qp& qp);
  void leave_index(Qp& qp);

  Use<Pd> pd;
  Use<Jkey> jkey;
  Use<Mr> parent;
  Owned<MdObject> own_md;
  MdObject* md = nullptr;                   // its own, or the parent's
  uint64_t addr = 0, length = 0, iova = 0;  // of a file: addr is the offset in it
  std::optional<FileId> from_file;
  uint32_t access = 0;
  uint32_t lkey = 0;
  uint64_t rkey64 = 0;
  uint32_t rkey = 0;
  bool application_key = false;
  std::optional<unsigned> index;  // of an indexed region, 0 .. CXI_ABI_NUM_INDEXED - 1
  std::unique_ptr<PortalEntry> index_entry;

 private:
  void leave_vni(uint16_t vni, unsigned pid);

  std::map<uint16_t, unsigned> index_vnis_;  // and how many queue pairs use them
  unsigned index_eqn_ = 0;
};

// A completion counter: one counting event.
class CompCntr final : public Object {
 public:
  CompCntr(File& f, std::unique_ptr<CountingEvent> c)
      : Object(f, UVERBS_OBJECT_COMP_CNTR), counter(std::move(c)) {}

  std::unique_ptr<CountingEvent> counter;
};

class Ah final : public Object {
 public:
  Ah(File& f, Pd& p, uint32_t n) : Object(f, UVERBS_OBJECT_AH), pd(&p), nid(n) { ++f.nic.ahs; }
  ~Ah() override { --file.nic.ahs; }

  Use<Pd> pd;
  uint32_t nid;
};

class Job;

// What all holders of a job share.
struct JobRecord {
  struct Address {
    bool valid = false;
    ib_uverbs_ah_attr_ex attr{};
    uint32_t nid = 0;
  };
  uint16_t vni = 0;
  uint8_t port_num = 0;
  uint8_t sgid_index = 0;
  std::vector<Address> table;
  std::set<Job*> holders;
};

// One context's hold on a job.
class Job final : public Object {
 public:
  Job(File& f, std::shared_ptr<JobRecord> r, bool was_allocated);
  ~Job() override;

  // Brings the mapped copy of an entry up to date.
  void publish(uint32_t index);

  const std::shared_ptr<JobRecord> record;
  const bool allocated;  // rather than imported
  PageRange table;
};

class Jkey final : public Object {
 public:
  Jkey(File& f, Pd& p, Job& j, unsigned slot, uint32_t serial);
  ~Jkey() override;

  uint16_t vni() const { return job->record->vni; }
  uint32_t value() const { return serial << 8 | slot; }

  Use<Pd> pd;
  Use<Job> job;
  const unsigned slot;
  const uint32_t serial;  // 24 bits, never 0
  unsigned lcid = 0;
  unsigned traffic_class = 0;
};

}  // namespace sim::uverbs
