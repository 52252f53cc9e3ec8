// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Two sides of ibv_ru_pingpong in one process, on a device that the test controls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ostream>
#include <thread>

#include "../common/devices.hpp"
#include "../ru_pingpong/endpoint.hpp"
#include "../ru_pingpong/loop.hpp"
#include "../ru_pingpong/report.hpp"
#include "connected_pair.hpp"
#include "fake_verbs.hpp"

namespace {

using namespace ru_pingpong;
using examples::PeerWatch;
using testing::HasSubstr;

class RuPingpong : public testing::Test {
 protected:
  RuPingpong() {
    unsetenv("SLINGSHOT_VNIS");
    options_.iters = 50;
    options_.rx_depth = 4;
    options_.size = 10000;
  }

  /// What open says when it fails; it must be one line and leave nothing behind.
  std::string open_fails() {
    testing::internal::CaptureStderr();
    {
      Endpoint endpoint(options_);
      EXPECT_FALSE(endpoint.open());
    }
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
    EXPECT_EQ(device_.alive, 0) << "something was not destroyed";
    return said;
  }

  /// Both sides exchange messages. What they said, and whether both came to the end.
  std::pair<bool, std::string> run() {
    Options client_options = options_, server_options = options_;
    client_options.host = "server";
    testing::internal::CaptureStderr();
    bool good = false;
    {
      Endpoint server(server_options), client(client_options);
      good = server.open() && client.open() && server.connect(client.local()) &&
             client.connect(server.local());
      EXPECT_TRUE(good);
      bool server_good = false;
      std::thread other([&] {
        server_good = exchange(server, server_options, PeerWatch(connection_.here)).has_value();
      });
      good = exchange(client, client_options, PeerWatch(connection_.there)).has_value();
      other.join();
      good = good && server_good;
      server_pages_ = check_pages(server.buffer(), 4096);
      good = server.close() && client.close() && good;
    }
    EXPECT_EQ(device_.alive, 0) << "something was not destroyed";
    return {good, testing::internal::GetCapturedStderr()};
  }

  /// What is said when the exchange of a client that is its own peer fails: one line.
  std::string exchange_with_itself_fails() {
    options_.host = "self";
    testing::internal::CaptureStderr();
    {
      Endpoint endpoint(options_);
      EXPECT_TRUE(endpoint.open() && endpoint.connect(endpoint.local()));
      EXPECT_FALSE(exchange(endpoint, options_, PeerWatch(connection_.here)));
    }
    EXPECT_EQ(device_.alive, 0) << "something was not destroyed";
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
    return said;
  }

  fake::State& device_ = fake::reset();
  ConnectedPair connection_;
  Options options_;
  std::string server_pages_;
};

struct Way {
  const char* name;
  void (*choose)(Options&);
  const char* send_path;
};
void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name;
}

class RuPingpongWay : public RuPingpong, public testing::WithParamInterface<Way> {};

TEST_P(RuPingpongWay, EveryMessageArrivesBothWays) {
  GetParam().choose(options_);
  const auto [good, said] = run();
  EXPECT_TRUE(good) << said;
  EXPECT_EQ(said, "");
  EXPECT_EQ(device_.send_path, GetParam().send_path);
  EXPECT_EQ(server_pages_, "") << "the server has what the client sent";
}

INSTANTIATE_TEST_SUITE_P(
    , RuPingpongWay,
    testing::Values(Way{"Plain", [](Options&) {}, "post_send sge64"},
                    Way{"Lkey32", [](Options& o) { o.lkey32 = true; }, "post_send sge"},
                    Way{"Builders", [](Options& o) { o.builders = true; }, "builders sge64"},
                    Way{"BuildersLkey32", [](Options& o) { o.builders = o.lkey32 = true; },
                        "builders sge"},
                    Way{"Imm32",
                        [](Options& o) {
                          o.builders = true;
                          o.imm = 32;
                        },
                        "builders imm32 sge64"},
                    Way{"Imm64",
                        [](Options& o) {
                          o.builders = true;
                          o.imm = 64;
                        },
                        "builders imm64 sge64"},
                    Way{"Events", [](Options& o) { o.events = true; }, "post_send sge64"},
                    Way{"Imm64Events",
                        [](Options& o) {
                          o.builders = o.events = true;
                          o.imm = 64;
                        },
                        "builders imm64 sge64"},
                    Way{"EightEntries", [](Options& o) { o.sges = 8; }, "post_send sge64"},
                    Way{"OneReceiveAtATime", [](Options& o) { o.rx_depth = 1; }, "post_send sge64"},
                    Way{"OneExchange", [](Options& o) { o.iters = 1; }, "post_send sge64"},
                    Way{"WithoutYield", [](Options& o) { o.yield = false; }, "post_send sge64"}),
    [](const auto& each) { return each.param.name; });

