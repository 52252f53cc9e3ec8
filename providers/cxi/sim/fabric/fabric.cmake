# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The wire between NICs.
add_library(cxi_sim_fabric STATIC
  "${CMAKE_CURRENT_LIST_DIR}/in_process.cpp" "${CMAKE_CURRENT_LIST_DIR}/packet_pool.cpp")
target_include_directories(cxi_sim_fabric PUBLIC "${CMAKE_CURRENT_LIST_DIR}/..")

cxv_test(cxi_sim_fabric_test
  SOURCES "${CMAKE_CURRENT_LIST_DIR}/tests/in_process_test.cpp"
  LIBS cxi_sim_fabric)
