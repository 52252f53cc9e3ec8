// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Refusals that the manual of direct verbs names and that belong to no resource: devices that are
// not Cassini NICs, memory and channels that cannot be used, a device that is gone.
#include <fcntl.h>
#include <infiniband/driver.h>
#include <sys/mman.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "dv_on_model.hpp"

namespace on_model {
namespace {

// A device of somebody else, and a context on it: nothing of either is looked at but whose it is.
struct OtherDevice {
  verbs_device device = {};
  ibv_context context = {};
  OtherDevice() { context.device = &device.device; }
};

TEST(OtherDevices, AreNotSupported) {
  OtherDevice other;
  const cxidv_open_attr open = {};
  EXPECT_FALSE(cxidv_is_supported(&other.device.device));
  EXPECT_EQ(error_of(cxidv_open_device(&other.device.device, &open)), EOPNOTSUPP);
  cxidv_device_attr device;
  EXPECT_EQ(cxidv_query_device(&other.context, &device, sizeof device), EOPNOTSUPP);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(error_of(cxidv_create_lni(&other.context, nullptr)), EOPNOTSUPP);
  EXPECT_EQ(error_of(cxidv_context_lni(&other.context)), EOPNOTSUPP);
  cxidv_svc_attr svc = {};
  EXPECT_EQ(error_of(cxidv_alloc_svc(&other.context, &svc)), EOPNOTSUPP);
  EXPECT_EQ(cxidv_remove_svc(&other.context, 1), EOPNOTSUPP);
  EXPECT_EQ(cxidv_modify_svc(&other.context, 1, &svc), EOPNOTSUPP);
  EXPECT_EQ(cxidv_query_svc(&other.context, 1, &svc, sizeof svc), EOPNOTSUPP);
  std::size_t count = 0;
  EXPECT_EQ(cxidv_list_svcs(&other.context, nullptr, &count), EOPNOTSUPP);
  std::uint64_t word = 0;
  volatile void* base = nullptr;
  std::size_t length = 0;
  EXPECT_EQ(cxidv_read_csr(&other.context, 0, &word, sizeof word), EOPNOTSUPP);
  EXPECT_EQ(cxidv_write_csr(&other.context, 0, &word, sizeof word), EOPNOTSUPP);
  EXPECT_EQ(cxidv_map_csr(&other.context, &base, &length), EOPNOTSUPP);
  EXPECT_EQ(cxidv_unmap_csr(&other.context), EOPNOTSUPP);
}

TEST(OtherDevices, HaveObjectsThatAreNotLookedInto) {
  OtherDevice other;
  ibv_pd pd = {};
  ibv_cq cq = {};
  ibv_qp qp = {};
  ibv_mr mr = {};
  pd.context = cq.context = qp.context = mr.context = &other.context;
  cxidv_pd_info pd_info;
  cxidv_cq_info cq_info;
  cxidv_qp_info qp_info;
  cxidv_mr_info mr_info;
  EXPECT_EQ(cxidv_query_pd(&pd, &pd_info, sizeof pd_info), EOPNOTSUPP);
  EXPECT_EQ(cxidv_query_cq(&cq, &cq_info, sizeof cq_info), EOPNOTSUPP);
  EXPECT_EQ(cxidv_query_qp(&qp, &qp_info, sizeof qp_info), EOPNOTSUPP);
  EXPECT_EQ(cxidv_query_mr(&mr, &mr_info, sizeof mr_info), EOPNOTSUPP);
  ibv_cq_init_attr_ex cq_attr = {};
  cq_attr.cqe = 16;
  ibv_qp_init_attr_ex qp_attr = {};
  EXPECT_EQ(error_of(cxidv_create_cq(&other.context, &cq_attr, nullptr)), EOPNOTSUPP);
  EXPECT_EQ(error_of(cxidv_create_qp(&other.context, &qp_attr, nullptr)), EOPNOTSUPP);
}

class Unusable : public Native {};

TEST_F(Unusable, AListOfServicesThatCannotBeRead) {
  setenv("SLINGSHOT_SVC_IDS", "1,two", 1);
  const cxidv_open_attr choose = {}, chosen = {0, 1, 0};
  EXPECT_EQ(error_of(cxidv_open_device(context->device, &choose)), EINVAL);
  Context by_number(made(cxidv_open_device(context->device, &chosen), "open"));
  unsetenv("SLINGSHOT_SVC_IDS");
}

TEST_F(Unusable, ServicesWithoutVnisOrWithMoreThanTheyCount) {
  NEEDS_PRIVILEGE();
  const auto refusal = [&](auto change) {
    cxidv_svc_attr attr = grant();
    change(attr);
    return error_of(cxidv_alloc_svc(context.get(), &attr));
  };
  EXPECT_EQ(refusal([](auto& a) { a.num_vnis = 0; }), EINVAL);
  EXPECT_EQ(refusal([](auto& a) { a.num_vnis = 0, a.vnis[0] = 0; }), EINVAL);
  EXPECT_EQ(refusal([](auto& a) { a.vnis[1] = 701; }), EINVAL);
  EXPECT_EQ(refusal([](auto& a) { a.flags |= CXIDV_SVC_VNI_RANGE; }), EINVAL);
  EXPECT_EQ(refusal([](auto& a) { a.tc_mask = 0; }), EINVAL);
}

TEST_F(Unusable, AServiceIsNotModifiedIntoTheRangeOfAnother) {
  NEEDS_PRIVILEGE();
  const auto range = [](std::uint16_t first) {
    cxidv_svc_attr attr = grant();
    attr.flags |= CXIDV_SVC_VNI_RANGE;
    attr.num_vnis = 2;
    attr.vnis[0] = first;
    attr.vnis[1] = first + 3;
    return attr;
  };
  SvcPtr one = make_svc(range(2048)), two = make_svc(range(2052));
  const cxidv_svc_attr wanted = range(2048);
  EXPECT_EQ(cxidv_modify_svc(context.get(), two->svc_id, &wanted), EEXIST);
  cxidv_svc_attr found;
  ASSERT_EQ(cxidv_query_svc(context.get(), two->svc_id, &found, sizeof found), 0);
  EXPECT_EQ(found.vnis[0], 2052);
}

TEST_F(Unusable, AServiceInOtherHands) {
  NEEDS_PRIVILEGE();
  cxidv_svc_attr attr = grant();
  attr.members[0] = {CXIDV_MEMBER_UID, 12345};
  SvcPtr svc = make_svc(attr);
  EXPECT_EQ(as_user(1000, [&] { return cxidv_destroy_svc(svc.get()); }), EPERM);
  Context refused(made(open_on("cxi0", svc->svc_id), "open"));
  EXPECT_EQ(error_of(cxidv_context_lni(refused.get())), EPERM);
  Context nowhere(made(open_on("cxi0", 4711), "open"));
  EXPECT_EQ(error_of(cxidv_context_lni(nowhere.get())), EINVAL);
}

TEST_F(Unusable, AServiceWithoutEventQueuesForACq) {
  NEEDS_PRIVILEGE();
  SvcPtr svc = make_svc(small_grant(0));
  LniPtr poor = lni_on(svc->svc_id);
  ibv_cq_init_attr_ex attr = {};
  attr.cqe = 16;
  cxidv_cq_attr on = {};
  on.lni = poor.get();
  EXPECT_EQ(error_of(cxidv_create_cq(context.get(), &attr, &on)), EBADR);
}

TEST_F(Unusable, MemoryForRegistersThatIsNotThere) {
  NEEDS_PRIVILEGE();
  const cxidv_csr_info* csr = cxidv_csr_by_name("mb_sts_rev");
  ASSERT_NE(csr, nullptr);
  EXPECT_EQ(cxidv_read_csr(context.get(), csr->offset, reinterpret_cast<void*>(64), 8), EFAULT);
  for (std::uint32_t offset = 0; offset < 1u << 20; offset += 8) {
    std::uint64_t word = 0;
    // The first register that software can change, written with what it holds.
    if (cxidv_read_csr(context.get(), offset, &word, sizeof word)) continue;
    if (cxidv_write_csr(context.get(), offset, &word, sizeof word)) continue;
    EXPECT_EQ(cxidv_write_csr(context.get(), offset, reinterpret_cast<void*>(64), 8), EFAULT);
    return;
  }
  FAIL() << "no register can be written";
}

TEST_F(Unusable, ADmaBufThatTheDeviceCannotReach) {
  const int file = memfd_create("memory", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, 4096), 0);
  cxidv_md_attr attr = {};
  attr.comp_mask = CXIDV_MD_MASK_DMABUF;
  attr.length = 4097;
  attr.flags = CXIDV_MD_READ;
  attr.dmabuf_fd = file;
  EXPECT_EQ(error_of(cxidv_map_md(lni.get(), &attr)), EINVAL);
  attr.length = 4096;
  attr.dmabuf_fd = 9999;
  EXPECT_EQ(error_of(cxidv_map_md(lni.get(), &attr)), EBADF);
  const int readable =
      open(("/proc/self/fd/" + std::to_string(file)).c_str(), O_RDONLY | O_CLOEXEC);
  attr.dmabuf_fd = readable;
  attr.flags = CXIDV_MD_READ | CXIDV_MD_WRITE;
  EXPECT_EQ(error_of(cxidv_map_md(lni.get(), &attr)), EACCES);
  close(readable);
  attr.flags = CXIDV_MD_READ;
  attr.dmabuf_fd = file;
  cxidv_md* md = cxidv_map_md(lni.get(), &attr);
  ASSERT_NE(md, nullptr);
  close(file);  // the descriptor keeps the memory
  EXPECT_EQ(cxidv_unmap_md(md), 0);
}

TEST_F(Unusable, PortalEntriesWithMoreListEntriesThanThereAre) {
  cxidv_device_attr device;
  ASSERT_EQ(cxidv_query_device(context.get(), &device, sizeof device), 0);
  cxidv_pte_attr attr = {};
  attr.le_charge = device.num_les + 1;
  EXPECT_EQ(error_of(cxidv_create_pte(lni.get(), &attr)), EINVAL);
}

TEST_F(Unusable, MemoryForOffsetsThatCannotBeWritten) {
  EqPtr eq = make_eq(lni);
  PtePtr pte = make_pte(lni, eq.get(), CXIDV_PTE_MATCHING | CXIDV_PTE_LONG_EVENTS);
  CmdqPtr queue = make_target_queue(lni, eq.get());
  DomainPtr domain = make_domain(lni);
  ASSERT_EQ(cxidv_map_pte(pte.get(), domain.get(), 0, 0), 0);
  // An unexpected message, of no bytes.
  cxidv_le_attr entry = {};
  entry.ptn = pte->ptn;
  entry.list = C_PTL_LIST_OVERFLOW;
  entry.flags = C_LE_OP_PUT;
  entry.buffer_id = 1;
  entry.match_id = CXIDV_MATCH_ID_ANY;
  c_target_cmd append;
  ASSERT_EQ(cxidv_build_le(&entry, &append), 0);
  ASSERT_EQ(cxidv_emit_append(queue.get(), &append), 0);
  ASSERT_EQ(set_state(queue, pte, C_PTLTE_ENABLED), 0);
  EXPECT_EQ(cxidv_event_type(next(eq)), std::uint32_t{C_EVENT_LINK});
  EXPECT_EQ(cxidv_event_type(next(eq)), std::uint32_t{C_EVENT_STATE_CHANGE});
  CpPtr cp = make_cp(lni);
  CmdqPtr transmit(made(try_transmit_queue(lni, cp.get()), "queue"));
  cxidv_device_attr device;
  ASSERT_EQ(cxidv_query_device(context.get(), &device, sizeof device), 0);
  c_full_dma_cmd put = {};
  c_fab_addr dfa = {};
  std::uint32_t index_ext = 0;
  ASSERT_EQ(cxidv_encode_dfa(device.pid_bits, device.nid, domain->pid, 0, &dfa, &index_ext), 0);
  put.dfa = dfa;
  put.remote_offset = 77;
  ASSERT_EQ(cxidv_emit_put(transmit.get(), &put), 0);
  cxidv_cmdq_ring(transmit.get());
  EXPECT_EQ(cxidv_event_type(next(eq)), std::uint32_t{C_EVENT_PUT});

  cxidv_pte_status status = {};
  status.max_offsets = 1;
  status.ule_offsets = reinterpret_cast<std::uint64_t*>(64);
  EXPECT_EQ(cxidv_query_pte(pte.get(), &status, sizeof status), EFAULT);
  std::uint64_t offset = 0;
  status.ule_offsets = &offset;
  EXPECT_EQ(cxidv_query_pte(pte.get(), &status, sizeof status), 0);
  EXPECT_EQ(status.ule_count, 1u);
  EXPECT_EQ(offset, 77u);
  EXPECT_EQ(cxidv_unmap_pte(pte.get(), domain.get(), 0, 0), 0);
}

TEST_F(Unusable, SleepEndsWithASignal) {
  Channel channel(made(ibv_create_comp_channel(context.get()), "channel"));
  EqPtr eq = make_eq(lni, channel.get());
  struct sigaction action = {}, before = {};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, &before);
  const pthread_t sleeper = pthread_self();
  std::atomic<bool> over = false;
  std::thread sender([&] {
    while (!over) {  // until a signal has met the sleep
      pthread_kill(sleeper, SIGUSR1);
      std::this_thread::yield();
    }
  });
  cxidv_eq* woken = nullptr;
  EXPECT_EQ(cxidv_get_eq_event(channel.get(), &woken), EINTR);
  over = true;
  sender.join();
  sigaction(SIGUSR1, &before, nullptr);
}