TEST_F(RuPingpong, SmallMessagesGoInline) {
  device_.max_inline = 10000;
  EXPECT_TRUE(run().first);
  EXPECT_EQ(device_.send_path, "post_send sge64 inline");
}

TEST_F(RuPingpong, SmallMessagesGoInlineThroughBuildersToo) {
  device_.max_inline = 10000;
  options_.builders = true;
  EXPECT_TRUE(run().first);
  EXPECT_EQ(device_.send_path, "builders inline");
}

TEST_F(RuPingpong, WrongImmediateDataIsAnError) {
  options_.builders = true;
  options_.imm = 64;
  device_.corrupt_imm = 0;
  EXPECT_THAT(exchange_with_itself_fails(), HasSubstr("bad imm64 0x0 (expected 0xcacadeadbeef)"));
  options_.imm = 32;
  EXPECT_THAT(exchange_with_itself_fails(), HasSubstr("bad imm 0x0 (expected 0xcafe)"));
}

TEST_F(RuPingpong, AFailedSendIsExplained) {
  device_.send_status = IBV_WC_RETRY_EXC_ERR;
  EXPECT_THAT(exchange_with_itself_fails(),
              testing::AllOf(HasSubstr("a send failed: "), HasSubstr("the peer is gone")));
}

TEST_F(RuPingpong, ASendThatCannotBePostedIsExplained) {
  device_.refusals["post_send"] = EINVAL;
  EXPECT_THAT(exchange_with_itself_fails(), HasSubstr("the send could not be posted: Invalid"));
}

TEST_F(RuPingpong, AJobIsTheFirstGrantedVni) {
  setenv("SLINGSHOT_VNIS", "1024,1025", 1);
  EXPECT_TRUE(run().first);
  EXPECT_EQ(device_.job_id, 1024U);
}

TEST_F(RuPingpong, AJobIsTheVniOfTheDefaultServiceWithoutAGrant) {
  EXPECT_TRUE(run().first);
  EXPECT_EQ(device_.job_id, 1U);
}

TEST_F(RuPingpong, TheDeviceChoosesTheNumberOnSlingshot) {
  EXPECT_TRUE(run().first);
  EXPECT_EQ(device_.asked_qpn, std::nullopt);
}

TEST_F(RuPingpong, AGivenNumberIsAskedFor) {
  options_.ri = 3;
  device_.refusals["create_qp_ex"] = ENOSPC;
  EXPECT_THAT(open_fails(), HasSubstr("is that --pidonfep or --ri taken"));
  device_.refusals.clear();
  Endpoint endpoint(options_);
  EXPECT_TRUE(endpoint.open());
  EXPECT_EQ(device_.asked_qpn, 0x300aU);
}

TEST_F(RuPingpong, OtherDevicesNeedAGidIndexAndGetTheirNumbers) {
  device_.transport = IBV_TRANSPORT_UNSPECIFIED;
  EXPECT_THAT(open_fails(), HasSubstr("invalid gid index: choose one with --gid-idx"));
  options_.gid_index = 0;
  Endpoint endpoint(options_);
  EXPECT_TRUE(endpoint.open());
  EXPECT_EQ(device_.job_id, 42U);
  EXPECT_EQ(device_.asked_qpn, 0xf00aU);
}

TEST_F(RuPingpong, AnUnknownDeviceIsExplainedWithTheKnownOnes) {
  options_.device = "cxi7";
  EXPECT_THAT(open_fails(), HasSubstr("there is no device cxi7: choose one of cxi0"));
}

TEST_F(RuPingpong, AMachineWithoutDevicesIsExplained) {
  device_.device_exists = false;
  EXPECT_THAT(open_fails(), HasSubstr(examples::why_no_device()));
}

