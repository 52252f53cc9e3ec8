// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Regions that share keys, change, lie in files, or are very large.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

#include "rma_on_model.hpp"

namespace on_model {
namespace {

class SharedKeys : public Rma {
 protected:
  void make(Window& window, std::uint64_t application_key, ibv_job_key* restricted_to = nullptr) {
    ibv_mr_init_attr attr = {};
    attr.length = window.length;
    attr.access = all_rights;
    attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_RKEY;
    attr.addr = window.data();
    attr.rkey = application_key;
    if (restricted_to) attr.comp_mask |= IBV_REG_MR_MASK_JKEY;
    attr.job_key = restricted_to;
    window.region = Mr(made(ibv_reg_mr_ex(pd.get(), &attr), "mr"));
    EXPECT_EQ(window.mr()->rkey64, application_key);
  }
  /// A queue pair of another job at the same place as the target, and its address.
  QpPtr twin(ibv_job_key* job_key) {
    return QpPtr(
        made(try_create_qp(pd.get(), target_cq.get(), target_cq.get(), job_key, {}), "qp"));
  }

  static constexpr std::uint64_t shared = 0x123456789;
  Job other_job = alloc_job(10);
  Key other_key{made(ibv_create_jkey(pd.get(), other_job.get(), 0), "jkey")};
};

TEST_F(SharedKeys, NameOneRegionInEachJob) {
  QpPtr second = twin(other_key.get());
  Ah to_second = address_of(second);
  Window here(4096), there(4096);
  make(here, shared);
  make(there, shared);
  ASSERT_EQ(attach(here), 0);
  ASSERT_EQ(ibv_attach_mr(second.get(), there.mr()), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 100, shared, 0), IBV_WC_SUCCESS);
  EXPECT_TRUE(here.untouched_but(0, 100));
  EXPECT_TRUE(there.untouched());
  std::swap(to_target, to_second);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 500, 100, shared, 200, other_key->jkey), IBV_WC_SUCCESS);
  EXPECT_TRUE(here.untouched_but(0, 100));
  EXPECT_TRUE(there.untouched_but(200, 100));
  EXPECT_EQ(std::memcmp(there.data() + 200, buffer.data() + 500, 100), 0);
  // In the wrong job neither queue pair exists.
  EXPECT_EQ(outcome(IBV_WR_RDMA_READ, 0, 100, shared, 0), IBV_WC_RETRY_EXC_ERR);
  std::swap(to_target, to_second);
  EXPECT_EQ(outcome(IBV_WR_RDMA_READ, 0, 100, shared, 0, other_key->jkey), IBV_WC_RETRY_EXC_ERR);
  // When one goes the other one stays.
  here.region.reset();
  EXPECT_EQ(outcome(IBV_WR_RDMA_READ, 0, 100, shared, 0), IBV_WC_REM_ACCESS_ERR);
  std::swap(to_target, to_second);
  EXPECT_EQ(outcome(IBV_WR_RDMA_READ, 0, 100, shared, 200, other_key->jkey), IBV_WC_SUCCESS);
}

TEST_F(SharedKeys, GoWithJobRestriction) {
  QpPtr second = twin(other_key.get());
  Window here(4096), there(4096);
  make(here, shared, key.get());
  make(there, shared, other_key.get());
  EXPECT_EQ(attach(there), EINVAL);
  EXPECT_EQ(ibv_attach_mr(second.get(), here.mr()), EINVAL);
  ASSERT_EQ(attach(here), 0);
  ASSERT_EQ(ibv_attach_mr(second.get(), there.mr()), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 64, shared, 0), IBV_WC_SUCCESS);
  EXPECT_TRUE(there.untouched());
  EXPECT_EQ(ibv_detach_mr(second.get(), there.mr()), 0);
  there.region.reset();
}

TEST_F(SharedKeys, AreTakenOnceByAQueuePair) {
  Window first(4096), second(4096);
  make(first, shared);
  make(second, shared);
  ASSERT_EQ(attach(first), 0);
  EXPECT_EQ(attach(second), EEXIST);
  EXPECT_EQ(attach(first), EEXIST);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 64, shared, 0), IBV_WC_SUCCESS);
  ASSERT_EQ(detach(first), 0);
  ASSERT_EQ(attach(second), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 64, shared, 128), IBV_WC_SUCCESS);
  EXPECT_TRUE(first.untouched_but(0, 64));
  EXPECT_TRUE(second.untouched_but(128, 64));
  // Another queue pair of the same job may have it at the same time.
  QpPtr other = create_qp({}, target_cq.get(), target_cq.get());
  EXPECT_EQ(ibv_attach_mr(other.get(), first.mr()), 0);
}

