// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Objects: what the kernel makes of them, refuses and counts.
#include <arpa/inet.h>
#include <fcntl.h>
#include <infiniband/driver.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "checks.hpp"
#include "machine.hpp"

namespace guest {
namespace {

constexpr size_t region_length = 64 * 1024;

long count_of(const char* kind) {
  return resources(device_name, kind);
}

// A device, a PD and a CQ, and that nothing of them is left behind.
class Bench {
 public:
  explicit Bench(Report& report)
      : report_(report), pds_(count_of("pd")), cqs_(count_of("cq")), contexts_(count_of("ctx")) {
    context_ = open_device(device_name);
    report.that(context_ != nullptr, "the device opens", strerror(errno));
    if (!context_) return;
    pd_ = ibv_alloc_pd(context_.get());
    report.that(pd_ != nullptr, "a PD is allocated", strerror(errno));
    cq_ = ibv_create_cq(context_.get(), 16, this, nullptr, 0);
    report.that(cq_ != nullptr, "a CQ is created", strerror(errno));
  }
  ~Bench() {
    if (cq_) report_.equal(ibv_destroy_cq(cq_), 0, "the CQ is destroyed");
    if (pd_) report_.equal(ibv_dealloc_pd(pd_), 0, "the PD is deallocated");
    context_.reset();
    report_.equal(count_of("pd"), pds_, "no PD is left in the kernel");
    report_.equal(count_of("cq"), cqs_, "no CQ is left");
    report_.equal(count_of("ctx"), contexts_, "and no context");
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  explicit operator bool() const { return pd_ && cq_; }
  ibv_context* context() const { return context_.get(); }
  ibv_pd* pd() const { return pd_; }
  ibv_cq* cq() const { return cq_; }

 private:
  Report& report_;
  long pds_, cqs_, contexts_;
  Context context_;
  ibv_pd* pd_ = nullptr;
  ibv_cq* cq_ = nullptr;
};

class Mapping {
 public:
  Mapping()
      : address_(mmap(nullptr, region_length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                      -1, 0)) {}
  ~Mapping() { munmap(address_, region_length); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  void* get() const { return address_; }

 private:
  void* address_;
};

void check_refused_regions(Report& report, ibv_pd* pd, void* address) {
  errno = 0;
  report.that(!ibv_reg_mr(pd, address, region_length, IBV_ACCESS_REMOTE_WRITE) && errno == EINVAL,
              "remote rights need local ones", strerror(errno));
  void* hole = mmap(nullptr, region_length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(hole, region_length);
  errno = 0;
  report.that(!ibv_reg_mr(pd, hole, region_length, IBV_ACCESS_LOCAL_WRITE) && errno == EFAULT,
              "memory must be there", strerror(errno));
}

void check_comp_channel(Report& report, ibv_context* context) {
  ibv_comp_channel* channel = ibv_create_comp_channel(context);
  if (!report.that(channel != nullptr, "a completion channel is created", strerror(errno))) return;
  int user = 0;
  ibv_cq* cq = ibv_create_cq(context, 100, &user, channel, 0);
  if (report.that(cq != nullptr, "and a CQ that reports to it", strerror(errno))) {
    report.that(cq->cqe >= 100, "it has the room that was asked for");
    report.that(cq->channel == channel && cq->cq_context == &user, "and knows its owner");
    report.equal(ibv_req_notify_cq(cq, 0), 0, "notification is requested");
    fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
    ibv_cq* source = nullptr;
    void* source_user = nullptr;
    errno = 0;
    report.that(ibv_get_cq_event(channel, &source, &source_user) == -1 && errno == EAGAIN,
                "nothing has happened yet", strerror(errno));
    report.equal(ibv_destroy_comp_channel(channel), EBUSY, "a channel in use stays");
    report.equal(ibv_resize_cq(cq, 200), 0, "the CQ grows");
    report.that(cq->cqe >= 200, "to what was asked for");
    report.equal(ibv_destroy_cq(cq), 0, "it is destroyed");
  }
  report.equal(ibv_destroy_comp_channel(channel), 0, "and then the channel");
}

ibv_qp_init_attr qp_attributes(ibv_cq* cq, ibv_qp_type type) {
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = cq;
  attr.cap = {.max_send_wr = 4,
              .max_recv_wr = 8,
              .max_send_sge = 2,
              .max_recv_sge = 1,
              .max_inline_data = 0};
  attr.qp_type = type;
  attr.sq_sig_all = 1;
  return attr;
}

void check_qp_states(Report& report, ibv_qp* qp) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTS;
  report.equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), EINVAL, "a QP does not skip states");
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qkey = 0x11111111;
  report.equal(
      ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), 0,
      "it is initialised");
  report.equal(static_cast<int>(qp->state), static_cast<int>(IBV_QPS_INIT), "and says so");

  ibv_qp_attr found{};
  ibv_qp_init_attr init{};
  report.equal(ibv_query_qp(qp, &found, IBV_QP_STATE | IBV_QP_QKEY, &init), 0, "it is queried");
  report.equal(static_cast<int>(found.qp_state), static_cast<int>(IBV_QPS_INIT), "for its state");
  report.equal(found.qkey, 0x11111111u, "its Q_Key");
  report.equal(found.port_num, 1, "its port");
  report.that(init.cap.max_recv_wr >= 8 && init.send_cq == qp->send_cq, "and how it was made");
}

void check_address_handle(Report& report, ibv_context* context, ibv_pd* pd) {
  ibv_ah_attr attr{};
  attr.is_global = 1;
  attr.port_num = 1;
  attr.grh.hop_limit = 64;
  // The first GID is that of the interface itself, which can always reach itself.
  report.equal(ibv_query_gid(context, 1, 0, &attr.grh.dgid), 0, "the GID of the port is known");
  ibv_ah* ah = ibv_create_ah(pd, &attr);
  if (report.that(ah != nullptr, "an address handle is created", strerror(errno)))
    report.equal(ibv_destroy_ah(ah), 0, "and destroyed");
  attr.port_num = 9;
  errno = 0;
  report.that(!ibv_create_ah(pd, &attr) && errno == EINVAL, "there is none for another port",
              strerror(errno));
}

}  // namespace

