// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include "../common/completions.hpp"
#include "../common/idle.hpp"
#include "../common/peer_watch.hpp"
#include "../common/slingshot.hpp"
#include "../common/tcp.hpp"
#include "../common/text.hpp"
#include "connected_pair.hpp"

namespace {

using namespace examples;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Number, TakesDecimalAndHexWithinTheLimits) {
  EXPECT_EQ(number("0", 0, 10), 0U);
  EXPECT_EQ(number("10", 0, 10), 10U);
  EXPECT_EQ(number("0x1F", 0, 31), 31U);
  EXPECT_EQ(number("18446744073709551615", 0, UINT64_MAX), UINT64_MAX);
}

TEST(Number, RefusesWhatIsNotExactlyANumber) {
  for (const char* text : {"", "0x", "-1", "+1", " 1", "1 ", "1k", "0x1g", "18446744073709551616"})
    EXPECT_FALSE(number(text, 0, UINT64_MAX)) << "'" << text << "'";
}

TEST(Number, RefusesWhatIsOutsideTheLimits) {
  EXPECT_FALSE(number("0", 1, 10));
  EXPECT_FALSE(number("11", 1, 10));
}

TEST(Format, HasNoLimitOfLength) {
  const std::string text = format("%0500d|%s", 7, "end");
  EXPECT_EQ(text.size(), 504U);
  EXPECT_THAT(text, testing::EndsWith("07|end"));
}

TEST(FirstVni, IsTheFirstOfTheListOrRange) {
  EXPECT_EQ(first_vni("1024,1025"), 1024U);
  EXPECT_EQ(first_vni("1024-1031"), 1024U);
  EXPECT_EQ(first_vni("65535"), 65535U);
}

TEST(FirstVni, IsThatOfTheDefaultServiceWithoutAList) {
  EXPECT_EQ(first_vni(nullptr), 1U);
  EXPECT_EQ(first_vni(""), 1U);
}

TEST(FirstVni, IsZeroWhereTheListHasNone) {
  EXPECT_EQ(first_vni("none"), 0U);
  EXPECT_EQ(first_vni(",5"), 0U);
  EXPECT_EQ(first_vni("0"), 0U);
  EXPECT_EQ(first_vni("65536"), 0U);
}

TEST(WhyNoGrant, NamesTheVniAndWhatToAskFor) {
  const std::string text = why_no_grant("cxi0", 1024, EPERM);
  EXPECT_THAT(text, HasSubstr("no grant for VNI 1024 on cxi0"));
  EXPECT_THAT(text, HasSubstr("service"));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
}

TEST(WhyNoGrant, TellsADisabledServiceFromAMissingOne) {
  EXPECT_THAT(why_no_grant("cxi0", 1, EKEYREVOKED), HasSubstr("disabled"));
  EXPECT_THAT(why_no_grant("cxi0", 1, ENOSPC), HasSubstr("no resources left"));
  EXPECT_THAT(why_no_grant("cxi0", 1, EINVAL), HasSubstr("SLINGSHOT_SVC_IDS"));
}

TEST(WhyNoGrant, DoesNotSpeakOfVnisOnOtherDevices) {
  EXPECT_THAT(why_no_grant("uet0", 0, EPERM), Not(HasSubstr("VNI")));
  EXPECT_THAT(why_no_grant("uet0", 0, EINVAL), Not(HasSubstr("SLINGSHOT")));
}

TEST(Idle, YieldsAfterABurstOfEmptyPollsAndOnlyThen) {
  Idle idle(true);
  for (int i = 1; i < Idle::burst; i++)
    EXPECT_FALSE(idle.nothing());
  EXPECT_TRUE(idle.nothing());
  EXPECT_FALSE(idle.nothing());
}

TEST(Idle, StartsAgainWhenSomethingWasFound) {
  Idle idle(true);
  for (int i = 1; i < Idle::burst; i++)
    idle.nothing();
  idle.found();
  EXPECT_FALSE(idle.nothing());
}

TEST(Idle, NeverYieldsWhenToldNotTo) {
  Idle idle(false);
  for (int i = 0; i < 3 * Idle::burst; i++)
    EXPECT_FALSE(idle.nothing());
}