class Reregistering : public Rma {
 protected:
  int change(Window& window, int flags, void* addr = nullptr, std::size_t length = 0,
             int access = 0, ibv_pd* other = nullptr) {
    errno = 0;
    return ibv_rereg_mr(window.mr(), flags, other, addr, length, access);
  }
};

TEST_F(Reregistering, MovesARegion) {
  Window window(pd.get(), 4096, all_rights);
  Window next(16'384);
  const std::uint64_t remote = window.mr()->rkey64;
  const std::uint32_t local_key = window.mr()->lkey;
  ASSERT_EQ(change(window, IBV_REREG_MR_CHANGE_TRANSLATION, next.data(), next.length), 0);
  EXPECT_EQ(window.mr()->rkey64, remote);
  EXPECT_EQ(window.mr()->lkey, local_key);
  EXPECT_EQ(window.mr()->addr, next.data());
  EXPECT_EQ(window.mr()->length, next.length);
  ASSERT_EQ(attach(window), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 5000, remote, 10'000), IBV_WC_SUCCESS);
  EXPECT_TRUE(next.untouched_but(10'000, 5000));
  EXPECT_TRUE(window.untouched());
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 100, remote, 16'300), IBV_WC_REM_ACCESS_ERR);
  // For local use as well: the old memory does not belong to the key any more.
  ibv_sge sge = {reinterpret_cast<std::uintptr_t>(next.data()) + 10'000, 5000, local_key};
  ASSERT_EQ(rma_list(IBV_WR_RDMA_WRITE, 1, &sge, 1, remote, 0), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(next.data(), buffer.data(), 5000), 0);
  sge.addr = reinterpret_cast<std::uintptr_t>(window.data());
  sge.length = 8;
  ASSERT_EQ(rma_list(IBV_WR_RDMA_WRITE, 1, &sge, 1, remote, 0), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_LOC_PROT_ERR);
  window.region.reset();
}

TEST_F(Reregistering, ChangesRights) {
  Window window(pd.get(), 4096, all_rights);
  const std::uint64_t remote = window.mr()->rkey64;
  ASSERT_EQ(change(window, IBV_REREG_MR_CHANGE_ACCESS, nullptr, 0, IBV_ACCESS_REMOTE_READ), 0);
  ASSERT_EQ(attach(window), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_READ, 0, 64, remote, 0), IBV_WC_SUCCESS);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 64, remote, 0), IBV_WC_REM_ACCESS_ERR);
  ibv_sge sge = {reinterpret_cast<std::uintptr_t>(window.data()), 64, window.mr()->lkey};
  ASSERT_EQ(rma_list(IBV_WR_RDMA_READ, 1, &sge, 1, remote, 64), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_LOC_PROT_ERR);
  ASSERT_EQ(detach(window), 0);
  ASSERT_EQ(change(window, IBV_REREG_MR_CHANGE_ACCESS, nullptr, 0, all_rights), 0);
  ASSERT_EQ(attach(window), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 64, remote, 0), IBV_WC_SUCCESS);
}

TEST_F(Reregistering, MovesToAnotherDomain) {
  Pd other(made(ibv_alloc_pd(context.get()), "pd"));
  Window window(pd.get(), 4096, all_rights);
  ASSERT_EQ(change(window, IBV_REREG_MR_CHANGE_PD, nullptr, 0, 0, other.get()), 0);
  EXPECT_EQ(window.mr()->pd, other.get());
  EXPECT_EQ(attach(window), EINVAL);
  EXPECT_EQ(ibv_dealloc_pd(other.get()), EBUSY);
  ibv_sge sge = {reinterpret_cast<std::uintptr_t>(window.data()), 64, window.mr()->lkey};
  ASSERT_EQ(send_list(source, to_target.get(), 1, &sge, 1), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_LOC_PROT_ERR);
  ASSERT_EQ(change(window, IBV_REREG_MR_CHANGE_PD, nullptr, 0, 0, pd.get()), 0);
  ASSERT_EQ(attach(window), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 64, window.mr()->rkey64, 0), IBV_WC_SUCCESS);
}