void check_memory(Report& report) {
  Bench bench(report);
  if (!bench) return;
  const Mapping memory;
  long before = count_of("mr");
  ibv_mr* mr = ibv_reg_mr(bench.pd(), memory.get(), region_length,
                          IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
  if (!report.that(mr != nullptr, "memory is registered", strerror(errno))) return;
  report.equal(count_of("mr"), before + 1, "the kernel has one region more");
  report.that(mr->addr == memory.get() && mr->length == region_length && mr->pd == bench.pd(),
              "the region knows where it is");
  report.that(mr->lkey != 0 && mr->rkey != 0, "and has keys");
  report.equal(ibv_dealloc_pd(bench.pd()), EBUSY, "its PD stays");
  check_refused_regions(report, bench.pd(), memory.get());

  ibv_mr* again = ibv_reg_mr_iova(bench.pd(), memory.get(), region_length, 0x10000,
                                  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING);
  if (report.that(again != nullptr, "it is registered once more, elsewhere", strerror(errno))) {
    report.that(again->lkey != mr->lkey, "with another key");
    report.equal(ibv_dereg_mr(again), 0, "and deregistered");
  }
  report.equal(ibv_dereg_mr(mr), 0, "the first one as well");
  report.equal(count_of("mr"), before, "the kernel has none of it left");
}

void check_completion_queues(Report& report) {
  Bench bench(report);
  if (!bench) return;
  check_comp_channel(report, bench.context());
  errno = 0;
  report.that(!ibv_create_cq(bench.context(), 0, nullptr, nullptr, 0) && errno == EINVAL,
              "a CQ needs an entry", strerror(errno));
  errno = 0;
  int vectors = bench.context()->num_comp_vectors;
  report.that(!ibv_create_cq(bench.context(), 1, nullptr, nullptr, vectors) && errno == EINVAL,
              "and a vector that exists", strerror(errno));
  errno = 0;
  ibv_cq_init_attr_ex extended{};
  extended.cqe = 4;
  report.that(!ibv_create_cq_ex(bench.context(), &extended) && errno == EOPNOTSUPP,
              "the provider has no extended ones", strerror(errno));
}

void check_queue_pairs(Report& report) {
  Bench bench(report);
  if (!bench) return;
  long before = count_of("qp");
  for (ibv_qp_type type : {IBV_QPT_UD, IBV_QPT_RC}) {
    ibv_qp_init_attr attr = qp_attributes(bench.cq(), type);
    ibv_qp* qp = ibv_create_qp(bench.pd(), &attr);
    if (!report.that(qp != nullptr,
                     fmt::format("a QP of type {} is created", static_cast<int>(type)),
                     strerror(errno)))
      continue;
    report.equal(count_of("qp"), before + 1, "the kernel has one more");
    report.that(qp->qp_num != 0, "it has a number");
    report.that(attr.cap.max_send_wr >= 4 && attr.cap.max_recv_wr >= 8, "and the room asked for");
    report.equal(ibv_destroy_cq(bench.cq()), EBUSY, "its CQ stays");
    if (type == IBV_QPT_UD) check_qp_states(report, qp);
    ibv_recv_wr receive{};
    ibv_recv_wr* bad = nullptr;
    report.equal(ibv_post_recv(qp, &receive, &bad), EOPNOTSUPP, "there is no data path");
    report.equal(ibv_destroy_qp(qp), 0, "it is destroyed");
    report.equal(count_of("qp"), before, "the kernel has none of it left");
  }
  check_address_handle(report, bench.context(), bench.pd());
}

void check_imports(Report& report) {
  Bench bench(report);
  if (!bench) return;
  // Soft RoCE does not describe contexts, which an importing process would have to ask for.
  size_t descriptors = files_in("/proc/self/fd");
  errno = 0;
  report.that(!ibv_import_device(dup(bench.context()->cmd_fd)) && errno == EOPNOTSUPP,
              "this kind of device cannot be imported", strerror(errno));
  report.equal(files_in("/proc/self/fd"), descriptors, "the descriptor is closed all the same");

  const Mapping memory;
  ibv_mr* mr = ibv_reg_mr(bench.pd(), memory.get(), region_length, IBV_ACCESS_LOCAL_WRITE);
  ibv_pd* pd = ibv_import_pd(bench.context(), bench.pd()->handle);
  if (report.that(mr && pd, "a PD is imported", strerror(errno))) {
    ibv_mr* same = ibv_import_mr(pd, mr->handle);
    if (report.that(same != nullptr, "and a region", strerror(errno))) {
      report.that(same->lkey == mr->lkey && same->rkey == mr->rkey && same->length == mr->length,
                  "which is the same one");
      ibv_unimport_mr(same);
    }
    errno = 0;
    report.that(!ibv_import_mr(pd, mr->handle + 1000) && errno == ENOENT, "others are not there",
                strerror(errno));
    ibv_unimport_pd(pd);
  }
  if (mr) report.equal(ibv_dereg_mr(mr), 0, "the region outlives its import");
}

void check_fork(Report& report) {
  report.equal(static_cast<int>(ibv_is_fork_initialized()), static_cast<int>(IBV_FORK_UNNEEDED),
               "the kernel copies pinned pages on fork()");
  report.equal(ibv_fork_init(), 0, "asking for protection is no error");
}

}  // namespace guest
