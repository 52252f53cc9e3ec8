# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Random calls and random contents of queues against the model, beside programs that must not notice.
# Tests do this for a moment, with any compiler. The fuzzer proper compiles the model once more, with
# clang and sanitizers, so it is built when asked for:
#   cmake --build <build folder> --target model_fuzzer
#   <build folder>/fuzz/model_fuzzer --make-seeds=<folder>
#   <build folder>/fuzz/model_fuzzer -max_total_time=3600 -max_len=4096 <folder>
# What it finds is repeated by model_fuzzer <file>. With CXV_FUZZ_MODEL it is built with everything
# else, and a fixed number of runs is a test.
option(CXV_FUZZ_MODEL "Build the fuzzer of the software Cassini and run it as a test" OFF)
set(fuzz_runs 150)

set(fuzz_common attacker attacker_queues bystander program world)
list(TRANSFORM fuzz_common PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/")
list(TRANSFORM fuzz_common APPEND ".cpp")
cxv_test(cxi_sim_isolation_test
  SOURCES fuzz/tests/isolation_test.cpp fuzz/tests/random_acts_test.cpp ${fuzz_common}
  LIBS cxi_sim_uverbs cxi_sim_nic cxi_sim_fabric)

set(fuzz_sources ${cxi_sim_nic_sources} ${fuzz_common}
    "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/model_fuzzer.cpp")
get_target_property(uverbs_sources cxi_sim_uverbs SOURCES)
get_target_property(fabric_sources cxi_sim_fabric SOURCES)
foreach(source IN LISTS uverbs_sources fabric_sources)
  get_filename_component(source "${source}" ABSOLUTE)
  list(APPEND fuzz_sources "${source}")
endforeach()
if(NOT CXV_FUZZ_MODEL)
  set(on_demand ON_DEMAND)
endif()
cxv_fuzzer(model_fuzzer ${on_demand} SOURCES ${fuzz_sources}
  FLAGS "-I${CMAKE_CURRENT_SOURCE_DIR}" -DCXI_SIM_VERSION_MAJOR=${PROJECT_VERSION_MAJOR}
  LIBS -lgtest -lfmt)
if(CXV_FUZZ_MODEL AND CXV_FUZZ_CXX)
  set(corpus "${CXV_FUZZ_DIR}/model_corpus")
  cxv_fuzzer_test(model_fuzzer -runs=${fuzz_runs} -seed=1 -rss_limit_mb=2048 -max_len=4096
                  "${corpus}")
  add_test(NAME model_fuzzer_seeds
    COMMAND "${CXV_FUZZ_DIR}/model_fuzzer" "--make-seeds=${corpus}")
  set_tests_properties(model_fuzzer_seeds PROPERTIES LABELS fuzz FIXTURES_SETUP model_corpus)
  set_tests_properties(model_fuzzer PROPERTIES FIXTURES_REQUIRED model_corpus)
endif()