TEST_F(Reregistering, LeavesTheRegionWhenItIsRefused) {
  Window window(pd.get(), 8192, all_rights);
  const std::uint64_t remote = window.mr()->rkey64;
  ASSERT_EQ(attach(window), 0);
  EXPECT_EQ(change(window, IBV_REREG_MR_CHANGE_ACCESS), IBV_REREG_MR_ERR_CMD);
  EXPECT_EQ(errno, EBUSY);
  ASSERT_EQ(detach(window), 0);
  ibv_mr_init_attr attr = {};
  attr.length = 1000;
  attr.access = all_rights;
  attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_CUR_MR;
  attr.addr = window.data();
  attr.cur_mr = window.mr();
  Mr derived(made(ibv_reg_mr_ex(pd.get(), &attr), "derived"));
  EXPECT_EQ(change(window, IBV_REREG_MR_CHANGE_ACCESS), IBV_REREG_MR_ERR_CMD);
  EXPECT_EQ(errno, EBUSY);
  derived.reset();
  EXPECT_EQ(change(window, IBV_REREG_MR_CHANGE_ACCESS, nullptr, 0, IBV_ACCESS_REMOTE_WRITE),
            IBV_REREG_MR_ERR_CMD);
  EXPECT_EQ(errno, EINVAL);
  void* nowhere = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_EQ(change(window, IBV_REREG_MR_CHANGE_TRANSLATION, nowhere, 4096), IBV_REREG_MR_ERR_CMD);
  EXPECT_EQ(errno, EFAULT);
  munmap(nowhere, 4096);
  EXPECT_EQ(change(window, IBV_REREG_MR_CHANGE_PD), IBV_REREG_MR_ERR_CMD);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(change(window, 0), IBV_REREG_MR_ERR_CMD);
  EXPECT_EQ(errno, EINVAL);
  // Everything is as it was.
  EXPECT_EQ(window.mr()->rkey64, remote);
  ASSERT_EQ(attach(window), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 8192, remote, 0), IBV_WC_SUCCESS);
  EXPECT_TRUE(window.untouched_but(0, 8192));
}

class DmaBufs : public Rma {
 protected:
  static constexpr std::size_t size = 64 * 1024;
  static constexpr std::uint64_t base = 0x5000'0000'0000;

