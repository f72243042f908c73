// Origins: the handles that came from the cache, and the bytes that each came from.
//
// What a plugin serializes from an executable that was itself loaded may load again and then fail
// at the run. So the wrapper keeps the first bytes of what it loaded and gives those.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "precast/bytes.h"
#include "precast/device_assignment.h"

namespace precast::interpose {

struct LoadedFrom {
  Bytes artifact;                          // as it was loaded: whole, compressed, verified once
  std::optional<DeviceAssignment> asked;   // where the host asked for it, if it did
  std::optional<DeviceAssignment> placed;  // where it runs; nothing: where a run says
};
using Origin = std::shared_ptr<const LoadedFrom>;

// Handles by their address while they live: whoever destroys one says so *before* the plugin frees
// it, since the plugin may hand the address out again at once. Thread-safe, and usable in a child
// that another thread forked.
class Origins {
 public:
  Origins();
  ~Origins();
  Origins(const Origins&) = delete;
  Origins& operator=(const Origins&) = delete;

  void add(const void* handle, Origin origin);
  void remove(const void* handle);
  // Null when the handle is the plugin's own.
  Origin find(const void* handle) const;
  std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const void*, Origin> origins_;
};

}  // namespace precast::interpose
