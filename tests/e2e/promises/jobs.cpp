// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Jobs are VNIs that were granted; processes share them, their keys and their address tables.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <atomic>
#include <new>

#include "promises.hpp"

namespace promises {
namespace {

using Ah = e2e::Owned<ibv_ah, ibv_destroy_ah>;

void granted_vnis_only(const Place& place, Wire&) {
  Context context = open_device(place.here_dev);
  Job first = alloc_job(context.get(), 1), second = alloc_job(context.get(), 10);
  for (uint32_t id : {2U, 77U, 65535U})
    expect_refused(try_alloc_job(context.get(), id), EPERM, "job " + std::to_string(id));
  for (uint32_t id : {0U, 65536U, 0xffffffffU})
    expect_refused(try_alloc_job(context.get(), id), EINVAL, "job " + std::to_string(id));
  expect_refused(try_alloc_job(context.get(), 1), EEXIST, "a job twice");
  first.reset();
  first = alloc_job(context.get(), 1);
}

void queried(const Place& place, Wire&) {
  Context context = open_device(place.here_dev);
  Job job = alloc_job(context.get(), 10, 16);
  ibv_job_attr attr{};
  attr.comp_mask = IBV_JOB_ATTR_ID | IBV_JOB_ATTR_MAX_ADDR_ENTRIES | IBV_JOB_ATTR_PORT_NUM |
                   IBV_JOB_ATTR_SGID_INDEX | IBV_JOB_ATTR_FLAGS;
  expect_error(ibv_query_job(job.get(), &attr), 0, "query");
  expect_equal(attr.id, 10, "the id");
  expect(attr.max_addr_entries >= 16, "the table is smaller than asked for");
  expect_equal(attr.port_num, 1, "the port");
  expect_equal(attr.sgid_index, 0, "the GID index");
  expect_equal(attr.flags, 0, "the flags");
}

void table_without_peers(const Place& place, Wire&) {
  Bench bench(place.here_dev, 1, 16);
  ibv_ah_attr_ex back;
  union ibv_gid gid;
  expect_error(ibv_query_gid(bench.context.get(), 1, 0, &gid), 0, "query the GID");
  ibv_ah_attr_ex first = way_to(gid, 0x19000), second = way_to(gid, 0x1a000);
  auto find = [&](unsigned index) {
    memset(&back, 0, sizeof back);
    return ibv_query_addr(bench.job.get(), index, &back, 0);
  };
  expect_error(find(5), ENOENT, "an index that is not used");
  expect_error(ibv_insert_addr(bench.job.get(), &first, 3, 0), 0, "insert");
  expect_error(find(3), 0, "query");
  expect(memcmp(&back, &first, sizeof back) == 0, "the table gives something else back");
  expect_error(ibv_remove_addr(bench.job.get(), 3, 0), 0, "remove");
  expect_error(find(3), ENOENT, "a removed address");
  expect_error(ibv_remove_addr(bench.job.get(), 3, 0), ENOENT, "removing twice");
  expect_error(ibv_insert_addr(bench.job.get(), &first, 2, 0), 0, "insert");
  expect_error(ibv_insert_addr(bench.job.get(), &second, 2, 0), 0, "insert again");
  expect_error(find(2), 0, "query");
  expect_equal(back.remote_qpn, 0x1a000, "the second address");
  ibv_job_attr attr{};
  attr.comp_mask = IBV_JOB_ATTR_MAX_ADDR_ENTRIES;
  expect_error(ibv_query_job(bench.job.get(), &attr), 0, "query the job");
  expect_error(ibv_insert_addr(bench.job.get(), &first, attr.max_addr_entries, 0), ENOENT,
               "an index behind the end");
  expect_error(ibv_insert_addr(bench.job.get(), &first, 1, 1), EINVAL, "unknown flags");
}

void keys_differ(const Place& place, Wire&) {
  Bench bench(place.here_dev);
  Pd other(made(ibv_alloc_pd(bench.context.get()), "PD"));
  JobKey second(made(ibv_create_jkey(other.get(), bench.job.get(), 0), "job key"));
  expect(bench.key->jkey != 0 && second->jkey != 0, "a job key is 0");
  expect(bench.key->jkey != second->jkey, "keys of two PDs are the same");
  expect_refused(ibv_create_jkey(other.get(), bench.job.get(), 1), EINVAL, "unknown flags");
  uint32_t before = second->jkey;
  second.reset();
  second.reset(made(ibv_create_jkey(other.get(), bench.job.get(), 0), "job key"));
  expect(second->jkey != before, "a new key has the value of an old one");
}

void busy(const Place& place, Wire&) {
  Bench bench(place.here_dev);
  ibv_job* job = bench.job.get();
  expect_error(ibv_dealloc_job(job), EBUSY, "a job with a key");
  Qp qp = bench.qp();
  expect_error(ibv_destroy_jkey(bench.key.get()), EBUSY, "a key with a QP");
  std::vector<uint8_t> memory(4096);
  ibv_mr_init_attr attr{};
  attr.length = memory.size();
  attr.access = IBV_ACCESS_LOCAL_WRITE;
  attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_JKEY;
  attr.addr = memory.data();
  attr.job_key = bench.key.get();
  Mr mr(made(ibv_reg_mr_ex(bench.pd.get(), &attr), "region"));
  qp.reset();
  expect_error(ibv_destroy_jkey(bench.key.get()), EBUSY, "a key with a region");
  mr.reset();
  expect_error(ibv_dealloc_job(job), EBUSY, "a job with a key");
  expect_error(ibv_destroy_jkey(bench.key.release()), 0, "a key that nothing uses");
  expect_error(ibv_dealloc_job(bench.job.release()), 0, "a job without keys");
}

void not_a_job(const Place& place, Wire&) {
  Context context = open_device(place.here_dev);
  int null = open("/dev/null", O_RDWR | O_CLOEXEC), pipes[2];
  if (null < 0 || pipe(pipes)) e2e::fail("open", errno);
  for (int fd : {null, pipes[0], context->cmd_fd}) {
    ibv_job* job = nullptr;
    expect_error(ibv_import_job(context.get(), fd, &job), EINVAL, "a descriptor of no job");
  }
  for (int fd : {null, pipes[0], pipes[1]})
    close(fd);
  ibv_job* job = nullptr;
  expect_error(ibv_import_job(context.get(), null, &job), EBADF, "a descriptor that is closed");
  Bench other(place.there_dev, 10);
  int fd = -1;
  expect_error(ibv_export_job(other.job.get(), &fd), 0, "export");
  expect_error(ibv_import_job(context.get(), fd, &job), EINVAL, "a job of another device");
  close(fd);
}

// A job with a table travels to another process. Both edit the table and send by it.
constexpr unsigned entries = 16;
enum : unsigned { at_here = 3, at_there = 4, new_at_there = 5 };

e2e::Options options(const std::string& device, uint32_t src_id = 7) {
  e2e::Options options;
  options.device = device;
  options.src_id = src_id;
  options.buffer_bytes = 4096;
  options.retry_cnt = 1;
  return options;
}

void insert(ibv_job* job, unsigned index, const e2e::Address& to) {
  ibv_ah_attr_ex attr = way_to(to.gid, to.qpn);
  expect_error(ibv_insert_addr(job, &attr, index, 0), 0, "insert");
}

void expect_entry(ibv_job* job, unsigned index, const e2e::Address& of) {
  ibv_ah_attr_ex back, wanted = way_to(of.gid, of.qpn);
  memset(&back, 0, sizeof back);
  expect_error(ibv_query_addr(job, index, &back, 0), 0, "query " + std::to_string(index));
  expect(memcmp(&back, &wanted, sizeof back) == 0, "another address than was inserted");
}

int post_by_index(Endpoint& me, unsigned index) {
  Request request{};
  request.operation = Operation::send;
  request.wr_id = 2;
  request.bytes = 100;
  request.addr_idx = index;
  return me.post(request);
}

void expect_completions(Endpoint& me, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    expect_status(me.wait(), IBV_WC_SUCCESS, "a message by the table");
}

void shared_table_here(const Place& place, Wire& wire) {
  e2e::Options mine = options(place.there_dev);  // a job is of one device
  mine.make_job = [](ibv_context* context) { return try_alloc_job(context, 1, entries); };
  auto me = std::make_unique<Endpoint>(mine);
  int fd = -1;
  expect_error(ibv_export_job(me->job(), &fd), 0, "export");
  wire.put_descriptor(fd);
  close(fd);
  wire.put(me->address());
  auto peer = wire.take<e2e::Address>();
  insert(me->job(), at_here, me->address());
  insert(me->job(), at_there, peer);
  expect_error(me->post_recv(1, 100), 0, "post a receive");
  sync(wire);  // the table is filled
  expect_error(post_by_index(*me, at_there), 0, "post by the table");
  expect_completions(*me, 2);
  sync(wire);  // messages have passed, and the other side edits
  sync(wire);
  expect_entry(me->job(), new_at_there, peer);
  expect_error(post_by_index(*me, at_here), EINVAL, "an index that the other side removed");
  expect_error(post_by_index(*me, new_at_there), 0, "an index that the other side inserted");
  expect_completions(*me, 1);
  expect_error(ibv_dealloc_job(me->job()), EBUSY, "a job with a key");
  me.reset();
  sync(wire);  // this side has no part in the job any more
  sync(wire);
}

void shared_table_there(const Place& place, Wire& wire) {
  int fd = wire.take_descriptor();
  e2e::Options mine = options(place.there_dev);
  mine.make_job = [fd](ibv_context* context) {
    ibv_job* job = nullptr;
    errno = ibv_import_job(context, fd, &job);
    return errno ? nullptr : job;
  };
  Endpoint me(mine);
  close(fd);
  ibv_job_attr attr{};
  attr.comp_mask = IBV_JOB_ATTR_ID | IBV_JOB_ATTR_MAX_ADDR_ENTRIES;
  expect_error(ibv_query_job(me.job(), &attr), 0, "query");
  expect_equal(attr.id, 1, "the id of the imported job");
  expect_equal(attr.max_addr_entries, entries, "the size of the imported table");
  wire.put(me.address());
  auto peer = wire.take<e2e::Address>();
  for (int i = 0; i < 3; ++i)
    expect_error(me.post_recv(1, 100), 0, "post a receive");
  sync(wire);
  expect_entry(me.job(), at_here, peer);
  expect_entry(me.job(), at_there, me.address());
  expect_error(post_by_index(me, at_here), 0, "post by the table");
  expect_completions(me, 2);
  sync(wire);
  insert(me.job(), new_at_there, me.address());
  expect_error(ibv_remove_addr(me.job(), at_here, 0), 0, "remove");
  sync(wire);
  expect_completions(me, 1);
  sync(wire);
  // The job outlives the process's side that made it.
  expect_entry(me.job(), new_at_there, me.address());
  insert(me.job(), 0, me.address());
  expect_error(post_by_index(me, 0), 0, "post by the table that was imported");
  expect_completions(me, 2);
  expect_error(ibv_dealloc_job(me.job()), EBUSY, "an imported job with a key");
  sync(wire);
}

void no_table(const Place& place, Wire&) {
  Endpoint me(options(place.here_dev));
  ibv_job_attr attr{};
  attr.comp_mask = IBV_JOB_ATTR_MAX_ADDR_ENTRIES;
  expect_error(ibv_query_job(me.job(), &attr), 0, "query");
  expect_equal(attr.max_addr_entries, 0, "the number of entries");
  e2e::Address own = me.address();
  ibv_ah_attr_ex way = way_to(own.gid, own.qpn);
  expect_error(ibv_insert_addr(me.job(), &way, 0, 0), ENOENT, "insert");
  expect_error(post_by_index(me, 0), EINVAL, "post by an index");
  me.connect(own);
  expect_error(me.post_recv(1, 100), 0, "post a receive");
  Request request{};
  request.operation = Operation::send;
  request.bytes = 100;
  expect_error(me.post(request), 0, "post by an address handle");
  expect_completions(me, 2);
}

// Two jobs of one context: each message goes to the queue pair of the job it travels in.
void several_jobs(const Place& place, Wire&) {
  e2e::Options mine = options(place.here_dev);
  mine.rma = true;
  Endpoint me(mine);
  Job job = alloc_job(me.context(), 10);
  JobKey key(made(ibv_create_jkey(me.pd(), job.get(), 0), "job key"));
  ibv_qp_init_attr_ex attr{};
  attr.send_cq = attr.recv_cq = me.cq();
  attr.cap = {4, 4, 1, 1, 0};
  attr.qp_type = IBV_QPT_RU;
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_JKEY;
  attr.pd = me.pd();
  attr.job_key = key.get();
  Qp other(made(ibv_create_qp_ex(me.context(), &attr), "QP of the second job"));
  expect(other->qp_num != me.qp()->qp_num, "two QPs of one PD have the same number");
  e2e::Address addresses[] = {me.address(), {me.address().gid, other->qp_num, 0, 0}};
  me.connect(addresses[0]);
  me.connect(addresses[1]);
  expect_error(me.post_recv(100, 64), 0, "post a receive");
  ibv_sge sge{reinterpret_cast<uint64_t>(me.data()), 64, me.mr()->lkey};
  ibv_recv_wr receive{110, nullptr, &sge, 1}, *bad = nullptr;
  expect_error(ibv_post_recv(other.get(), &receive, &bad), 0, "post a receive");
  auto send = [&](size_t to, uint32_t jkey) {
    Request request{};
    request.operation = Operation::send;
    request.wr_id = 1;
    request.peer = to;
    request.bytes = 64;
    request.jkey = jkey;
    expect_error(me.post(request), 0, "post");
  };
  // In the job of the other one nobody is at that number.
  for (size_t wrong : {0, 1}) {
    send(wrong, wrong ? me.job_key()->jkey : key->jkey);
    expect_status(me.wait(), IBV_WC_RETRY_EXC_ERR, "a message in the job of another QP");
  }
  for (size_t right : {0, 1}) {
    send(right, right ? key->jkey : me.job_key()->jkey);
    for (int i = 0; i < 2; ++i) {
      Completion completion = me.wait();
      expect_status(completion, IBV_WC_SUCCESS, "a message within a job");
      if (completion.opcode != IBV_WC_RECV) continue;
      expect_equal(completion.wr_id, right ? 110 : 100, "the receive");
      expect_equal(completion.job_id, right ? 10 : 1, "the job of the completion");
    }
  }
}

// Four endpoints of one job, on two NICs and in two processes: each sends to all, itself included.
void several_nics(const Place&, Wire& wire, uint32_t first) {
  std::vector<std::unique_ptr<Endpoint>> mine;
  std::vector<e2e::Address> all;
  for (uint32_t i = 0; i < 2; ++i) {
    mine.push_back(std::make_unique<Endpoint>(options(i ? "cxi1" : "cxi0", first + i)));
    all.push_back(mine.back()->address());
    wire.put(all.back());
  }
  for (int i = 0; i < 2; ++i)
    all.push_back(wire.take<e2e::Address>());
  for (auto& me : mine) {
    for (const e2e::Address& address : all)
      me->connect(address);
    for (size_t i = 0; i < all.size(); ++i)
      expect_error(me->post_recv(10, 64), 0, "post a receive");
  }
  sync(wire);
  for (auto& me : mine)
    for (size_t peer = 0; peer < all.size(); ++peer) {
      Request request{};
      request.operation = Operation::send;
      request.peer = peer;
      request.bytes = 64;
      expect_error(me->post(request), 0, "post");
    }
  // In turns: one may have to repeat what another waits for.
  unsigned sources[2] = {};
  for (size_t left = mine.size() * 2 * all.size(); left > 0;)
    for (size_t i = 0; i < mine.size() && left > 0; ++i) {
      Completion completion;
      if (!mine[i]->poll(completion)) {
        sched_yield();
        continue;
      }
      --left;
      expect_status(completion, IBV_WC_SUCCESS, "a message");
      if (completion.opcode != IBV_WC_RECV) continue;
      expect_equal(completion.job_id, 1, "the job");
      sources[i] |= 1U << completion.src_id;
    }
  for (unsigned set : sources)
    expect_equal(set, 0b11110, "the set of those who sent");
  sync(wire);
}
void several_nics_here(const Place& place, Wire& wire) {
  several_nics(place, wire, 1);
}
void several_nics_there(const Place& place, Wire& wire) {
  several_nics(place, wire, 3);
}

// Processes that each open the device and hold the VNI; each sends to the next.
constexpr unsigned crowd = 8;
struct Crowd {
  e2e::Address addresses[crowd];
  std::atomic<unsigned> ready, done;
  std::atomic<bool> failed;  // one of them: the others are not to wait for it
};

void meet(const Crowd& all, const std::atomic<unsigned>& arrived) {
  while (arrived < crowd && !all.failed)
    usleep(1000);
}

void member(Crowd& all, unsigned number, const std::string& device) {
  Endpoint me(options(device, number));
  all.addresses[number] = me.address();
  expect_error(me.post_recv(1, 64), 0, "post a receive");
  ++all.ready;
  meet(all, all.ready);
  me.connect(all.addresses[(number + 1) % crowd]);
  me.fill(64, number);
  expect_error(me.post_send(2, 64, Endpoint::Immediate::none, 0, true), 0, "post");
  for (int i = 0; i < 2; ++i) {
    Completion completion = me.wait([&] { return !all.failed; });
    expect_status(completion, IBV_WC_SUCCESS, "a message");
    if (completion.opcode == IBV_WC_RECV)
      expect_equal(completion.src_id, (number + crowd - 1) % crowd, "the sender");
  }
  ++all.done;
  meet(all, all.done);
}

void many_processes(const Place& place, Wire&) {
  void* memory =
      mmap(nullptr, sizeof(Crowd), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) e2e::fail("mmap", errno);
  auto* all = new (memory) Crowd{};
  for (unsigned number = 0; number < crowd; ++number) {
    if (fork() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int result = 0;
    try {
      member(*all, number, number % 2 ? place.here_dev : place.there_dev);
    } catch (const std::exception& error) {
      fprintf(stderr, "process %u: %s\n", number, error.what());
      result = 1;
    }
    _exit(result);
  }
  int status = 0;
  while (wait(&status) > 0)
    if (status != 0) all->failed = true;
  const bool good = !all->failed;
  munmap(memory, sizeof(Crowd));
  expect(good, "a process of the job failed");
}

}  // namespace

std::span<const Promise> of_jobs() {
  static const Promise list[] = {
      {"jobs-of-granted-vnis-only", granted_vnis_only},
      {"job-is-queried", queried},
      {"job-without-a-table", no_table},
      {"table-of-one-process", table_without_peers},
      {"job-keys-differ", keys_differ},
      {"jobs-and-keys-are-busy-while-used", busy},
      {"import-of-no-job", not_a_job},
      {"table-is-shared", shared_table_here, shared_table_there},
      {"several-jobs-in-one-process", several_jobs},
      {"several-nics-in-one-job", several_nics_here, several_nics_there},
      {"many-processes-in-one-job", many_processes},
  };
  return list;
}

}  // namespace promises
