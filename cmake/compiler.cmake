# Language level, warnings, visibility, sanitizers and where products go.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# C is for the tests of the C ABI alone.
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

# Fixed places: people and scripts rely on build/bin/precast and build/lib.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
  "$<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor;-Woverloaded-virtual>" -Wformat=2)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # libstdc++ 12 deprecates what its own stable_sort calls, and clang blames whoever sorts. g++ still tells of the rest.
  add_compile_options(-Wno-deprecated-declarations)
endif()
option(PRECAST_WARNINGS_AS_ERRORS "Treat warnings as errors" OFF)
if(PRECAST_WARNINGS_AS_ERRORS)
  add_compile_options(-Werror)
endif()

if(PRECAST_SANITIZE)
  add_compile_options(-fsanitize=${PRECAST_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PRECAST_SANITIZE})
  if(PRECAST_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

# Fuzzers (docs/testing.md); the preset fuzz sets this.
option(PRECAST_FUZZ "Build libFuzzer binaries (clang only)" OFF)
# Counts of the lines that run, one file for each binary and library in profiles/; make coverage adds them up.
option(PRECAST_COVERAGE "Count the lines that run (clang only)" OFF)
if((PRECAST_FUZZ OR PRECAST_COVERAGE) AND NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
  message(FATAL_ERROR "PRECAST_FUZZ and PRECAST_COVERAGE need clang: -DCMAKE_CXX_COMPILER=clang++-19")
endif()
if(PRECAST_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
if(PRECAST_COVERAGE)
  # %m: processes that run one binary add their counts to one file.
  add_compile_options("-fprofile-instr-generate=${PROJECT_BINARY_DIR}/profiles/%4m.profraw"
    -fcoverage-mapping)
  add_link_options("-fprofile-instr-generate=${PROJECT_BINARY_DIR}/profiles/%4m.profraw")
endif()

# clang-tidy over every file of src/ that is no test, while it is compiled; .clang-tidy has the checks.
option(PRECAST_TIDY "Run clang-tidy over src/; findings are errors" OFF)
if(PRECAST_TIDY)
  find_program(PRECAST_CLANG_TIDY NAMES clang-tidy-19 clang-tidy REQUIRED)
endif()
function(precast_tidy target)
  if(PRECAST_TIDY)
    set_target_properties(${target} PROPERTIES
      CXX_CLANG_TIDY "${PRECAST_CLANG_TIDY};--warnings-as-errors=*;--quiet")
  endif()
endfunction()
