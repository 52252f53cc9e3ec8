// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/engine.hpp"

#include <gtest/gtest.h>

namespace sim::host {
namespace {

using Rest = IdlePolicy::Rest;
constexpr uint64_t us = 1000, ms = 1000 * us;

// Looks that find nothing until `until`, as if every rest took as long as it should.
Rest idle_until(IdlePolicy& policy, uint64_t from, uint64_t until, unsigned* looks = nullptr) {
  Rest rest;
  for (uint64_t now = from; now < until;) {
    rest = policy.rest(now);
    now += rest.kind == Rest::Kind::sleep ? rest.ns : us;
    if (looks != nullptr) (*looks)++;
  }
  return rest;
}

TEST(Idle, YieldsSoonOnFewProcessors) {
  IdlePolicy policy(2);
  policy.worked(0);
  EXPECT_EQ(idle_until(policy, 0, 10 * us).kind, Rest::Kind::yield);
}

TEST(Idle, SpinsForAWhileOnMany) {
  IdlePolicy policy(8);
  policy.worked(0);
  EXPECT_EQ(idle_until(policy, 0, 10 * us).kind, Rest::Kind::spin);
}

TEST(Idle, NapsAtMost200UsUntil100MsHavePassed) {
  IdlePolicy policy(2);
  policy.worked(0);
  auto rest = idle_until(policy, 0, 99 * ms);
  EXPECT_EQ(rest.kind, Rest::Kind::sleep);
  EXPECT_EQ(rest.ns, 200 * us);
}

TEST(Idle, LooksSeldomInTheEnd) {
  IdlePolicy policy(2);
  policy.worked(0);
  EXPECT_EQ(idle_until(policy, 0, 1000 * ms).ns, 5 * ms);
  unsigned looks = 0;
  idle_until(policy, 1000 * ms, 2000 * ms, &looks);
  EXPECT_LE(looks, 201u);
}

TEST(Idle, IsForgottenWithTheNextWork) {
  IdlePolicy policy(2);
  policy.worked(0);
  idle_until(policy, 0, 1000 * ms);
  policy.worked(1000 * ms);
  EXPECT_EQ(idle_until(policy, 1000 * ms, 1000 * ms + 10 * us).kind, Rest::Kind::yield);
}

TEST(Idle, SleepsInsteadOfYieldingWhileProgramsSpin) {
  IdlePolicy policy(2);
  for (uint64_t at = 3 * ms; at <= 9 * ms; at += 3 * ms)
    policy.yielded(3 * ms, at);
  policy.worked(9 * ms);
  EXPECT_EQ(idle_until(policy, 9 * ms, 9 * ms + 10 * us).kind, Rest::Kind::sleep);
  policy.worked(11 * ms);
  EXPECT_EQ(idle_until(policy, 11 * ms, 11 * ms + 10 * us).kind, Rest::Kind::yield);
}

TEST(Idle, YieldsOnWhenAProgramComputesNowAndThen) {
  IdlePolicy policy(2);
  for (uint64_t at = 3 * ms; at <= 30 * ms; at += 3 * ms) {
    policy.yielded(3 * ms, at);
    policy.yielded(us, at + us);
  }
  policy.worked(31 * ms);
  EXPECT_EQ(idle_until(policy, 31 * ms, 31 * ms + 10 * us).kind, Rest::Kind::yield);
}

}  // namespace
}  // namespace sim::host
