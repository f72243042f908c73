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

# Fuzzing needs clang:
#   cmake -S . -B build/fuzz-build -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 -DPRECAST_FUZZ=ON \
#     -DPRECAST_SANITIZE=address,undefined
#   ninja -C build/fuzz-build artifact_fuzz
#   build/fuzz-build/fuzz/artifact_fuzz <new findings> testdata/fuzz/artifact
# A finding goes into testdata/fuzz/, where the replay test of every build runs it.
option(PRECAST_FUZZ "Build libFuzzer binaries (clang only)" OFF)
if(PRECAST_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "PRECAST_FUZZ needs clang: -DCMAKE_CXX_COMPILER=clang++-19")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
