// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "options.hpp"

#include <getopt.h>
#include <infiniband/verbs.h>

#include "text.hpp"

namespace examples {

std::optional<std::uint64_t> number_given(const char* name, std::uint64_t low, std::uint64_t high) {
  const auto given = number(optarg, low, high);
  if (!given)
    complain("--%s must be a number from %llu to %llu, not %s", name,
             static_cast<unsigned long long>(low), static_cast<unsigned long long>(high), optarg);
  return given;
}

bool take_mtu(unsigned& mtu) {
  const auto given = number(optarg, 256, 4096);
  if (!given || (*given & (*given - 1)) != 0) {
    complain("--mtu must be 256, 512, 1024, 2048 or 4096, not %s", optarg);
    return false;
  }
  mtu = static_cast<unsigned>(*given);
  return true;
}

std::uint32_t qpn_of(std::optional<unsigned> pid_on_fep, std::optional<unsigned> ri) {
  constexpr unsigned default_pid_on_fep = 10;
  constexpr unsigned default_ri = 15;
  return pid_on_fep.value_or(default_pid_on_fep) << IBV_QPN_PID_ON_FEP_SHIFT |
         ri.value_or(default_ri) << IBV_QPN_RI_SHIFT;
}

bool take_pid_on_fep(std::optional<unsigned>& value) {
  return take("pidonfep", 0, IBV_QPN_PID_ON_FEP_MASK >> IBV_QPN_PID_ON_FEP_SHIFT, value);
}

bool take_ri(std::optional<unsigned>& value) {
  return take("ri", 0, IBV_QPN_RI_MASK >> IBV_QPN_RI_SHIFT, value);
}

}  // namespace examples
