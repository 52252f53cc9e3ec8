// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The library while there is no memory: each function says so, and keeps none of what it had.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <infiniband/cmd_write.h>
#include <infiniband/driver.h>

#include <functional>

#include "../neighbour.hpp"
#include "../verbs_1_0.hpp"
#include "faults.hpp"

using namespace verbs;
using faults::Fault;
using faults::Holdings;
using faults::holdings;
using faults::Source;

// What old programs call by the versioned names.
extern "C" {
v1_0::Cq* ibv_create_cq_1_0(v1_0::Context* context, int cqe, void* cq_context,
                            ibv_comp_channel* channel, int comp_vector);
int ibv_destroy_cq_1_0(v1_0::Cq* cq);
v1_0::Pd* ibv_alloc_pd_1_0(v1_0::Context* context);
int ibv_dealloc_pd_1_0(v1_0::Pd* pd);
v1_0::Mr* ibv_reg_mr_1_0(v1_0::Pd* pd, void* addr, size_t length, int access);
int ibv_dereg_mr_1_0(v1_0::Mr* mr);
v1_0::Ah* ibv_create_ah_1_0(v1_0::Pd* pd, ibv_ah_attr* attr);
int ibv_destroy_ah_1_0(v1_0::Ah* ah);
v1_0::Srq* ibv_create_srq_1_0(v1_0::Pd* pd, ibv_srq_init_attr* attr);
int ibv_destroy_srq_1_0(v1_0::Srq* srq);
v1_0::Qp* ibv_create_qp_1_0(v1_0::Pd* pd, v1_0::QpInitAttr* attr);
int ibv_destroy_qp_1_0(v1_0::Qp* qp);
}

namespace {

template <class T>
T* allocated() {
  return static_cast<T*>(calloc(1, sizeof(T)));
}
template <class T>
int freed(T* object) {
  free(object);
  return 0;
}

/// A device whose objects are memory and nothing else.
class MemoryTest : public testing::Test {
 protected:
  MemoryTest() {
    device.ops = &device_ops;
    device.refcount = 1;
    context = static_cast<verbs_context*>(
        _verbs_init_and_alloc_context(&device.device, -1, sizeof(verbs_context), nullptr, 77));
    verbs_context_ops ops{};
    ops.alloc_pd = [](ibv_context*) { return allocated<ibv_pd>(); };
    ops.dealloc_pd = freed<ibv_pd>;
    ops.reg_mr = [](ibv_pd*, void*, size_t, uint64_t, int) {
      auto* mr = allocated<verbs_mr>();
      return mr ? &mr->ibv_mr : nullptr;
    };
    ops.dereg_mr = freed<verbs_mr>;
    ops.create_ah = [](ibv_pd*, ibv_ah_attr*) { return allocated<ibv_ah>(); };
    ops.destroy_ah = freed<ibv_ah>;
    ops.create_cq = [](ibv_context*, int, ibv_comp_channel*, int) { return allocated<ibv_cq>(); };
    ops.destroy_cq = freed<ibv_cq>;
    ops.create_srq = [](ibv_pd*, ibv_srq_init_attr*) { return allocated<ibv_srq>(); };
    ops.destroy_srq = freed<ibv_srq>;
    ops.create_qp = [](ibv_pd* of, ibv_qp_init_attr*) {
      auto* qp = allocated<ibv_qp>();
      if (qp) qp->context = of->context;
      return qp;
    };
    ops.destroy_qp = freed<ibv_qp>;
    verbs_set_ops(context, &ops);
    old.real = &context->context;
    pd.context = &context->context;
    old_pd.context = &old;
    old_pd.real = &pd;
  }
  ~MemoryTest() override {
    verbs_uninit_context(context);
    free(context);
  }

  /// Lets one allocation after the other fail. The object is then destroyed.
  template <class T>
  static void expect_failures(const std::function<T*()>& create, int (*destroy)(T*)) {
    unsigned n = 1;
    for (;; n++) {
      const Holdings before = holdings();
      Fault fault(Source::memory, n, ENOMEM);
      T* made = create();
      const int err = errno;
      if (!fault.end()) {
        ASSERT_NE(made, nullptr);
        EXPECT_EQ(destroy(made), 0);
        break;
      }
      ASSERT_EQ(made, nullptr) << n;
      EXPECT_EQ(err, ENOMEM) << n;
      EXPECT_EQ(holdings(), before) << n;
    }
    EXPECT_GT(n, 1u);
  }
  /// A call that returns an errno value.
  static void expect_refusal(const std::function<int()>& call) {
    const Holdings before = holdings();
    Fault fault(Source::memory, 1, ENOMEM);
    const int err = call();
    EXPECT_TRUE(fault.end());
    EXPECT_EQ(err, ENOMEM);
    EXPECT_EQ(holdings(), before);
  }