TEST_F(RuPingpong, APortThatIsNotThereIsExplained) {
  options_.ib_port = 2;
  EXPECT_THAT(open_fails(), HasSubstr("cxi0 has no port 2"));
}

TEST_F(RuPingpong, AGidIndexOutOfRangeIsExplained) {
  options_.gid_index = 2;
  EXPECT_THAT(open_fails(), HasSubstr("invalid gid index 2: port 1 of cxi0 has indices 0 to 1"));
}

TEST_F(RuPingpong, AnEmptyGidIsExplained) {
  options_.gid_index = 1;
  EXPECT_THAT(open_fails(), HasSubstr("invalid gid index 1: it is empty"));
}

TEST_F(RuPingpong, AMessageThatTheDeviceCannotSendIsExplained) {
  options_.size = (1 << 20) + 1;
  EXPECT_THAT(open_fails(), HasSubstr("up to 1048576 bytes: use a smaller --size"));
}

TEST_F(RuPingpong, MissingCapabilitiesAreExplained) {
  device_.caps = 0;
  EXPECT_THAT(open_fails(), HasSubstr("no reliable-unconnected service"));
  device_.caps = IBV_DEVICE_RU;
  EXPECT_THAT(open_fails(), HasSubstr("use --lkey32"));
  device_.caps = IBV_DEVICE_RU | IBV_DEVICE_KEY64;
  options_.imm = 64;
  EXPECT_THAT(open_fails(), HasSubstr("use --imm 32"));
}

TEST_F(RuPingpong, TooManyReceivesAreExplained) {
  options_.rx_depth = 4097;
  EXPECT_THAT(open_fails(), HasSubstr("cxi0 takes 4096 receives"));
}

TEST_F(RuPingpong, AListOfVnisWithoutAVniIsExplained) {
  setenv("SLINGSHOT_VNIS", "all", 1);
  EXPECT_THAT(open_fails(), HasSubstr("SLINGSHOT_VNIS is all"));
}

struct Refusal {
  const char* call;
  int error;
  const char* said;
};
void PrintTo(const Refusal& refusal, std::ostream* out) {
  *out << refusal.call;
}

class RuPingpongRefused : public RuPingpong, public testing::WithParamInterface<Refusal> {};

TEST_P(RuPingpongRefused, IsExplainedInOneLineAndLeavesNothing) {
  options_.events = true;
  device_.refusals[GetParam().call] = GetParam().error;
  EXPECT_THAT(open_fails(), HasSubstr(GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(
    , RuPingpongRefused,
    testing::Values(Refusal{"open_device", EACCES, "no permission for cxi0"},
                    Refusal{"query_device_ex", EIO, "device could not be queried"},
                    Refusal{"query_port", EIO, "port could not be queried"},
                    Refusal{"query_gid_ex", EIO, "GID could not be queried"},
                    Refusal{"create_comp_channel", EMFILE, "no completion channel"},
                    Refusal{"alloc_pd", EKEYREVOKED, "default service of cxi0 is disabled"},
                    Refusal{"alloc_job", EPERM, "no grant for VNI 1 on cxi0"},
                    Refusal{"create_jkey", ENOSPC, "no job key"},
                    Refusal{"reg_mr", ENOMEM, "ulimit -l"},
                    Refusal{"create_cq_ex", ENOMEM, "a smaller --rx-depth may help"},
                    Refusal{"create_qp_ex", ENOSPC, "has none left"},
                    Refusal{"query_qp", EIO, "queue pair could not be queried"},
                    Refusal{"post_recv", ENOMEM, "receive 1 of 4 could not be posted"}),
    [](const auto& each) { return std::string(each.param.call); });

TEST_F(RuPingpong, APeerOfAnotherKindIsExplained) {
  Endpoint endpoint(options_);
  ASSERT_TRUE(endpoint.open());
  device_.refusals["create_ah_ex"] = EINVAL;
  testing::internal::CaptureStderr();
  EXPECT_FALSE(endpoint.connect(endpoint.local()));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("GIDs of one kind"));
}

TEST_F(RuPingpong, WhatCannotBeDestroyedIsReported) {
  Endpoint endpoint(options_);
  ASSERT_TRUE(endpoint.open());
  device_.refusals["dealloc_job"] = EBUSY;
  testing::internal::CaptureStderr();
  EXPECT_FALSE(endpoint.close());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("the job stays"));
}

}  // namespace
