// Drives the fake plugin by hand through the C ABI, for the tests of the plugin itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pjrt/c_abi.h"

namespace precast::testing {

// Zeroed arguments that say their size.
template <typename Args>
Args make_args() {
  Args args{};
  args.struct_size = pjrt::kStructSize<Args>;
  return args;
}

// What a call gave; code is OK when there was no error.
struct Outcome {
  PJRT_Error_Code code = PJRT_Error_Code_OK;
  std::string message;
  bool ok() const { return code == PJRT_Error_Code_OK; }
};

// The plugin with a table that was made for the environment of this moment.
class Driver {
 public:
  Driver();
  // The same with another table, whose functions end in the plugin's.
  explicit Driver(const PJRT_Api* api) : api_(api) {}
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  const PJRT_Api& api() const { return *api_; }
  // Takes and destroys the error.
  Outcome outcome(PJRT_Error* error) const;

  // All of these keep the first failure in `failure` and then give null or nothing.
  PJRT_Client* create_client(std::vector<PJRT_NamedValue> options = {});
  PJRT_LoadedExecutable* compile(PJRT_Client* client, std::string_view program,
                                 std::string_view options);
  std::string serialize(PJRT_LoadedExecutable* executable);
  PJRT_LoadedExecutable* load(PJRT_Client* client, std::string_view bytes,
                              std::string_view options = {});
  // Runs on `devices`, giving each the same f32 vectors, one per parameter; gives the first result
  // of each device. `consumed` says afterwards which buffers of the first device the run took.
  std::vector<std::vector<float>> run(PJRT_Client* client, PJRT_LoadedExecutable* executable,
                                      const std::vector<PJRT_Device*>& devices,
                                      const std::vector<std::vector<float>>& inputs,
                                      std::vector<bool>* consumed = nullptr,
                                      const std::vector<std::int64_t>& not_donated = {});
  PJRT_Device* device(PJRT_Client* client, std::size_t index);
  void destroy(PJRT_LoadedExecutable* executable);
  void destroy(PJRT_Client* client);

  Outcome failure;

 private:
  bool check(PJRT_Error* error);
  PJRT_Buffer* to_device(PJRT_Client* client, PJRT_Device* device, const std::vector<float>& data);
  std::vector<float> to_host(PJRT_Buffer* buffer);
  // Waits for it, and destroys it: a real plugin goes on in threads of its own.
  void finish(PJRT_Event* event);
  void destroy(PJRT_Buffer* buffer);
  bool is_deleted(PJRT_Buffer* buffer);

  void* library_ = nullptr;
  const PJRT_Api* api_ = nullptr;
};

// CompileOptionsProto for so many replicas and partitions, on the given devices if there are any.
std::string compile_options(int replicas, int partitions, const std::vector<int>& device_ids = {});

}  // namespace precast::testing
