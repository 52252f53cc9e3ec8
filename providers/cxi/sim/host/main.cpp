// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/commands.hpp"

int main(int argc, char** argv) {
  return sim::host::cxi_sim_main(argc, argv);
}
