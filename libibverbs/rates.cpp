// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Static rates, as multiples of 2.5 Gb/s and in Mb/s.
#include <infiniband/driver.h>

#include <array>

#include "export.hpp"

namespace verbs {
namespace {

struct Rate {
  ibv_rate rate;
  int multiple;  // -1: not a whole one, or never given one
  int megabits;
};

constexpr std::array rates{
    Rate{IBV_RATE_2_5_GBPS, 1, 2500},       Rate{IBV_RATE_5_GBPS, 2, 5000},
    Rate{IBV_RATE_10_GBPS, 4, 10000},       Rate{IBV_RATE_20_GBPS, 8, 20000},
    Rate{IBV_RATE_30_GBPS, 12, 30000},      Rate{IBV_RATE_40_GBPS, 16, 40000},
    Rate{IBV_RATE_60_GBPS, 24, 60000},      Rate{IBV_RATE_80_GBPS, 32, 80000},
    Rate{IBV_RATE_120_GBPS, 48, 120000},    Rate{IBV_RATE_14_GBPS, -1, 14062},
    Rate{IBV_RATE_56_GBPS, -1, 56250},      Rate{IBV_RATE_112_GBPS, -1, 112500},
    Rate{IBV_RATE_168_GBPS, -1, 168750},    Rate{IBV_RATE_25_GBPS, -1, 25781},
    Rate{IBV_RATE_100_GBPS, -1, 103125},    Rate{IBV_RATE_200_GBPS, -1, 206250},
    Rate{IBV_RATE_300_GBPS, -1, 309375},    Rate{IBV_RATE_28_GBPS, 11, 28125},
    Rate{IBV_RATE_50_GBPS, 20, 53125},      Rate{IBV_RATE_400_GBPS, 160, 425000},
    Rate{IBV_RATE_600_GBPS, 240, 637500},   Rate{IBV_RATE_800_GBPS, 320, 850000},
    Rate{IBV_RATE_1200_GBPS, 480, 1275000},
};

}  // namespace
}  // namespace verbs

// -1 for a rate that is no multiple.
VERBS_EXPORT int ibv_rate_to_mult(ibv_rate rate) {
  for (const auto& known : verbs::rates)
    if (known.rate == rate) return known.multiple;
  return -1;
}

VERBS_EXPORT ibv_rate mult_to_ibv_rate(int multiple) {
  for (const auto& known : verbs::rates)
    if (known.multiple == multiple && multiple > 0) return known.rate;
  return IBV_RATE_MAX;
}

// -1 for a rate that is not known.
VERBS_EXPORT int ibv_rate_to_mbps(ibv_rate rate) {
  for (const auto& known : verbs::rates)
    if (known.rate == rate) return known.megabits;
  return -1;
}

VERBS_EXPORT ibv_rate mbps_to_ibv_rate(int megabits) {
  for (const auto& known : verbs::rates)
    if (known.megabits == megabits) return known.rate;
  return IBV_RATE_MAX;
}
