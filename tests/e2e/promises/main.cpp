// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Tries promises of reliable-unconnected verbs; says in one line which one was broken and how.
//
//   ru_promises PROMISE [--one-nic]
//   ru_promises --list
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cstdio>

#include "promises.hpp"

namespace promises {

Context open_device(const std::string& name) {
  ibv_device** list = made(ibv_get_device_list(nullptr), "device list");
  Context context;
  for (ibv_device** each = list; *each; ++each)
    if (name == ibv_get_device_name(*each)) context.reset(ibv_open_device(*each));
  ibv_free_device_list(list);
  made(context.get(), "open the device");
  return context;
}

ibv_job* try_alloc_job(ibv_context* context, uint32_t id, uint32_t entries) {
  ibv_job_attr attr{};
  attr.comp_mask = IBV_JOB_ATTR_ID | IBV_JOB_ATTR_PORT_NUM | IBV_JOB_ATTR_SGID_INDEX;
  attr.id = id;
  attr.port_num = 1;
  if (entries) attr.comp_mask |= IBV_JOB_ATTR_MAX_ADDR_ENTRIES;
  attr.max_addr_entries = entries;
  return ibv_alloc_job(context, &attr, nullptr);
}

Job alloc_job(ibv_context* context, uint32_t id, uint32_t entries) {
  return Job(made(try_alloc_job(context, id, entries), "allocate a job"));
}

Bench::Bench(const std::string& device, uint32_t vni, uint32_t entries)
    : context(open_device(device)),
      pd(made(ibv_alloc_pd(context.get()), "allocate a PD")),
      job(alloc_job(context.get(), vni, entries)),
      key(made(ibv_create_jkey(pd.get(), job.get(), 0), "create a job key")),
      cq(made(ibv_create_cq(context.get(), 64, nullptr, nullptr, 0), "create a CQ")) {}

ibv_qp* Bench::try_qp(const QpWish& wish) {
  ibv_qp_init_attr_ex attr{};
  attr.send_cq = attr.recv_cq = cq.get();
  attr.cap = {16, 16, 1, 1, 0};
  attr.qp_type = IBV_QPT_RU;
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  attr.pd = wish.pd ? wish.pd : pd.get();
  attr.send_ops_flags = wish.operations;
  if (!wish.without_key) {
    attr.comp_mask |= IBV_QP_INIT_ATTR_JKEY;
    attr.job_key = wish.key ? wish.key : key.get();
  }
  if (wish.qpn) {
    attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
    attr.create_flags = IBV_QP_CREATE_SOURCE_QPN;
    attr.source_qpn = *wish.qpn;
  }
  if (wish.semantics) {
    attr.comp_mask |= IBV_QP_INIT_ATTR_QP_SEMANTICS;
    attr.qp_semantics = wish.semantics;
  }
  return ibv_create_qp_ex(context.get(), &attr);
}

ibv_ah_attr_ex way_to(const union ibv_gid& gid, uint32_t qpn) {
  ibv_ah_attr_ex attr;
  memset(&attr, 0, sizeof attr);
  attr.ah_attr.is_global = 1;
  attr.ah_attr.grh.dgid = gid;
  attr.ah_attr.grh.hop_limit = 1;
  attr.ah_attr.port_num = 1;
  attr.remote_qpn = qpn;
  return attr;
}

void exchange_messages(e2e::Endpoint& me, e2e::Wire& wire, bool first) {
  constexpr size_t bytes = 300;
  uint32_t seed = first ? 11 : 22;
  me.clear();
  expect_error(me.post_recv(1, bytes), 0, "posting a receive");
  sync(wire);
  // The message lies behind the receive.
  for (size_t i = 0; i < bytes; ++i)
    me.data()[bytes + i] = e2e::Endpoint::pattern(i, seed);
  e2e::Request request{};
  request.operation = e2e::Operation::send;
  request.wr_id = 2;
  request.at = request.bytes = bytes;
  expect_error(me.post(request), 0, "posting a send");
  for (int i = 0; i < 2; ++i) {
    e2e::Completion completion = me.wait();
    expect_status(completion, IBV_WC_SUCCESS, "a message between the two");
    if (completion.wr_id == 1) expect_equal(completion.byte_len, bytes, "its length");
  }
  for (size_t i = 0; i < bytes; ++i)
    expect(me.data()[i] == e2e::Endpoint::pattern(i, 33 - seed), "a message arrived changed");
  me.clear();  // before the other side goes on, and may access it
  sync(wire);
}

namespace {

const Promise* find(const char* name) {
  for (auto list : {of_keys(), of_jobs(), of_queue_pairs(), of_completions(), of_devices()})
    for (const Promise& promise : list)
      if (!name)
        printf("%s\n", promise.name);
      else if (std::string(name) == promise.name)
        return &promise;
  return nullptr;
}

int run(const Promise& promise, Side side, const Place& place, int fd) {
  try {
    e2e::Wire wire(fd);
    side(place, wire);
    return 0;
  } catch (const std::exception& error) {
    fprintf(stderr, "%s, %s: %s\n", promise.name, side == promise.here ? "here" : "there",
            error.what());
    return 1;
  }
}

int run(const Promise& promise, const Place& place) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) return 2;
  if (!promise.there) return run(promise, promise.here, place, pair[1]);
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(pair[1]);
    _exit(run(promise, promise.there, place, pair[0]));
  }
  close(pair[0]);
  int result = run(promise, promise.here, place, pair[1]);
  close(pair[1]);  // the other side sees the end
  int status = 0;
  waitpid(child, &status, 0);
  return result ? result : status != 0;
}

}  // namespace
}  // namespace promises

int main(int argc, char** argv) {
  using namespace promises;
  if (argc == 2 && std::string(argv[1]) == "--list") {
    find(nullptr);
    return 0;
  }
  const Promise* promise = argc > 1 ? find(argv[1]) : nullptr;
  if (!promise) {
    fprintf(stderr, "ru_promises PROMISE [--one-nic], or ru_promises --list\n");
    return 2;
  }
  Place place;
  if (argc > 2 && std::string(argv[2]) == "--one-nic") place.here_dev = place.there_dev;
  return run(*promise, place);
}
