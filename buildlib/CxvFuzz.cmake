# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Fuzzers with libFuzzer and the address and undefined-behaviour sanitizers. They need clang, whatever
# compiler builds the rest.
if(POLICY CMP0116)
  cmake_policy(SET CMP0116 NEW)  # dependency files are relative to the build folder
endif()
find_program(CXV_FUZZ_CXX NAMES clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15
             clang++-14)
set(CXV_FUZZ_DIR "${CMAKE_BINARY_DIR}/fuzz")

# cxv_fuzzer(name [ON_DEMAND] SOURCES ... [FLAGS ...] [LIBS ...]): the program fuzz/<name>, of sources
# with full paths, each compiled on its own. On demand: not with everything else.
function(cxv_fuzzer name)
  if(NOT CXV_FUZZ_CXX)
    return()
  endif()
  cmake_parse_arguments(arg "ON_DEMAND" "" "SOURCES;FLAGS;LIBS" ${ARGN})
  set(sanitizers -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined)
  set(kernel_include "$<TARGET_PROPERTY:kernel_headers,INTERFACE_INCLUDE_DIRECTORIES>")
  file(MAKE_DIRECTORY "${CXV_FUZZ_DIR}/${name}.dir")
  set(objects)
  foreach(source IN LISTS arg_SOURCES)
    file(RELATIVE_PATH object "${CMAKE_SOURCE_DIR}" "${source}")
    string(REPLACE "/" "_" object "${object}")
    set(object "${CXV_FUZZ_DIR}/${name}.dir/${object}.o")
    add_custom_command(
      OUTPUT "${object}"
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} "${CXV_FUZZ_CXX}" -std=c++20 -g1 -O1
              -fno-omit-frame-pointer ${sanitizers} "-I$<JOIN:${kernel_include},;-I>" ${arg_FLAGS}
              -MD -MF "${object}.d" -c "${source}" -o "${object}"
      DEPENDS "${source}" kernel_headers kernel_abi_headers cassini_headers
      DEPFILE "${object}.d"
      COMMAND_EXPAND_LISTS VERBATIM COMMENT "Building ${name}: ${source}")
    list(APPEND objects "${object}")
  endforeach()
  add_custom_command(
    OUTPUT "${CXV_FUZZ_DIR}/${name}"
    COMMAND "${CXV_FUZZ_CXX}" ${sanitizers} ${objects} -o "${CXV_FUZZ_DIR}/${name}" ${arg_LIBS}
            -lpthread
    DEPENDS ${objects} COMMAND_EXPAND_LISTS VERBATIM COMMENT "Linking ${name}")
  set(all ALL)
  if(arg_ON_DEMAND)
    set(all)
  endif()
  add_custom_target(${name} ${all} DEPENDS "${CXV_FUZZ_DIR}/${name}")
endfunction()

# cxv_fuzzer_test(name ARGUMENTS ...): a test that runs the fuzzer with these libFuzzer options.
function(cxv_fuzzer_test name)
  if(NOT CXV_FUZZ_CXX)
    add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" -E echo "SKIPPED: install clang")
    set_tests_properties(${name} PROPERTIES LABELS fuzz SKIP_REGULAR_EXPRESSION SKIPPED)
    return()
  endif()
  add_test(NAME ${name}
    COMMAND "${CXV_FUZZ_DIR}/${name}" ${ARGN} -timeout=10 -close_fd_mask=3 -print_final_stats=1
            "-artifact_prefix=${CXV_FUZZ_DIR}/${name}-")
  set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT 120)
endfunction()