  verbs_device_ops device_ops{};
  verbs_device device{};
  verbs_context* context;
  ibv_pd pd{};
  v1_0::Context old{};
  v1_0::Pd old_pd{};
};

TEST_F(MemoryTest, OldObjectsAreMadeAsAWhole) {
  expect_failures<v1_0::Pd>([&] { return ibv_alloc_pd_1_0(&old); }, ibv_dealloc_pd_1_0);
  expect_failures<v1_0::Mr>([&] { return ibv_reg_mr_1_0(&old_pd, &pd, 8, 0); }, ibv_dereg_mr_1_0);
  ibv_ah_attr address{};
  expect_failures<v1_0::Ah>([&] { return ibv_create_ah_1_0(&old_pd, &address); },
                            ibv_destroy_ah_1_0);
  expect_failures<v1_0::Cq>([&] { return ibv_create_cq_1_0(&old, 4, nullptr, nullptr, 0); },
                            ibv_destroy_cq_1_0);
  ibv_srq_init_attr shared{};
  expect_failures<v1_0::Srq>([&] { return ibv_create_srq_1_0(&old_pd, &shared); },
                             ibv_destroy_srq_1_0);
  ibv_cq cq{};
  v1_0::Cq old_cq{};
  old_cq.real = &cq;
  v1_0::QpInitAttr attr{};
  attr.send_cq = attr.recv_cq = &old_cq;
  expect_failures<v1_0::Qp>([&] { return ibv_create_qp_1_0(&old_pd, &attr); }, ibv_destroy_qp_1_0);
}

TEST_F(MemoryTest, OldRequestsAreAllLeft) {
  ibv_qp real{};
  v1_0::Qp qp{};
  qp.real = &real;
  v1_0::SendWr send{};
  v1_0::SendWr* bad_send = nullptr;
  expect_refusal([&] { return v1_0::post_send(&qp, &send, &bad_send); });
  EXPECT_EQ(bad_send, &send);
  v1_0::RecvWr recv{};
  v1_0::RecvWr* bad_recv = nullptr;
  expect_refusal([&] { return v1_0::post_recv(&qp, &recv, &bad_recv); });
  EXPECT_EQ(bad_recv, &recv);
}

TEST_F(MemoryTest, ACopyOfRequestsForTheKernelNeedsRoom) {
  ibv_qp qp{};
  qp.context = &context->context;
  ibv_send_wr send{};
  ibv_send_wr* bad_send = nullptr;
  expect_refusal([&] { return ibv_cmd_post_send(&qp, &send, &bad_send); });
  EXPECT_EQ(bad_send, &send);
  ibv_recv_wr recv{};
  ibv_recv_wr* bad_recv = nullptr;
  expect_refusal([&] { return ibv_cmd_post_recv(&qp, &recv, &bad_recv); });
  EXPECT_EQ(bad_recv, &recv);
}

TEST_F(MemoryTest, CommandsOfAnyLengthNeedRoom) {
  ibv_qp qp{};
  qp.context = &context->context;
  ibv_flow flow{};
  ibv_flow_attr rule{};
  expect_refusal([&] { return ibv_cmd_create_flow(&qp, &flow, &rule, nullptr, 0); });
  ibv_rwq_ind_table_init_attr attr{};
  ibv_rwq_ind_table table{};
  ib_uverbs_ex_create_rwq_ind_table_resp response{};
  expect_refusal([&] {
    return ibv_cmd_create_rwq_ind_table(&context->context, &attr, &table, &response,
                                        sizeof response);
  });
  verbs_counters counters{};
  counters.counters.context = &context->context;
  const uint32_t item = 1;
  ibv_counter_result result{};
  ibv_read_counters_attr read{};
  read.num_items = 1;
  read.result_size = sizeof result;
  read.items = &item;
  read.results = &result;
  expect_refusal([&] { return ibv_cmd_read_counters_ex(&counters, &read, nullptr); });
}

TEST_F(MemoryTest, BuffersAreMadeAsAWhole) {
  expect_failures<ibv_buf>(
      [&] {
        ibv_buf* made = nullptr;
        void* memory = ibv_alloc_buf(&pd, 5000, &made);
        EXPECT_EQ(memory == nullptr, made == nullptr);
        return made;
      },
      [](ibv_buf* buffer) {
        ibv_free_buf(buffer);
        return 0;
      });
}

TEST_F(MemoryTest, AContextThatIsNotMadeTakesItsDescriptorAlong) {
  for (unsigned n : {1u, 2u}) {
    const Holdings before = holdings();
    const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    Fault fault(Source::memory, n, ENOMEM);
    void* made =
        _verbs_init_and_alloc_context(&device.device, fd, sizeof(verbs_context), nullptr, 7);
    const int err = errno;
    EXPECT_TRUE(fault.end());
    EXPECT_EQ(made, nullptr);
    EXPECT_EQ(err, ENOMEM);
    EXPECT_EQ(holdings(), before);
    EXPECT_EQ(device.refcount, 2);
  }
}

TEST(Neighbour, IsFoundOrThereIsNoMemory) {
  IpAddress here{AF_INET, {}};
  ASSERT_EQ(inet_pton(AF_INET, "127.0.0.1", here.bytes.data()), 1);
  Peer peer;
  if (const int error = resolve_peer(here, here, peer))
    GTEST_SKIP() << "this host has no loopback interface: " << -error;
  for (unsigned n = 1;; n++) {
    const Holdings before = holdings();
    Fault fault(Source::memory, n, ENOMEM);
    const int error = resolve_peer(here, here, peer);
    const bool struck = fault.end();
    EXPECT_TRUE(error == 0 || error == -ENOMEM) << "step " << n << ": " << error;
    EXPECT_EQ(holdings(), before) << "step " << n;
    ASSERT_FALSE(HasFailure());
    if (struck) continue;
    EXPECT_EQ(error, 0);
    EXPECT_GT(n, 5u);
    return;
  }
}

}  // namespace
