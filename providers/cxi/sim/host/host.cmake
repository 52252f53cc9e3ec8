# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What puts unmodified programs in front of the model. The library is linked with whatever provides
# sim::uverbs::Kernel: the kernel's side for cxi_sim, a double for the tests.
set(host_dir "${CMAKE_CURRENT_LIST_DIR}")
find_package(CLI11 REQUIRED)

add_library(cxi_sim_host STATIC
  "${host_dir}/caller_raw.cpp"
  "${host_dir}/commands.cpp"
  "${host_dir}/control.cpp"
  "${host_dir}/cxi_sim.cpp"
  "${host_dir}/dispatcher.cpp"
  "${host_dir}/engine.cpp"
  "${host_dir}/filter.cpp"
  "${host_dir}/instance.cpp"
  "${host_dir}/instance_dir.cpp"
  "${host_dir}/listener.cpp"
  "${host_dir}/mirror.cpp"
  "${host_dir}/open_files.cpp"
  "${host_dir}/packet.cpp"
  "${host_dir}/path_calls.cpp"
  "${host_dir}/process_raw.cpp"
  "${host_dir}/procfs.cpp"
  "${host_dir}/supervisor.cpp"
  "${host_dir}/trace_file.cpp"
  "${host_dir}/tree.cpp")
target_include_directories(cxi_sim_host PUBLIC "${host_dir}/..")
target_link_libraries(cxi_sim_host PUBLIC kernel_headers Threads::Threads PRIVATE CLI11::CLI11)

if(TARGET cxi_sim_uverbs AND TARGET cxi_sim_nic)
  add_executable(cxi_sim "${host_dir}/main.cpp")
  target_link_libraries(cxi_sim PRIVATE cxi_sim_host cxi_sim_uverbs cxi_sim_nic cxi_sim_fabric)
  add_dependencies(programs cxi_sim)
  install(TARGETS cxi_sim RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

# A kernel double, the whole program on top of it, and programs that run there.
add_executable(cxi_sim_on_double "${host_dir}/main.cpp" "${host_dir}/tests/kernel_double.cpp")
target_link_libraries(cxi_sim_on_double PRIVATE cxi_sim_host)
add_executable(cxi_sim_probe "${host_dir}/tests/probe.cpp")
add_executable(cxi_sim_probe_static "${host_dir}/tests/probe.cpp")
if(NOT CXV_SANITIZE)  # the sanitizers' libraries are shared ones
  target_link_options(cxi_sim_probe_static PRIVATE -static)
endif()
foreach(program cxi_sim_probe cxi_sim_probe_static)
  target_link_libraries(${program} PRIVATE kernel_headers Threads::Threads)
endforeach()
set_target_properties(cxi_sim_on_double cxi_sim_probe cxi_sim_probe_static
  PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")

cxv_test(cxi_sim_host_test
  SOURCES
    "${host_dir}/tests/engine_test.cpp"
    "${host_dir}/tests/filter_test.cpp"
    "${host_dir}/tests/instance_dir_test.cpp"
    "${host_dir}/tests/procfs_test.cpp"
    "${host_dir}/tests/programs_test.cpp"
    "${host_dir}/tests/run.cpp"
    "${host_dir}/tests/run_test.cpp"
    "${host_dir}/tests/tree_test.cpp"
  LIBS cxi_sim_host)
target_sources(cxi_sim_host_test PRIVATE "${host_dir}/tests/kernel_double.cpp")
add_dependencies(cxi_sim_host_test cxi_sim_on_double cxi_sim_probe cxi_sim_probe_static)
target_compile_definitions(cxi_sim_host_test PRIVATE
  CXI_SIM_TESTS_DIR="${CMAKE_BINARY_DIR}/tests")
