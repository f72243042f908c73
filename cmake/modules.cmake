# precast_module(<name> SOURCES ... [MODULES ...] [LIBRARIES ...])
#   One target per folder of src/, named precast_<name>. MODULES are the modules it may use: the link lines state the
#   same graph as docs/architecture.md, and tests/repo holds the include lines to it.
function(precast_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;MODULES;LIBRARIES" ${ARGN})
  add_library(precast_${name} STATIC ${arg_SOURCES})
  target_include_directories(precast_${name} PUBLIC
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  list(TRANSFORM arg_MODULES PREPEND precast_)
  target_link_libraries(precast_${name} PUBLIC ${arg_MODULES} ${arg_LIBRARIES})
  precast_tidy(precast_${name})
endfunction()

# What the unit tests read first, compiled once. An executable like them: the flags must be the same.
if(PRECAST_BUILD_TESTS)
  add_executable(precast_test_headers EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/testing/headers.cc")
  target_compile_options(precast_test_headers PRIVATE -O0)
  target_link_libraries(precast_test_headers PRIVATE GTest::gmock)
  target_precompile_headers(precast_test_headers PRIVATE <gmock/gmock.h> <filesystem> <fstream> <functional> <map> <thread>)
endif()

# precast_unit_test(<name> SOURCES ... MODULES ... [LIBRARIES ...])
#   A GoogleTest binary beside the code, label "unit"; it runs from the source folder's root and without a plugin.
function(precast_unit_test name)
  if(NOT PRECAST_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "SOURCES;MODULES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  # The tests' own code need not be fast: most of the time to make it would go into that, and into reading gmock.
  target_compile_options(${name} PRIVATE -O0)
  target_precompile_headers(${name} REUSE_FROM precast_test_headers)
  list(TRANSFORM arg_MODULES PREPEND precast_)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${name} PRIVATE
    PRECAST_TESTDATA="${PROJECT_SOURCE_DIR}/testdata")
  target_link_libraries(${name} PRIVATE ${arg_MODULES} ${arg_LIBRARIES} GTest::gmock
    GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  # No test writes into the state folder of whoever runs it.
  set_tests_properties(${name} PROPERTIES LABELS unit
    ENVIRONMENT "XDG_STATE_HOME=${PROJECT_BINARY_DIR}/tests/state")
endfunction()

# precast_fuzzer(<name> SOURCES ... MODULES ... CORPUS <folder of testdata/fuzz>)
#   SOURCES define LLVMFuzzerTestOneInput. Always: the unit test <name>_replay_test, which runs it on the checked-in
#   corpus. With PRECAST_FUZZ (the preset fuzz) also the libFuzzer binary build/fuzz/fuzz/<name>, and the test
#   fuzz_<name>, label "fuzz": a fixed number of runs from a fixed seed.
function(precast_fuzzer name)
  if(NOT PRECAST_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "" "CORPUS" "SOURCES;MODULES" ${ARGN})
  set(corpus "${PROJECT_SOURCE_DIR}/testdata/fuzz/${arg_CORPUS}")
  precast_unit_test(${name}_replay_test
    SOURCES ${arg_SOURCES} "${PROJECT_SOURCE_DIR}/tests/fuzz/replay.cc"
    MODULES ${arg_MODULES})
  target_compile_definitions(${name}_replay_test PRIVATE PRECAST_FUZZ_CORPUS="${corpus}")
  if(PRECAST_FUZZ)
    add_executable(${name} ${arg_SOURCES})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
    list(TRANSFORM arg_MODULES PREPEND precast_)
    target_link_libraries(${name} PRIVATE ${arg_MODULES})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    if(NOT TARGET precast_fuzzers)
      add_custom_target(precast_fuzzers)
    endif()
    add_dependencies(precast_fuzzers ${name})
    # What it finds new goes into the first folder.
    set(found "${PROJECT_BINARY_DIR}/fuzz/${name}-found")
    file(MAKE_DIRECTORY "${found}")
    add_test(NAME fuzz_${name} COMMAND ${name} -seed=1 -runs=20000 -timeout=60 -rss_limit_mb=4096
      "-artifact_prefix=${found}/" -print_final_stats=1 "${found}" "${corpus}")
    set_tests_properties(fuzz_${name} PROPERTIES LABELS fuzz)
  endif()
endfunction()