  DmaBufs() : fd(memfd_create("stand-in", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    EXPECT_EQ(ftruncate(fd, size), 0);
    void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    contents = static_cast<std::uint8_t*>(at);
    std::fill_n(contents, size, std::uint8_t{0x5c});
  }
  ~DmaBufs() override {
    region.reset();
    munmap(contents, size);
    if (fd >= 0) close(fd);
  }
  bool untouched_but(std::size_t from, std::size_t count) const {
    for (std::size_t i = 0; i < size; i++)
      if ((i < from || i >= from + count) && contents[i] != 0x5c) return false;
    return true;
  }
  int refused(std::uint64_t offset, std::size_t length, std::uint64_t iova, int of, int access) {
    errno = 0;
    EXPECT_EQ(ibv_reg_dmabuf_mr(pd.get(), offset, length, iova, of, access), nullptr);
    return errno;
  }

  int fd;
  std::uint8_t* contents = nullptr;
  Mr region;
};

TEST_F(DmaBufs, AreWrittenAndReadByPeers) {
  region = Mr(made(ibv_reg_dmabuf_mr(pd.get(), 4196, 50'000, base + 100, fd, all_rights), "mr"));
  ASSERT_EQ(ibv_attach_mr(target.get(), region.get()), 0);
  close(fd);  // the region keeps the memory
  fd = -1;
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 40'000, region->rkey64, 5000), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(contents + 4196 + 5000, buffer.data(), 40'000), 0);
  EXPECT_TRUE(untouched_but(4196 + 5000, 40'000));
  std::fill(buffer.begin(), buffer.end(), std::uint8_t{0});
  EXPECT_EQ(outcome(IBV_WR_RDMA_READ, 0, 40'000, region->rkey64, 5000), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(contents + 4196 + 5000, buffer.data(), 40'000), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 8, region->rkey64, 49'993), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 100, region->rkey64, 0), IBV_WC_SUCCESS);
  EXPECT_EQ(wait(target_cq.get(), 1)[0].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  const std::uint32_t narrow = region->rkey;
  std::memset(contents + 4196 + 4, 0, 8);  // a multiple of eight
  EXPECT_EQ(build([&](ibv_qp_ex* ex) { ibv_wr_atomic_fetch_add(ex, narrow, 4, 9); }, 0, 8),
            IBV_WC_SUCCESS);
  EXPECT_EQ(contents[4196 + 4], 9);
}

TEST_F(DmaBufs, AreSentAndReceived) {
  region = Mr(made(ibv_reg_dmabuf_mr(pd.get(), 0, size, base, fd, IBV_ACCESS_LOCAL_WRITE), "mr"));
  Window window(pd.get(), size, all_rights);
  ASSERT_EQ(attach(window), 0);
  for (std::size_t i = 0; i < size; i++)
    contents[i] = static_cast<std::uint8_t>(i * 7);
  for (const std::uint32_t length : {1u, 192u, 193u, 30'000u}) {
    std::fill_n(window.data(), window.length, Window::fill);
    ibv_sge from = {base + 1000, length, region->lkey};
    ASSERT_EQ(rma_list(IBV_WR_RDMA_WRITE, 1, &from, 1, window.mr()->rkey64, 3), 0);
    EXPECT_EQ(wait(1)[0].status, IBV_WC_SUCCESS);
    EXPECT_EQ(std::memcmp(window.data() + 3, contents + 1000, length), 0);
    ibv_sge to = {base + 32'000, length, region->lkey};
    ASSERT_EQ(receive_list(target, 5, &to, 1), 0);
    ASSERT_EQ(send_list(source, to_target.get(), 6, &from, 1), 0);
    EXPECT_EQ(wait(1)[0].status, IBV_WC_SUCCESS);
    EXPECT_EQ(wait(target_cq.get(), 1)[0].byte_len, length);
    EXPECT_EQ(std::memcmp(contents + 32'000, contents + 1000, length), 0);
  }
  // What follows each other is one piece; what does not would need the CPU.
  ibv_sge pieces[2] = {{base, 500, region->lkey}, {base + 500, 500, region->lkey}};
  ASSERT_EQ(receive(target, 5, 0, 4096), 0);
  ASSERT_EQ(send_list(source, to_target.get(), 6, pieces, 2), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_SUCCESS);
  wait(target_cq.get(), 1);
  EXPECT_EQ(std::memcmp(buffer.data(), contents, 1000), 0);
  pieces[1].addr += 8;
  EXPECT_EQ(send_list(source, to_target.get(), 6, pieces, 2), EINVAL);
  EXPECT_EQ(rma_list(IBV_WR_RDMA_WRITE, 1, pieces, 2, window.mr()->rkey64, 0), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_SUCCESS);
}

TEST_F(DmaBufs, RefuseWhatIsNotInTheFile) {
  EXPECT_EQ(refused(0, size + 1, base, fd, 0), EINVAL);
  EXPECT_EQ(refused(4096, size, base, fd, 0), EINVAL);
  EXPECT_EQ(refused(0, 4096, base + 1, fd, 0), EINVAL);
  EXPECT_EQ(refused(0, 4096, base, 9999, 0), EBADF);
  EXPECT_EQ(refused(0, 4096, base, -1, 0), EBADF);
  ibv_mr_init_attr attr = {};
  attr.length = 4096;
  attr.fd = -1;
  attr.comp_mask = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA;
  EXPECT_EQ(ibv_reg_mr_ex(pd.get(), &attr), nullptr);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(refused(0, 4096, base, context->cmd_fd, 0), EINVAL);
  const int other = open("/dev/null", O_RDWR | O_CLOEXEC);
  EXPECT_EQ(refused(0, 4096, base, other, 0), EINVAL);
  close(other);
  ASSERT_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
  EXPECT_EQ(refused(0, 4096, base, fd, IBV_ACCESS_LOCAL_WRITE), EACCES);
  region = Mr(made(ibv_reg_dmabuf_mr(pd.get(), 0, 4096, base, fd, IBV_ACCESS_REMOTE_READ), "mr"));
  ASSERT_EQ(ibv_attach_mr(target.get(), region.get()), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_READ, 0, 4096, region->rkey64, 0), IBV_WC_SUCCESS);
  EXPECT_EQ(buffer[0], 0x5c);
}

TEST_F(DmaBufs, AreNamedByTheDescriptorsOfTheThread) {
  std::thread([&] {
    ASSERT_EQ(unshare(CLONE_FILES), 0);
    const int other = open("/dev/null", O_RDWR | O_CLOEXEC);
    ASSERT_EQ(dup2(other, fd), fd);
    EXPECT_NE(refused(0, 4096, base, fd, 0), 0);
  }).join();
  EXPECT_EQ(ibv_dereg_mr(ibv_reg_dmabuf_mr(pd.get(), 0, 4096, base, fd, 0)), 0);
}

TEST_F(DmaBufs, OfAFileThatIsCutShortAnswerWithAnError) {
  region = Mr(made(ibv_reg_dmabuf_mr(pd.get(), 0, size, base, fd, all_rights), "mr"));
  ASSERT_EQ(ibv_attach_mr(target.get(), region.get()), 0);
  ASSERT_EQ(ftruncate(fd, 4096), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 64, region->rkey64, 8192), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(outcome(IBV_WR_RDMA_READ, 0, 64, region->rkey64, 8192), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 64, region->rkey64, 0), IBV_WC_SUCCESS);
  EXPECT_EQ(lseek(fd, 0, SEEK_END), 4096);
}

/// The same pages of a small file again and again, in as much address space as is asked for.
class Repeated {
 public:
  static constexpr std::uint64_t part = 16 << 20;

  explicit Repeated(std::uint64_t length) : length_(length) {
    fd_ = memfd_create("repeated", MFD_CLOEXEC);
    EXPECT_EQ(ftruncate(fd_, part), 0);
    void* at = mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    memory_ = static_cast<std::uint8_t*>(at);
    for (std::uint64_t done = 0; done < length; done += part)
      EXPECT_NE(mmap(memory_ + done, std::min(part, length - done), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_FIXED, fd_, 0),
                MAP_FAILED);
  }
  ~Repeated() {
    munmap(memory_, length_);
    close(fd_);
  }
  std::uint8_t* data() const { return memory_; }

 private:
  std::uint64_t length_;
  int fd_ = -1;
  std::uint8_t* memory_ = nullptr;
};

class Huge : public Rma {};

TEST_F(Huge, TheLargestMessageIsOneRequest) {
  constexpr std::uint64_t most = (std::uint64_t{1} << 32) - 1;
  constexpr std::uint64_t length = std::uint64_t{1} << 32;
  Repeated from(length), to(length);
  for (std::uint64_t i = 0; i < Repeated::part; i += 4096)
    std::memset(from.data() + i, static_cast<int>(i / 4096 % 251), 4096);
  Mr local_mr(made(ibv_reg_mr(pd.get(), from.data(), length, IBV_ACCESS_LOCAL_WRITE), "mr"));
  Mr remote(made(ibv_reg_mr(pd.get(), to.data(), length, all_rights), "mr"));
  ASSERT_EQ(ibv_attach_mr(target.get(), remote.get()), 0);
  const auto start = reinterpret_cast<std::uintptr_t>(from.data());
  ibv_sge all = {start, static_cast<std::uint32_t>(most), local_mr->lkey};
  ASSERT_EQ(rma_list(IBV_WR_RDMA_WRITE, 1, &all, 1, remote->rkey64, 0), 0);
  ibv_wc wc = wait(1)[0];
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  EXPECT_EQ(wc.byte_len, most);
  EXPECT_EQ(std::memcmp(to.data(), from.data(), Repeated::part), 0);
  std::memset(from.data(), 0, Repeated::part);
  ASSERT_EQ(rma_list(IBV_WR_RDMA_READ, 2, &all, 1, remote->rkey64, 0), 0);
  wc = wait(1)[0];
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  EXPECT_EQ(wc.byte_len, most);
  EXPECT_EQ(std::memcmp(to.data(), from.data(), Repeated::part), 0);
  // One more byte, in a second element, is more than a request has.
  ibv_sge two[2] = {all, {start, 1, local_mr->lkey}};
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND})
    EXPECT_EQ(rma_list(opcode, 3, two, 2, remote->rkey64, 0), EINVAL);
  // So is what ends behind the region.
  EXPECT_EQ(rma_list(IBV_WR_RDMA_WRITE, 4, &all, 1, remote->rkey64, 2), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_REM_ACCESS_ERR);
}

}  // namespace
}  // namespace on_model