// A suite of its own, as it breaks the device.
class Removed : public Native {};

TEST_F(Removed, DevicesAnswerNoQuestionAndChangeNothing) {
  DomainPtr domain = make_domain(lni);
  EqPtr eq = make_eq(lni);
  PtePtr pte = make_pte(lni, eq.get());
  CtPtr ct(made(cxidv_create_ct(lni.get(), nullptr), "ct"));
  Channel channel(made(ibv_create_comp_channel(context.get()), "channel"));
  EqPtr waited_for = make_eq(lni, channel.get());
  ASSERT_EQ(std::system(CXI_SIM " set device cxi0 failed"), 0);

  cxidv_eq* told = nullptr;
  EXPECT_EQ(cxidv_get_eq_event(channel.get(), &told), EIO);
  cxidv_cp_attr cp = {};
  cp.vni = first_vni;
  cp.traffic_class = CXIDV_TC_BEST_EFFORT;
  cxidv_svc_attr svc = grant();
  cxidv_pte_attr entry = {};
  cxidv_pte_status status = {};
  std::uint32_t first = 0;
  std::uint64_t success = 0, failure = 0;
  EXPECT_EQ(error_of(cxidv_context_lni(context.get())), EIO);
  EXPECT_EQ(error_of(cxidv_alloc_cp(lni.get(), &cp)), EIO);
  EXPECT_EQ(error_of(cxidv_alloc_svc(context.get(), &svc)), EIO);
  EXPECT_EQ(cxidv_modify_svc(context.get(), 1, &svc), EIO);
  EXPECT_EQ(cxidv_query_svc(context.get(), 1, &svc, sizeof svc), EIO);
  EXPECT_EQ(svc.vnis[0], grant().vnis[0]);
  cxidv_device_attr device = {};
  device.nid = 77;
  EXPECT_EQ(cxidv_query_device(context.get(), &device, sizeof device), EIO);
  EXPECT_EQ(device.nid, 77u);
  cxidv_lni_info info = {};
  info.rgid = 77;
  EXPECT_EQ(cxidv_query_lni(lni.get(), &info, sizeof info), EIO);
  EXPECT_EQ(info.rgid, 77u);
  EXPECT_EQ(cxidv_remove_svc(context.get(), 1), EIO);
  EXPECT_EQ(cxidv_reserve_pids(lni.get(), first_vni, C_PID_ANY, 1, &first), EIO);
  EXPECT_EQ(error_of(cxidv_create_pte(lni.get(), &entry)), EIO);
  EXPECT_EQ(cxidv_map_pte(pte.get(), domain.get(), 1, 0), EIO);
  EXPECT_EQ(cxidv_query_pte(pte.get(), &status, sizeof status), EIO);
  EXPECT_EQ(cxidv_invalidate_le(pte.get(), C_PTL_LIST_PRIORITY, 1), EIO);
  EXPECT_EQ(cxidv_transition_pte(pte.get(), 0), EIO);
  EXPECT_EQ(cxidv_set_ct(ct.get(), 1, 0), EIO);
  EXPECT_EQ(cxidv_read_ct(ct.get(), &success, &failure), EIO);
  EXPECT_EQ(cxidv_ct_inc_success(ct.get(), 1), EIO);
}

