# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The NIC engine: no processes, no files, no threads of its own.
find_package(fmt REQUIRED)

set(cxi_sim_nic_folder "${CMAKE_CURRENT_LIST_DIR}")
set(cxi_sim_nic_sources
  address_context addressing atomic_unit command_parse command_ring completion counters
  counting_event delivery device device_entries device_registers event_queue events list_matching packets
  portal_table receive register_places registers scheduler sending statistics target_commands trace_text transmit wire)
list(TRANSFORM cxi_sim_nic_sources PREPEND "${cxi_sim_nic_folder}/")
list(TRANSFORM cxi_sim_nic_sources APPEND ".cpp")
add_library(cxi_sim_nic STATIC ${cxi_sim_nic_sources})
target_include_directories(cxi_sim_nic PUBLIC "${cxi_sim_nic_folder}/..")
target_link_libraries(cxi_sim_nic PUBLIC kernel_headers cxi_sim_fabric PRIVATE fmt::fmt)
# Whoever links the library needs fmt too, in whatever folder.
set_target_properties(fmt::fmt PROPERTIES IMPORTED_GLOBAL TRUE)

set(cxi_sim_nic_tests
  atomic_table atomic_unit command_failure command_ring counting event_queue events flow_control
  get_and_atomic hrp isolation late_answer limits link memory_and_lists packets refusal registers
  return_code robustness statistics transfer unexpected)
list(TRANSFORM cxi_sim_nic_tests PREPEND "${cxi_sim_nic_folder}/tests/")
list(TRANSFORM cxi_sim_nic_tests APPEND "_test.cpp")
cxv_test(cxi_sim_nic_test SOURCES ${cxi_sim_nic_tests} LIBS cxi_sim_nic)
