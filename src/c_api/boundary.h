// The boundary to C: what every function of precast_c.h does with errors, exceptions and pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "c_api/handles.h"
#include "precast/precast_c.h"
#include "precast/result.h"

namespace precast::c_api {

// Hands an error to the caller, who may not want it, and returns its code.
int32_t give_error(ErrorCode code, const char* message, precast_error** out) noexcept;
int32_t give_error(Error error, precast_error** out) noexcept;

// Runs the body of a function of the C ABI and returns its code. The library throws nothing itself;
// what its libraries throw (no memory) must not unwind into C.
template <typename Body>
int32_t guarded(precast_error** error, Body&& body) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    Result<void> done = std::forward<Body>(body)();
    return done ? PRECAST_OK : give_error(std::move(done).error(), error);
  } catch (const std::bad_alloc&) {
    return give_error(ErrorCode::resource_exhausted, "there is not enough memory", error);
  } catch (const std::exception& exception) {
    return give_error(ErrorCode::internal, exception.what(), error);
  } catch (...) {
    return give_error(ErrorCode::internal, "an exception of an unknown type", error);
  }
}

// invalid_argument when a pointer that must be there is null; `name` is the argument's.
inline Result<void> check_given(const void* pointer, const char* name) {
  if (pointer != nullptr) return {};
  return Error(ErrorCode::invalid_argument, std::string("the pointer '") + name + "' is null");
}

// The same for a pointer through which a handle is returned, which becomes null.
template <typename Handle>
Result<void> check_output(Handle** handle, const char* name) {
  PRECAST_TRY(check_given(static_cast<const void*>(handle), name));
  *handle = nullptr;
  return {};
}

// invalid_argument when there are elements, but no array of them.
inline Result<void> check_array(const void* elements, std::size_t count, const char* name) {
  if (elements != nullptr || count == 0) return {};
  return Error(ErrorCode::invalid_argument, std::string("the array '") + name + "' of " +
                                                std::to_string(count) + " elements is null");
}

// unsupported when a field is set that has no meaning yet: a later version may give it one.
inline Result<void> check_reserved(std::int32_t reserved, const char* struct_name) {
  if (reserved == 0) return {};
  return Error(ErrorCode::unsupported, std::string(struct_name) + ".reserved is " +
                                           std::to_string(reserved) + "; it must be zero");
}

// invalid_argument for an index beyond `count` things of a name.
inline Result<void> check_index(std::size_t index, std::size_t count, const char* what) {
  if (index < count) return {};
  return Error(ErrorCode::invalid_argument, std::string("there is no ") + what + " " +
                                                std::to_string(index) + ": there are " +
                                                std::to_string(count));
}

// The caller's text; null is empty.
inline std::string text_of(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

}  // namespace precast::c_api