// Breaks the device, too.
class Lost : public Native {};

TEST_F(Lost, DevicesLetEverythingGoInAnyOrder) {
  std::vector<char> memory(8192);
  cxidv_md_attr md_attr = {};
  md_attr.addr = memory.data();
  md_attr.length = memory.size();
  md_attr.flags = CXIDV_MD_READ;
  DomainPtr domain = make_domain(lni);
  EqPtr eq = make_eq(lni), lent = make_eq(lni, nullptr, 1024);
  PtePtr pte = make_pte(lni, eq.get());
  CpPtr cp = make_cp(lni);
  CmdqPtr queue(made(try_transmit_queue(lni, cp.get()), "queue"));
  MdPtr md(made(cxidv_map_md(lni.get(), &md_attr), "md"));
  CtPtr ct(made(cxidv_create_ct(lni.get(), nullptr), "ct"));
  ibv_cq_init_attr_ex cq_attr = {};
  cq_attr.cqe = 16;
  cxidv_cq_attr on_lent = {};
  on_lent.eq = lent.get();
  CqPtr cq(ibv_cq_ex_to_cq(made(cxidv_create_cq(context.get(), &cq_attr, &on_lent), "cq")));
  ASSERT_EQ(cxidv_map_pte(pte.get(), domain.get(), 0, 0), 0);
  ASSERT_EQ(std::system(CXI_SIM " set device cxi0 failed"), 0);

  lni.reset();
  EXPECT_EQ(cxidv_destroy_eq(lent.get()), EBUSY);
  std::uint64_t success = 0, failure = 0;
  EXPECT_EQ(cxidv_read_ct(ct.get(), &success, &failure), EIO);
  EXPECT_EQ(cxidv_resize_eq(eq.get(), 128), EIO);
  EXPECT_EQ(cxidv_unmap_pte(pte.get(), domain.get(), 0, 0), EIO);
  EXPECT_EQ(error_of(cxidv_create_cq(context.get(), &cq_attr, &on_lent)), EIO);
  domain.reset();
  cp.reset();
  eq.reset();
}

}  // namespace
}  // namespace on_model
