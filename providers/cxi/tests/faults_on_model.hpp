// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Calls under test, and a process with one of everything that they need.
#pragma once

#include <sys/mman.h>

#include <functional>
#include <string>

#include "dv_bridge_on_model.hpp"
#include "faults.hpp"

namespace on_model {

constexpr int rights_and_atomics = all_rights | IBV_ACCESS_REMOTE_ATOMIC;

struct Pages {
  static constexpr std::size_t bytes = 1 << 16;
  Pages() {
    if (at == MAP_FAILED) throw std::runtime_error("mmap");
  }
  Pages(const Pages&) = delete;
  ~Pages() { munmap(at, bytes); }
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

struct Descriptor {
  explicit Descriptor(int opened) : fd(opened) {
    if (fd < 0) throw std::runtime_error(std::strerror(errno));
  }
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() { close(fd); }
  int fd;
};

inline int memory_file() {
  const int fd = memfd_create("memory", MFD_CLOEXEC);
  return fd < 0 || ftruncate(fd, Pages::bytes) == 0 ? fd : -1;
}
inline int export_of(const Job& job) {
  int fd = -1;
  return ibv_export_job(job.get(), &fd) ? -1 : fd;
}
inline ibv_job* try_job(ibv_context* context, std::uint32_t vni, std::uint32_t entries) {
  ibv_job_attr attr = {};
  attr.comp_mask = IBV_JOB_ATTR_ID | IBV_JOB_ATTR_PORT_NUM | IBV_JOB_ATTR_MAX_ADDR_ENTRIES;
  attr.id = vni;
  attr.port_num = 1;
  attr.max_addr_entries = entries;
  return ibv_alloc_job(context, &attr, nullptr);
}
inline cxidv_cp* try_cp(cxidv_lni* lni, std::uint32_t vni) {
  cxidv_cp_attr attr = {};
  attr.vni = vni;
  attr.traffic_class = CXIDV_TC_BEST_EFFORT;
  return cxidv_alloc_cp(lni, &attr);
}
inline cxidv_eq* try_eq_of(cxidv_lni* lni, ibv_comp_channel* channel, std::uint32_t slots) {
  cxidv_eq_attr attr = {};
  attr.slots = slots;
  attr.channel = channel;
  return cxidv_create_eq(lni, &attr);
}
inline cxidv_pte* try_pte(cxidv_lni* lni, cxidv_eq* eq) {
  cxidv_pte_attr attr = {};
  attr.eq = eq;
  return cxidv_create_pte(lni, &attr);
}
inline ibv_comp_cntr* try_counter(ibv_context* context) {
  ibv_comp_cntr_init_attr attr = {};
  return ibv_create_comp_cntr(context, &attr);
}
inline ibv_counters* try_counters(ibv_context* context) {
  ibv_counters_init_attr attr = {};
  return ibv_create_counters(context, &attr);
}

// The inline verb is another function in each file that is compiled.
inline int destroy_counters(ibv_counters* counters) {
  return ibv_destroy_counters(counters);
}

/// One object of each kind. All of them go with it, each without an error.
struct World {
  Pages memory;
  Descriptor file{memory_file()};
  Context context{made(open_on("cxi0", 0), "open")};
  Context other{made(open_on("cxi0", 0), "open")};
  LniPtr lni{made(cxidv_create_lni(context.get(), nullptr), "lni")};
  Pd other_pd{made(ibv_alloc_pd(other.get()), "pd")};
  Pd pd{made(ibv_alloc_pd(context.get()), "pd")};
  Pd fresh_pd{made(ibv_alloc_pd(context.get()), "pd")};  // no queue pair has needed more of it yet
  Job job{made(try_job(context.get(), first_vni, 16), "job")};
  Descriptor exported{export_of(job)};
  Key key{made(ibv_create_jkey(pd.get(), job.get(), 0), "jkey")};
  Key fresh_key{made(ibv_create_jkey(fresh_pd.get(), job.get(), 0), "jkey")};
  Channel channel{made(ibv_create_comp_channel(context.get()), "channel")};
  Channel native_channel{made(ibv_create_comp_channel(context.get()), "channel")};
  CqPtr cq{made(ibv_create_cq(context.get(), 64, nullptr, nullptr, 0), "cq")};
  CqPtr fresh_cq{made(ibv_create_cq(context.get(), 4, nullptr, nullptr, 0), "cq")};
  Mr mr{made(ibv_reg_mr(pd.get(), memory.at, Pages::bytes, rights_and_atomics), "mr")};
  Mr indexed_mr{
      made(ibv_reg_mr(pd.get(), memory.at, Pages::bytes, rights_and_atomics | CXIDV_ACCESS_INDEXED),
           "indexed mr")};
  QpPtr qp{made(try_qp(pd.get(), cq.get(), cq.get(), key.get()), "qp")};
  Owned<ibv_comp_cntr, ibv_destroy_comp_cntr> counter{made(try_counter(context.get()), "counter")};
  Owned<ibv_counters, destroy_counters> counters{made(try_counters(context.get()), "counters")};
  CpPtr own_cp{made(try_cp(cxidv_context_lni(context.get()), first_vni), "cp")};
  CpPtr cp{made(try_cp(lni.get(), first_vni), "cp")};
  DomainPtr domain{made(cxidv_create_domain(lni.get(), first_vni, C_PID_ANY), "domain")};
  EqPtr eq{made(try_eq_of(lni.get(), native_channel.get(), 64), "eq")};
  EqPtr lent_eq{made(try_eq_of(lni.get(), nullptr, 1024), "eq")};
  PtePtr pte{made(try_pte(lni.get(), eq.get()), "pte")};
  CtPtr ct{made(cxidv_create_ct(lni.get(), nullptr), "ct")};
  alignas(16) c_ct_writeback writeback = {};

  void* made_one = nullptr;  // by the call under test
};

/// What stays of a call, and how it goes again.
enum class Effect {
  none,
  change,  // undone by another change
  object,  // destroyed
};

struct Call {
  const char* name;
  std::function<int(World&)> make;
  std::function<int(World&)> undo;
  Effect effect;
  bool allocates;
  bool commands = true;  // what may fail is in the kernel
  // What the kernel cannot do once it does the next time, or need not do: whoever waits for the NIC
  // asks now and then whether there still is one.
  bool insists = false;
};
inline void PrintTo(const Call& call, std::ostream* out) {
  *out << call.name;
}

/// A call that makes an object.
template <class T, int (*destroy)(T*)>
Call creates(const char* name, std::function<T*(World&)> create) {
  return {name,
          [create](World& world) {
            T* one = create(world);
            world.made_one = one;
            return error_of(one);
          },
          [](World& world) { return destroy(static_cast<T*>(world.made_one)); }, Effect::object,
          true};
}

/// A call that asks, or that changes something for good.
inline Call asks(const char* name, std::function<int(World&)> ask) {
  return {name, std::move(ask), nullptr, Effect::none, false};
}

std::vector<Call> verbs_calls();
std::vector<Call> native_calls();
std::vector<Call> bridge_calls();

}  // namespace on_model
