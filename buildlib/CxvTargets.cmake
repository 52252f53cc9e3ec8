# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# How this project makes its libraries, programs and tests.

# cxv_shared_code(target): flags of code that ends up in a shipped library. It is C++ inside, but the
# library is linked by the C driver, so nothing may need the C++ runtime.
function(cxv_shared_code target)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions;-fno-rtti;-fno-threadsafe-statics>"
    -fvisibility=hidden -ffunction-sections)
endfunction()

# cxv_shared_library(target MAP file VERSION v SOVERSION s SOURCES ...): a shipped library that exports
# only what its map file lists and links against libc and what the caller adds.
function(cxv_shared_library target)
  cmake_parse_arguments(arg "" "MAP;VERSION;SOVERSION" "SOURCES" ${ARGN})
  add_library(${target} SHARED ${arg_SOURCES})
  cxv_shared_code(${target})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C VERSION ${arg_VERSION}
    SOVERSION ${arg_SOVERSION} LINK_DEPENDS "${arg_MAP}")
  target_link_options(${target} PRIVATE "-Wl,--version-script=${arg_MAP}" -Wl,--as-needed)
  if(NOT CXV_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endfunction()

# cxv_test(name SOURCES ... LIBS ... [LABELS ...]): a GoogleTest program; each TEST becomes a ctest test.
function(cxv_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gtest GTest::gmock GTest::gtest_main
                        Threads::Threads)
  # Tests are compiled far more often than they run: what counts is how fast they build.
  target_compile_options(${name} PRIVATE -O0 -g1)
  target_precompile_headers(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:<gmock/gmock.h$<ANGLE-R>>"
                            "$<$<COMPILE_LANGUAGE:CXX>:<gtest/gtest.h$<ANGLE-R>>")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 120 LABELS "${arg_LABELS}")
endfunction()
