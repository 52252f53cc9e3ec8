// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Many opens, one after the other and all at once, while devices come and go. Built with the
// sanitizers, which look for leaks and races.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <filesystem>
#include <functional>
#include <thread>

#include "device_list.hpp"
#include "fake_sysfs.hpp"

namespace stress {
namespace {

constexpr int cycles = 1'000;
constexpr int thread_count = 64;
constexpr int opens_per_thread = 20;
constexpr int changes = 300;

long open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

bool opens_and_answers(const std::string& name) {
  const Context context = open_device(name);
  ibv_port_attr attr{};
  return context && ibv_query_port(context.get(), 1, &attr) == 0 && attr.state == IBV_PORT_ACTIVE;
}

void run_threads(int count, const std::function<void(int)>& work) {
  std::barrier start(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; i++)
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      work(i);
    });
  for (std::thread& thread : threads)
    thread.join();
}

class Opening : public testing::Test {
 protected:
  void SetUp() override {
    FakeSysfs::instance().clear();
    for (int i = 0; i < 4; i++)
      FakeSysfs::instance().add(i, "fake" + std::to_string(i));
  }
};

TEST_F(Opening, AThousandTimesLeavesNothingBehind) {
  ASSERT_TRUE(opens_and_answers("fake0"));
  const long before = open_descriptors();
  for (int i = 0; i < cycles; i++)
    ASSERT_TRUE(opens_and_answers("fake" + std::to_string(i % 4)));
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(Opening, AThousandFailuresLeaveNothingBehind) {
  FakeSysfs::instance().add(4, "fakebroken");
  FakeSysfs::instance().add(5, "fakesilent");
  const DeviceList list;
  const long before = open_descriptors();
  for (int i = 0; i < cycles; i++) {
    ASSERT_EQ(ibv_open_device(list.find("fakebroken")), nullptr);
    ASSERT_EQ(errno, ENXIO);
    ASSERT_EQ(ibv_open_device(list.find("fakesilent")), nullptr);
    ASSERT_EQ(errno, ENOTTY);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(Opening, SixtyFourThreadsMayOpenAtOnce) {
  const long before = open_descriptors();
  std::atomic<int> good = 0;
  run_threads(thread_count, [&](int thread) {
    for (int i = 0; i < opens_per_thread; i++)
      if (opens_and_answers("fake" + std::to_string((thread + i) % 4))) good++;
  });
  EXPECT_EQ(good, thread_count * opens_per_thread);
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(Opening, SixtyFourThreadsMayShareOneDeviceOfOneList) {
  const DeviceList list;
  ibv_device* device = list.find("fake1");
  ASSERT_NE(device, nullptr);
  std::atomic<int> good = 0;
  run_threads(thread_count, [&](int) {
    for (int i = 0; i < opens_per_thread; i++) {
      const Context context(ibv_open_device(device));
      if (context && ibv_get_device_guid(device) != 0) good++;
    }
  });
  EXPECT_EQ(good, thread_count * opens_per_thread);
}

// What the kernel says when a device is opened goes into the device, which all of them read.
TEST_F(Opening, SixtyFourThreadsMayRegisterMemoryMeanwhile) {
  FakeSysfs::instance().add(4, "fakekernel");
  const DeviceList list;
  std::atomic<int> good = 0;
  run_threads(thread_count, [&](int) {
    for (int i = 0; i < 5 * opens_per_thread; i++) {
      const Context context(ibv_open_device(list.find("fakekernel")));
      ibv_pd pd{};
      pd.context = context.get();
      char memory[64];
      // The provider has no memory regions.
      if (context && !ibv_reg_mr(&pd, memory, sizeof(memory), IBV_ACCESS_RELAXED_ORDERING) &&
          errno == EOPNOTSUPP)
        good++;
    }
  });
  EXPECT_EQ(good, thread_count * 5 * opens_per_thread);
}

TEST_F(Opening, ADeviceMayComeAndGoWhileOthersAreOpened) {
  std::atomic<bool> over = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 8; i++)
    readers.emplace_back([&, i] {
      while (!over) {
        if (!opens_and_answers("fake" + std::to_string(i % 4))) wrong++;
        open_device("fake7");  // there or not
        for (const std::string& name : DeviceList().names())
          if (!name.starts_with("fake")) wrong++;
      }
    });
  for (int i = 0; i < changes; i++) {
    FakeSysfs::instance().add(7, "fake7");
    if (i % 2) std::this_thread::yield();
    FakeSysfs::instance().remove(7, "fake7");
  }
  over = true;
  for (std::thread& reader : readers)
    reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_THAT(DeviceList().names(), testing::ElementsAre("fake0", "fake1", "fake2", "fake3"));
}

TEST_F(Opening, AContextOutlivesItsDevice) {
  const Context context = open_device("fake2");
  ASSERT_TRUE(context);
  FakeSysfs::instance().remove(2, "fake2");
  EXPECT_EQ(DeviceList().find("fake2"), nullptr);
  EXPECT_STREQ(ibv_get_device_name(context->device), "fake2");
  ibv_port_attr attr{};
  EXPECT_EQ(ibv_query_port(context.get(), 1, &attr), 0);
  FakeSysfs::instance().add(2, "fake2");
  const Context successor = open_device("fake2");
  ASSERT_TRUE(successor);
  EXPECT_NE(successor->device, context->device);
}

}  // namespace
}  // namespace stress
