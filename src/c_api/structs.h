// How structs cross the C ABI: each begins with its size, grows at its end only, and may come from
// a program that was built with an older or a newer header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

#include "precast/precast_c.h"
#include "precast/result.h"

namespace precast::c_api {

// What a struct was in its first version: its name, and its bytes, a number that never changes.
template <typename T>
struct FirstVersion;

// What is larger than this was never initialized.
inline constexpr std::size_t kMaxStructBytes = 4096;

// The size that `given` states, when it is one that this library can work with.
template <typename T>
Result<std::size_t> size_of_struct(const T* given) {
  using First = FirstVersion<T>;
  static_assert(std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>);
  static_assert(offsetof(T, struct_size) == 0 && First::kBytes <= sizeof(T));
  const std::string name = First::kName;
  if (given == nullptr) {
    return Error(ErrorCode::invalid_argument, "the pointer to " + name + " is null");
  }
  std::size_t size = 0;
  // The caller's memory need not be aligned.
  std::memcpy(&size, static_cast<const void*>(given), sizeof(size));
  if (size < First::kBytes || size > kMaxStructBytes) {
    return Error(ErrorCode::invalid_argument,
                 name + ".struct_size is " + std::to_string(size) + ", but its first version has " +
                     std::to_string(First::kBytes) + " bytes and this one " +
                     std::to_string(sizeof(T)) + "; set it to sizeof(" + name +
                     ") and the rest to zeros");
  }
  return size;
}

// A copy of the caller's struct; what an older caller does not have is zero. unsupported when a
// newer caller sets what this library does not know.
template <typename T>
Result<T> read_struct(const T* given) {
  PRECAST_ASSIGN(const std::size_t size, size_of_struct(given));
  T known{};
  const char* const bytes = reinterpret_cast<const char*>(given);
  std::memcpy(&known, bytes, std::min(size, sizeof(T)));
  if (size > sizeof(T) &&
      std::any_of(bytes + sizeof(T), bytes + size, [](char byte) { return byte != 0; })) {
    return Error(ErrorCode::unsupported,
                 std::string(FirstVersion<T>::kName) + " has " + std::to_string(size) +
                     " bytes, and one beyond the " + std::to_string(sizeof(T)) +
                     " that this library knows is not zero; use a newer libprecast");
  }
  return known;
}

// Fills in as much of the caller's struct as it has; what a newer caller has beyond becomes zero.
template <typename T>
Result<void> write_struct(const T& facts, T* out) {
  PRECAST_ASSIGN(const std::size_t size, size_of_struct(out));
  char* const bytes = reinterpret_cast<char*>(out);
  const std::size_t known = std::min(size, sizeof(T));
  const std::size_t first = sizeof(facts.struct_size);
  std::memcpy(bytes + first, reinterpret_cast<const char*>(&facts) + first, known - first);
  std::memset(bytes + known, 0, size - known);
  return {};
}

#define PRECAST_FIRST_VERSION(type, bytes)       \
  template <>                                    \
  struct FirstVersion<type> {                    \
    static constexpr const char* kName = #type;  \
    static constexpr std::size_t kBytes = bytes; \
  }

static_assert(sizeof(void*) == 8, "the sizes below are those of 64-bit platforms");
PRECAST_FIRST_VERSION(precast_plugin_facts, 24);
PRECAST_FIRST_VERSION(precast_client_facts, 40);
PRECAST_FIRST_VERSION(precast_device, 48);
PRECAST_FIRST_VERSION(precast_cache_config, 64);
PRECAST_FIRST_VERSION(precast_request, 112);
PRECAST_FIRST_VERSION(precast_load_request, 72);
PRECAST_FIRST_VERSION(precast_report_facts, 96);
PRECAST_FIRST_VERSION(precast_phase, 24);
PRECAST_FIRST_VERSION(precast_executable_facts, 72);
PRECAST_FIRST_VERSION(precast_tensor_spec, 72);
PRECAST_FIRST_VERSION(precast_tensor, 48);
PRECAST_FIRST_VERSION(precast_run_options, 16);
PRECAST_FIRST_VERSION(precast_outputs_facts, 48);
#undef PRECAST_FIRST_VERSION

}  // namespace precast::c_api
