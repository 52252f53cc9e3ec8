// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What reliable-unconnected verbs promise, tried between two processes: each promise has a side
// here and, unless one process is enough, a side there. A side that finds a promise broken throws.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "../wire.hpp"

namespace promises {

using e2e::Completion;
using e2e::Endpoint;
using e2e::Operation;
using e2e::Remote;
using e2e::Request;
using e2e::Wire;

struct Place {
  std::string here_dev = "cxi1", there_dev = "cxi0";
};

using Side = void (*)(const Place&, e2e::Wire&);

struct Promise {
  const char* name;
  Side here;
  Side there = nullptr;
};

std::span<const Promise> of_keys();
std::span<const Promise> of_jobs();
std::span<const Promise> of_queue_pairs();
std::span<const Promise> of_completions();
std::span<const Promise> of_devices();

// Throws, saying where, unless it holds.
inline void expect(bool holds, const std::string& what) {
  if (!holds) e2e::fail(what);
}
template <class A, class B>
void expect_equal(A found, B wanted, const std::string& what) {
  if (found != static_cast<A>(wanted))
    e2e::fail(what + " is " + std::to_string(found) + ", not " + std::to_string(wanted));
}
// A call that returns 0 or an errno value.
inline void expect_error(int found, int wanted, const std::string& what) {
  if (found != wanted)
    e2e::fail(what + " gave " + (found ? strerror(found) : "success") + ", not " +
              (wanted ? strerror(wanted) : "success"));
}
// A call that returns a pointer and sets errno.
template <class T>
void expect_refused(T* made, int wanted, const std::string& what) {
  int found = made ? 0 : errno;
  expect_error(found, wanted, what);
}
inline void expect_status(const e2e::Completion& completion, ibv_wc_status wanted,
                          const std::string& what) {
  if (completion.status != wanted)
    e2e::fail(what + " completed with \"" + ibv_wc_status_str(completion.status) + "\" (" +
              std::to_string(completion.vendor_err) + "), not \"" + ibv_wc_status_str(wanted) +
              '"');
}
template <class T>
T* made(T* object, const char* what) {
  if (!object) e2e::fail(what, errno);
  return object;
}

using Context = e2e::Owned<ibv_context, ibv_close_device>;
using Pd = e2e::Owned<ibv_pd, ibv_dealloc_pd>;
using Job = e2e::Owned<ibv_job, ibv_dealloc_job>;
using JobKey = e2e::Owned<ibv_job_key, ibv_destroy_jkey>;
using Mr = e2e::Owned<ibv_mr, ibv_dereg_mr>;
using Cq = e2e::Owned<ibv_cq, ibv_destroy_cq>;
using Qp = e2e::Owned<ibv_qp, ibv_destroy_qp>;

Context open_device(const std::string& name);
// 0 where it was made.
ibv_job* try_alloc_job(ibv_context* context, uint32_t id, uint32_t entries = 0);
Job alloc_job(ibv_context* context, uint32_t id, uint32_t entries = 0);

// An endpoint whose peer on the wire has made one too: they know each other's addresses.
class Acquainted : public e2e::Endpoint {
 public:
  Acquainted(const e2e::Options& options, e2e::Wire& wire) : Endpoint(options) {
    wire.put(address());
    peer_ = wire.take<e2e::Address>();
    connect(peer_);
  }
  const e2e::Address& peer() const { return peer_; }

 private:
  e2e::Address peer_;
};

// The objects of one process on one device.
struct QpWish {
  ibv_pd* pd = nullptr;        // the own one
  ibv_job_key* key = nullptr;  // the own one
  bool without_key = false;
  std::optional<uint32_t> qpn = {};
  ibv_qp_semantics* semantics = nullptr;
  uint64_t operations = IBV_QP_EX_WITH_SEND;
};

struct Bench {
  explicit Bench(const std::string& device, uint32_t vni = 1, uint32_t entries = 0);
  ibv_qp* try_qp(const QpWish& wish = {});
  Qp qp(const QpWish& wish = {}) { return Qp(made(try_qp(wish), "create a QP")); }

  Context context;
  Pd pd;
  Job job;
  JobKey key;
  Cq cq;
};

// The way to a queue pair; its padding is zero too.
ibv_ah_attr_ex way_to(const union ibv_gid& gid, uint32_t qpn);

// The processes of a promise meet here.
inline void sync(e2e::Wire& wire) {
  wire.put('s');
  wire.take<char>();
}

// Both sides: one message in each direction, checked byte by byte.
void exchange_messages(e2e::Endpoint& me, e2e::Wire& wire, bool first);

}  // namespace promises
