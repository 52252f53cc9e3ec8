// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs/event_pipe.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <span>
#include <string>
#include <thread>

namespace sim::uverbs::test {
namespace {

using Record = std::array<uint64_t, 2>;

TEST(Pipes, GiveBackTheRecordsOfOneSubject) {
  int reader = -1;
  auto pipe = EventPipe::make(sizeof(Record), &reader);
  ASSERT_TRUE(pipe);
  for (uint64_t subject : {1, 2, 1, 3}) {
    const Record record{subject, 7};
    EXPECT_EQ(pipe.value->write(std::as_bytes(std::span(record))), EventPipe::Written::done);
  }
  EXPECT_EQ(pipe.value->remove(1), 2u);
  Record left[4];
  EXPECT_EQ(read(reader, left, sizeof left), static_cast<ssize_t>(2 * sizeof(Record)));
  EXPECT_EQ(left[0][0], 2u);
  EXPECT_EQ(left[1][0], 3u);
  close(reader);
}

TEST(Pipes, AreNotReadForEverWhenTheProgramWritesToThem) {
  int reader = -1;
  auto pipe = EventPipe::make(sizeof(Record), &reader);
  ASSERT_TRUE(pipe);
  const auto before = signal(SIGPIPE, SIG_IGN);
  std::thread program(
      [fd = open(("/proc/self/fd/" + std::to_string(reader)).c_str(), O_WRONLY | O_CLOEXEC)] {
        const std::array<std::byte, 4096> junk{};
        while (write(fd, junk.data(), junk.size()) > 0) {
        }
        close(fd);
      });
  for (int i = 0; i < 100; i++)
    (void)pipe.value->remove(1);
  close(reader);  // nobody reads any more: the program's write fails
  program.join();
  signal(SIGPIPE, before);
}

}  // namespace
}  // namespace sim::uverbs::test
