# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# libcxiverbs.so.1: the verbs provider for Cassini NICs. cxiverbs_objs is its code with the internals in
# sight, for its own tests.

set(provider_sources
  ah.cpp
  attach.cpp
  channel.cpp
  command_queue.cpp
  completion_table.cpp
  context.cpp
  counter.cpp
  cq_poll.cpp
  cq_read.cpp
  cq_resize.cpp
  device.cpp
  dv_bridge.cpp
  dv_cmdq.cpp
  dv_csr.cpp
  dv_ct.cpp
  dv_device.cpp
  dv_eq.cpp
  dv_lend.cpp
  dv_lni.cpp
  dv_md.cpp
  dv_names.cpp
  dv_objects.cpp
  dv_pte.cpp
  dv_svc.cpp
  encode.cpp
  environment.cpp
  event_queue.cpp
  flush.cpp
  job.cpp
  key_table.cpp
  mapping.cpp
  notify.cpp
  pd.cpp
  qp_append.cpp
  qp_builder.cpp
  qp_create.cpp
  qp_emit.cpp
  qp_modify.cpp
  qp_recv.cpp
  qp_retry.cpp
  qp_send.cpp
  ready.cpp
  region.cpp
  sge.cpp
  staging.cpp
  telemetry.cpp
  time.cpp
  waiting.cpp)

add_library(cxiverbs_objs OBJECT ${provider_sources})
cxv_shared_code(cxiverbs_objs)
target_include_directories(cxiverbs_objs PUBLIC
  "${CMAKE_CURRENT_SOURCE_DIR}"
  "${CMAKE_CURRENT_SOURCE_DIR}/include"
  "$<TARGET_PROPERTY:ibverbs,INTERFACE_INCLUDE_DIRECTORIES>")
target_link_libraries(cxiverbs_objs PUBLIC kernel_headers)

cxv_shared_library(cxiverbs
  MAP "${CMAKE_CURRENT_SOURCE_DIR}/libcxiverbs.map"
  VERSION 1.0.${PROJECT_VERSION}
  SOVERSION 1
  SOURCES $<TARGET_OBJECTS:cxiverbs_objs>)
target_include_directories(cxiverbs INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}/include")
# libibverbs keeps what a provider registers, and uses it after a program has closed the library.
target_link_options(cxiverbs PRIVATE -Wl,-z,nodelete)
target_link_libraries(cxiverbs PRIVATE ibverbs INTERFACE ibverbs kernel_headers)
add_dependencies(programs cxiverbs)

# The library finds providers by a name that carries the private ABI, and which to load by a file.
set(provider_link "libibverbs/libcxiverbs-rdmav${CXV_PABI}.so")
file(MAKE_DIRECTORY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libibverbs"
                    "${CMAKE_BINARY_DIR}/etc/libibverbs.d")
file(CREATE_LINK ../libcxiverbs.so.1 "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${provider_link}" SYMBOLIC)
file(WRITE "${CMAKE_BINARY_DIR}/etc/libibverbs.d/cxiverbs.driver" "driver cxiverbs\n")

install(FILES include/infiniband/cxidv.h
              include/infiniband/cxidv_bridge.h
              include/infiniband/cxidv_cmdq.h
              include/infiniband/cxidv_emit.h
              include/infiniband/cxidv_eq.h
              include/infiniband/cxidv_format.h
              include/infiniband/cxidv_mmio.h
              include/infiniband/cxidv_svc.h
              include/infiniband/cxidv_trig.h
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/infiniband")
cxv_pkg_config(libcxiverbs.pc.in)
install(TARGETS cxiverbs LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(FILES "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${provider_link}"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/libibverbs")
install(FILES "${CMAKE_BINARY_DIR}/etc/libibverbs.d/cxiverbs.driver"
        DESTINATION "${CMAKE_INSTALL_SYSCONFDIR}/libibverbs.d")

include(CxvMan)
cxv_man_pages("${CMAKE_CURRENT_SOURCE_DIR}/man")
add_subdirectory(man/tests)
add_subdirectory(examples)
add_subdirectory(utils)
add_subdirectory(tests)
add_subdirectory(benchmarks)
