# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The model's kernel. Whoever links it and calls Kernel::make links cxi_sim_nic and cxi_sim_fabric too.
add_library(cxi_sim_uverbs STATIC
  uverbs/arena.cpp
  uverbs/call.cpp
  uverbs/comp_cntr_methods.cpp
  uverbs/counters_methods.cpp
  uverbs/cq_methods.cpp
  uverbs/device_methods.cpp
  uverbs/event_pipe.cpp
  uverbs/exported_jobs.cpp
  uverbs/file.cpp
  uverbs/file_memory.cpp
  uverbs/handles.cpp
  uverbs/job_methods.cpp
  uverbs/kernel.cpp
  uverbs/kernel_make.cpp
  uverbs/lni.cpp
  uverbs/mr_methods.cpp
  uverbs/native_csr.cpp
  uverbs/native_lni.cpp
  uverbs/native_pte.cpp
  uverbs/native_queues.cpp
  uverbs/native_svc.cpp
  uverbs/native_telem.cpp
  uverbs/nic_state.cpp
  uverbs/notifier.cpp
  uverbs/objects.cpp
  uverbs/pd_methods.cpp
  uverbs/qp.cpp
  uverbs/qp_methods.cpp
  uverbs/region_index.cpp
  uverbs/resources.cpp
  uverbs/schema_table.cpp
  uverbs/service.cpp
  uverbs/sysfs.cpp
  uverbs/write_commands.cpp)
target_include_directories(cxi_sim_uverbs PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(cxi_sim_uverbs PUBLIC kernel_headers Threads::Threads)
target_compile_definitions(cxi_sim_uverbs PRIVATE CXI_SIM_VERSION_MAJOR=${PROJECT_VERSION_MAJOR})

cxv_test(cxi_sim_uverbs_test
  SOURCES
    uverbs/tests/abi_text_test.cpp
    uverbs/tests/attach_test.cpp
    uverbs/tests/bridge_test.cpp
    uverbs/tests/cq_test.cpp
    uverbs/tests/csr_test.cpp
    uverbs/tests/device_test.cpp
    uverbs/tests/event_pipe_test.cpp
    uverbs/tests/job_test.cpp
    uverbs/tests/mr_test.cpp
    uverbs/tests/native_lni_test.cpp
    uverbs/tests/native_ownership_test.cpp
    uverbs/tests/native_pte_test.cpp
    uverbs/tests/native_queues_test.cpp
    uverbs/tests/native_refusal_test.cpp
    uverbs/tests/native_svc_test.cpp
    uverbs/tests/qp_number_test.cpp
    uverbs/tests/qp_state_test.cpp
    uverbs/tests/qp_test.cpp
    uverbs/tests/schema_test.cpp
  LIBS cxi_sim_uverbs)

target_compile_definitions(cxi_sim_uverbs_test PRIVATE
  CXI_ABI_HEADERS="${CMAKE_SOURCE_DIR}/kernel-headers/rdma/")

if(TARGET cxi_sim_nic)
  cxv_test(cxi_sim_uverbs_engine_test
    SOURCES uverbs/tests/engine_test.cpp
    LIBS cxi_sim_uverbs cxi_sim_nic cxi_sim_fabric)
endif()
