// Result<T>: a value or an Error.
//
//   Result<Bytes> read(const std::string& path);
//
//   Result<Size> size_of(const std::string& path) {
//     PRECAST_ASSIGN(Bytes bytes, read(path));   // returns the error to our caller
//     return bytes.size();
//   }
//
// The member names are those of std::expected, which this becomes at C++23; the error type is
// fixed. Reading value() of an error, or error() of a value, is a bug of the caller and undefined
// (asserted in debug builds).
#pragma once

#include <cassert>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "precast/error.h"

namespace precast {

template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  template <typename U = T>
    requires(std::is_convertible_v<U &&, T> && !std::is_same_v<std::remove_cvref_t<U>, Result> &&
             !std::is_same_v<std::remove_cvref_t<U>, Error>)
  Result(U&& value)
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}            // NOLINT(*-explicit-*)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(*-explicit-*)

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    assert(has_value());
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() & {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }
  const Error& error() const& {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    assert(!has_value());
    return std::move(*std::get_if<1>(&state_));
  }

  template <typename U>
  T value_or(U&& fallback) && {
    return has_value() ? std::move(*this).value() : static_cast<T>(std::forward<U>(fallback));
  }

  // Adds a frame when this is an error; passes a value through.
  Result&& with(std::string frame) && {
    if (!has_value()) (void)std::move(error()).with(std::move(frame));
    return std::move(*this);
  }

 private:
  std::variant<T, Error> state_;
};

// Success without a value.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(*-explicit-*)

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  void value() const { assert(has_value()); }

  Error& error() & {
    assert(!has_value());
    return *error_;
  }
  const Error& error() const& {
    assert(!has_value());
    return *error_;
  }
  Error&& error() && {
    assert(!has_value());
    return std::move(*error_);
  }

  Result&& with(std::string frame) && {
    if (error_) (void)std::move(*error_).with(std::move(frame));
    return std::move(*this);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace precast

#define PRECAST_CONCAT_INNER_(a, b) a##b
#define PRECAST_CONCAT_(a, b) PRECAST_CONCAT_INNER_(a, b)

// Returns the error of `expression` (a Result of any type) to the caller, if it is one.
#define PRECAST_TRY(...)                                                                          \
  do {                                                                                            \
    if (auto precast_try_ = (__VA_ARGS__); !precast_try_) return std::move(precast_try_).error(); \
  } while (false)

// Declares `target` from the value of a Result, or returns its error to the caller.
#define PRECAST_ASSIGN(target, ...) \
  PRECAST_ASSIGN_INNER_(PRECAST_CONCAT_(precast_result_, __LINE__), target, __VA_ARGS__)
#define PRECAST_ASSIGN_INNER_(result, target, ...) \
  auto result = (__VA_ARGS__);                     \
  if (!result) return std::move(result).error();   \
  target = std::move(result).value()