/// A port that nobody else gets meanwhile, and that a server can listen at.
class Port {
 public:
  Port() : holder_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    socklen_t length = sizeof(address);
    EXPECT_EQ(bind(holder_, reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(getsockname(holder_, reinterpret_cast<sockaddr*>(&address), &length), 0);
    number_ = ntohs(address.sin_port);
    // Only now: a port that was not to be shared when it was bound is given to nobody.
    const int on = 1;
    EXPECT_EQ(setsockopt(holder_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
  }
  ~Port() { close(holder_); }
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  std::uint16_t number() const { return number_; }

 private:
  int holder_;
  std::uint16_t number_ = 0;
};

/// A client that tries until the server listens.
std::optional<Connection> connect_when_ready(std::uint16_t port) {
  for (;;) {
    testing::internal::CaptureStderr();
    auto connection = connect_to("127.0.0.1", port, 0);
    testing::internal::GetCapturedStderr();
    if (connection) return connection;
    std::this_thread::yield();
  }
}

TEST(Tcp, BothSidesGetWhatTheOtherSent) {
  const Port port;
  std::array<char, 5> at_server{}, at_client{};
  std::thread server([&] {
    auto connection = accept_one(port.number());
    ASSERT_TRUE(connection);
    EXPECT_TRUE(connection->receive(at_server));
    EXPECT_TRUE(connection->send(std::array{'h', 'o', 'w', 'd', 'y'}));
  });
  auto connection = connect_when_ready(port.number());
  EXPECT_TRUE(connection->send(std::array{'h', 'e', 'l', 'l', 'o'}));
  EXPECT_TRUE(connection->receive(at_client));
  server.join();
  EXPECT_EQ(std::string(at_server.data(), 5), "hello");
  EXPECT_EQ(std::string(at_client.data(), 5), "howdy");
}

TEST(Tcp, APeerThatGivesUpIsNotWaitedFor) {
  const Port port;
  std::thread server([&] { ASSERT_TRUE(accept_one(port.number())); });
  auto connection = connect_when_ready(port.number());
  server.join();
  testing::internal::CaptureStderr();
  std::array<char, 5> nothing{};
  EXPECT_FALSE(connection->receive(nothing));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("gave up"));
}

TEST(ShortKey, IsMadeOfTheKindAndTheSerialNumber) {
  EXPECT_EQ(short_rkey(0x800000003fffffff), 0xbfffffffU);
  EXPECT_EQ(short_rkey(0xa000000000000021), 0xc0000021U);
  EXPECT_EQ(short_rkey(0x2a), 0x2aU) << "chosen by the user";
  EXPECT_EQ(short_rkey(0x40000000), std::nullopt) << "too long";
}

TEST(WhyFailed, SaysWhatToDo) {
  EXPECT_THAT(why_failed("a receive", IBV_WC_LOC_LEN_ERR, 0),
              testing::AllOf(StartsWith("a receive failed: "), HasSubstr("same --size")));
  EXPECT_THAT(why_failed("a send", IBV_WC_RETRY_EXC_ERR, 0x19),
              testing::AllOf(HasSubstr("vendor error 0x19"), HasSubstr("the peer is gone")));
  EXPECT_THAT(why_failed("a send", IBV_WC_FATAL_ERR, 7), HasSubstr("vendor error 0x7"));
}

class APeerWatch : public testing::Test {
 protected:
  using Clock = PeerWatch::Clock;
  static constexpr auto patience = PeerWatch::patience;
  static constexpr auto grace = PeerWatch::grace;

  void close_peer() { const Connection gone = std::move(pair_.there); }

  /// What is said when the peer is given up; it must be one line.
  std::string gives_up(Clock::time_point now) {
    testing::internal::CaptureStderr();
    EXPECT_FALSE(watch_.look(now));
    return testing::internal::GetCapturedStderr();
  }

  ConnectedPair pair_;
  const Clock::time_point start_{};
  PeerWatch watch_{pair_.here, start_};
};

TEST_F(APeerWatch, WaitsForASlowPeer) {
  for (int i = 0; i < 100; i++)
    EXPECT_TRUE(watch_.look(start_ + i * patience));
}

TEST_F(APeerWatch, GivesAClosedPeerUpAfterAGrace) {
  close_peer();
  EXPECT_TRUE(watch_.look(start_ + patience));
  EXPECT_TRUE(watch_.look(start_ + patience + grace / 2));
  EXPECT_THAT(gives_up(start_ + patience + grace), HasSubstr("the peer has ended before"));
}

TEST_F(APeerWatch, WaitsForAClosedPeerWhileThereIsProgress) {
  close_peer();
  auto now = start_;
  for (int i = 0; i < 10; i++) {
    EXPECT_TRUE(watch_.look(now += patience));
    EXPECT_TRUE(watch_.look(now += grace / 2));
    watch_.found();
    EXPECT_TRUE(watch_.look(now += grace));
  }
  EXPECT_TRUE(watch_.look(now += patience));
  gives_up(now + grace);
}

TEST_F(APeerWatch, IsNotMisledByDataThatNobodyReads) {
  EXPECT_TRUE(pair_.there.send(std::array{'x'}));
  EXPECT_FALSE(pair_.here.closed_by_peer());
}

TEST(Tcp, NobodyThereIsExplained) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(connect_to("127.0.0.1", Port().number(), 0));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("start the server there first"));
}

TEST(Tcp, ATakenPortIsExplained) {
  const int descriptor = socket(AF_INET6, SOCK_STREAM, 0);
  if (descriptor < 0) GTEST_SKIP() << "no IPv6 on this machine";
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  socklen_t length = sizeof(address);
  ASSERT_EQ(bind(descriptor, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(listen(descriptor, 1), 0);
  ASSERT_EQ(getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length), 0);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(accept_one(ntohs(address.sin6_port)));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("choose another one with --port"));
  close(descriptor);
}

}  // namespace
