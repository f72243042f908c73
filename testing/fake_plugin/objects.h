// What is behind the handles that the fake plugin hands out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "pjrt/c_abi.h"
#include "precast/tensor_type.h"
#include "testing/fake_plugin/config.h"
#include "testing/fake_plugin/program.h"

namespace precast::fake {

// Attributes in the form that PJRT hands out. Values point into the list itself.
class NamedValues {
 public:
  NamedValues() = default;
  explicit NamedValues(std::vector<Attribute> attributes);
  NamedValues(const NamedValues&) = delete;
  NamedValues& operator=(const NamedValues&) = delete;

  const PJRT_NamedValue* data() const { return values_.data(); }
  std::size_t size() const { return values_.size(); }

 private:
  std::vector<Attribute> attributes_;
  std::vector<PJRT_NamedValue> values_;
};

// PJRT_Memory begins with a table that lets a framework attach data of its own.
struct Memory : PJRT_Memory {
  int id = 0;
  int kind_id = 0;
  std::string kind;
  std::string text;
  PJRT_Device* device = nullptr;
  std::mutex mutex;
  std::map<const void*, std::shared_ptr<void>> user_data;
};

}  // namespace precast::fake

// Every event is ready from the start, and none fails by itself: a fault on PJRT_Event_Await does.
struct PJRT_Event {};

struct PJRT_DeviceDescription {
  int id = 0;
  int process_index = 0;
  std::string kind;
  std::string debug_string;
  std::string to_string;
  precast::fake::NamedValues attributes;

  explicit PJRT_DeviceDescription(std::vector<precast::fake::Attribute> list)
      : attributes(std::move(list)) {}
};

struct PJRT_TopologyDescription {
  std::string platform_name;
  std::string platform_version;
  std::vector<std::unique_ptr<PJRT_DeviceDescription>> descriptions;
  std::vector<PJRT_DeviceDescription*> handles;
  std::vector<int> local_ids;  // per description: its number within its process
  std::string serialized;
};

struct PJRT_Device {
  PJRT_Client* client = nullptr;
  PJRT_DeviceDescription* description = nullptr;
  int local_hardware_id = -1;
  bool addressable = false;
  std::vector<std::unique_ptr<precast::fake::Memory>> memories;  // the first is the default
  std::vector<PJRT_Memory*> memory_handles;
};

struct PJRT_Client {
  std::shared_ptr<const precast::fake::Config> config;  // of the moment it was created
  int process_index = 0;
  PJRT_TopologyDescription topology;
  std::vector<std::unique_ptr<PJRT_Device>> devices;
  std::vector<PJRT_Device*> handles;
  std::vector<PJRT_Device*> addressable;
  std::vector<PJRT_Memory*> memories;
};

// Several handles share one compilation; each caches the arrays that its getters hand out.
struct PJRT_Executable {
  std::shared_ptr<const precast::fake::Compiled> compiled;
  bool from_bytes = false;
  std::string fingerprint;
  std::vector<PJRT_Buffer_Type> result_types;
  std::vector<std::int64_t> result_dimensions;
  std::vector<std::size_t> result_ranks;
  std::vector<const char*> parameter_kinds, result_kinds;
  std::vector<std::size_t> parameter_kind_sizes, result_kind_sizes;
};

struct PJRT_LoadedExecutable {
  PJRT_Client* client = nullptr;
  std::shared_ptr<const precast::fake::Compiled> compiled;
  bool from_bytes = false;
  bool portable = false;
  bool deleted = false;
  std::vector<std::int64_t> assignment;  // empty when portable
  std::vector<PJRT_Device*> addressable;
};

struct PJRT_Buffer {
  PJRT_Device* device = nullptr;
  PJRT_Memory* memory = nullptr;
  precast::TensorType type;
  std::vector<char> data;
  bool deleted = false;
};

// Bytes that live until their deleter is called.
struct PJRT_SerializedExecutable {
  std::string bytes;
};
struct PJRT_SerializedCompileOptions {
  std::string bytes;
};
struct PJRT_DeviceAssignmentSerialized {
  std::string bytes;
};
struct PJRT_SerializedTopology {
  std::string bytes;
};

namespace precast::fake {

// Throws INVALID_ARGUMENT "No matching device found for device_id N".
PJRT_Device* find_device(const PJRT_Client& client, std::int64_t id);

// The ids of the first replicas x partitions devices. Throws INVALID_ARGUMENT when there are fewer.
std::vector<std::int64_t> default_assignment(const PJRT_Client& client, std::int64_t replicas,
                                             std::int64_t partitions);

// Puts `compiled` on the devices that `options` name, or on the default ones.
std::unique_ptr<PJRT_LoadedExecutable> load(PJRT_Client& client,
                                            std::shared_ptr<const Compiled> compiled,
                                            const Options& options, bool from_bytes);

// A ready event.
inline PJRT_Event* ready() { return new PJRT_Event; }

// Hands out bytes together with their deleter, as PJRT's serializing functions do.
template <typename Holder>
Holder* hand_out(std::string bytes, const char** data, std::size_t* size,
                 void (**deleter)(Holder*)) {
  auto* holder = new Holder{std::move(bytes)};
  *data = holder->bytes.data();
  *size = holder->bytes.size();
  *deleter = [](Holder* done) { delete done; };
  return holder;
}

}  // namespace precast::fake
