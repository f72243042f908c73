// Owners for what a plugin hands out. Each is destroyed through the plugin that made it, so the Api
// must outlive it.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "pjrt/call.h"
#include "pjrt/functions.h"
#include "precast/bytes.h"
#include "precast/result.h"

namespace precast::pjrt {

// How a kind of handle is destroyed: the function, and the member of its args that takes the
// handle.
template <typename T>
struct HandleTraits;
template <>
struct HandleTraits<PJRT_Event> {
  static constexpr auto kDestroy = kEventDestroy;
  static constexpr auto kMember = &PJRT_Event_Destroy_Args::event;
};
template <>
struct HandleTraits<PJRT_Client> {
  static constexpr auto kDestroy = kClientDestroy;
  static constexpr auto kMember = &PJRT_Client_Destroy_Args::client;
};
template <>
struct HandleTraits<PJRT_Executable> {
  static constexpr auto kDestroy = kExecutableDestroy;
  static constexpr auto kMember = &PJRT_Executable_Destroy_Args::executable;
};
template <>
struct HandleTraits<PJRT_TopologyDescription> {
  static constexpr auto kDestroy = kTopologyDescriptionDestroy;
  static constexpr auto kMember = &PJRT_TopologyDescription_Destroy_Args::topology;
};
template <>
struct HandleTraits<PJRT_LoadedExecutable> {
  static constexpr auto kDestroy = kLoadedExecutableDestroy;
  static constexpr auto kMember = &PJRT_LoadedExecutable_Destroy_Args::executable;
};
template <>
struct HandleTraits<PJRT_Buffer> {
  static constexpr auto kDestroy = kBufferDestroy;
  static constexpr auto kMember = &PJRT_Buffer_Destroy_Args::buffer;
};

template <typename T>
struct Destroy {
  const Api* api = nullptr;  // null: the handle is only borrowed
  void operator()(T* handle) const {
    if (api != nullptr) destroy(HandleTraits<T>::kDestroy, handle);
  }

 private:
  template <typename Args>
  void destroy(const Function<Args>& function, T* handle) const {
    Block<Args> args;
    args.get()->*HandleTraits<T>::kMember = handle;
    // A destructor has nobody to tell; the plugin's error, if any, is destroyed by call().
    (void)api->call(function, args);
  }
};

template <typename T>
using Handle = std::unique_ptr<T, Destroy<T>>;

// Takes ownership; `raw` may be null.
template <typename T>
Handle<T> own(const Api& api, T* raw) {
  return Handle<T>(raw, Destroy<T>{&api});
}

// For what belongs to somebody else, who destroys it.
template <typename T>
Handle<T> borrow(T* raw) {
  return Handle<T>(raw, Destroy<T>{});
}

// Bytes that a plugin lends together with the function that ends the loan. Copies them and ends it.
template <typename Owner>
Bytes take_bytes(const char* bytes, std::size_t size, Owner* owner, void (*deleter)(Owner*)) {
  Bytes copy;
  if (bytes != nullptr) copy.assign(bytes, size);
  if (deleter != nullptr && owner != nullptr) deleter(owner);
  return copy;
}

// Events that must be over before something may be touched or freed: host memory of transfers, the
// caller's return. Declare it after that memory; whatever is still pending is awaited by the
// destructor.
class PendingEvents {
 public:
  explicit PendingEvents(const Api& api) : api_(&api) {}
  PendingEvents(const PendingEvents&) = delete;
  PendingEvents& operator=(const PendingEvents&) = delete;
  ~PendingEvents() { (void)await(); }

  // Takes ownership; null (nothing to wait for) is left out.
  void add(PJRT_Event* event) {
    if (event != nullptr) events_.push_back(own(*api_, event));
  }
  // Waits for all of them, also after one failed; the first failure is the result.
  Result<void> await();

 private:
  const Api* api_;
  std::vector<Handle<PJRT_Event>> events_;
};

}  // namespace precast::pjrt
