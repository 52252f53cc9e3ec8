// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs/objects.hpp"

#include <atomic>
#include <cerrno>

namespace sim::uverbs {

Pd::Pd(File& f, std::shared_ptr<Lni> l) : Object(f, UVERBS_OBJECT_PD), lni(std::move(l)) {
  ++file.nic.pds;
}

Pd::~Pd() {
  unclaim({vnis_.begin(), vnis_.end()});
  --file.nic.pds;
}

void Pd::unclaim(const std::vector<uint16_t>& taken) {
  for (uint16_t vni : taken) {
    file.nic.pids.release(vni, *pid);
    // A reserved PID stays its logical NI's.
    if (lni->reserved.contains({vni, *pid})) file.nic.pids.take(vni, *pid, lni.get());
    vnis_.erase(vni);
  }
  if (vnis_.empty()) pid.reset();
}

int Pd::claim(unsigned wanted, const std::vector<uint16_t>& vnis, std::vector<uint16_t>& taken) {
  if (pid && *pid != wanted) return EINVAL;
  PidTable& pids = file.nic.pids;
  for (uint16_t vni : vnis) {
    const void* owner = pids.owner(vni, wanted);
    if (owner && owner != this && owner != lni.get()) return ENOSPC;
  }
  for (uint16_t vni : vnis) {
    if (!vnis_.insert(vni).second) continue;
    pids.take(vni, wanted, this);
    taken.push_back(vni);
  }
  pid = wanted;
  return 0;
}

void Cq::own(EqObject& queue) {
  queue_ = &queue;
  owned_ = Owned(queue);
  queue->serves_cq = true;
}

int Cq::borrow(EqObject& queue, uint32_t reserve) {
  if (reserve > queue->reserve()) {
    const int more = static_cast<int>(reserve - queue->reserve());
    if (int error = queue->change_reserve(more)) return error;
    raised_ = more;
  }
  queue_ = &queue;
  borrowed_ = Use(&queue);
  queue->serves_cq = true;
  lender_ = queue->notifier.lend(user_handle);
  return 0;
}

Cq::~Cq() {
  if (!queue_) return;
  if (notifies) {
    queue().notifier.finish();
    file.nic.moderate(queue(), 0, 0);
    file.nic.notify_at(queue(), 0);
  }
  if (borrowed_) {
    queue().notifier.give_back(lender_);
    queue().change_reserve(-raised_);
    queue().serves_cq = false;
  } else {
    queue().notifier.detach();
  }
  if (async) async->remove(user_handle);
}

Mr::~Mr() {
  if (index) pd->indexed.reset(*index);
  --file.nic.mrs;
}

Job::Job(File& f, std::shared_ptr<JobRecord> r, bool was_allocated)
    : Object(f, UVERBS_OBJECT_JOB), record(std::move(r)), allocated(was_allocated) {
  record->holders.insert(this);
}

Job::~Job() {
  record->holders.erase(this);
}

void Job::publish(uint32_t index) {
  if (index * sizeof(uint64_t) >= table.length) return;
  const JobRecord::Address& address = record->table[index];
  uint64_t entry = 0;
  if (address.valid) entry = 1ull << 63 | uint64_t{address.nid} << 32 | address.attr.remote_qpn;
  // A program reads its table while another one changes it: the entry is stored whole.
  auto* entries = reinterpret_cast<uint64_t*>(table.pages.bytes.data());
  std::atomic_ref<uint64_t>(entries[index]).store(entry, std::memory_order_release);
}

Jkey::Jkey(File& f, Pd& p, Job& j, unsigned s, uint32_t n)
    : Object(f, UVERBS_OBJECT_JKEY), pd(&p), job(&j), slot(s), serial(n) {
  file.job_keys[slot] = this;
}

Jkey::~Jkey() {
  file.job_keys[slot] = nullptr;
}

}  // namespace sim::uverbs
