// Client: a plugin's runtime with its devices.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "precast/bytes.h"
#include "precast/compile_options.h"
#include "precast/executable.h"
#include "precast/export.h"
#include "precast/named_value.h"
#include "precast/program.h"
#include "precast/result.h"

namespace precast {

class Plugin;

// A device of a client. Plain values; read once when the client is created.
struct Device {
  std::int64_t id = 0;         // global
  int local_hardware_id = -1;  // -1 when it is not addressable
  int process_index = 0;
  bool addressable = false;
  std::string kind;  // "cpu", "NVIDIA H200", ...
  std::string text;  // the plugin's short description
  std::vector<NamedValue> attributes;
  std::vector<std::string> memory_kinds;  // addressable devices only
};

// What a client says about the hardware that it compiles for.
struct TopologyFacts {
  Bytes serialized;  // PjRtTopologyDescriptionProto; empty when the plugin cannot
  std::optional<std::uint64_t> fingerprint;  // includes the device count: not for keys
  std::vector<NamedValue> attributes;
};

// A handle: copies share the client, which is destroyed with the last handle, executable or buffer
// made from it. Thread-safe.
class PRECAST_EXPORT Client {
 public:
  const std::string& platform_name() const;  // "cpu", "cuda"
  const std::string& platform_version() const;
  int process_index() const;
  const std::vector<Device>& devices() const;      // all, addressable or not, by id
  const std::vector<NamedValue>& options() const;  // as given to create_client
  Plugin plugin() const;

  // XLA_FLAGS and LIBTPU_INIT_ARGS as the plugin saw them: taken when Precast created this plugin's
  // first client in the process, since later changes of the environment have no effect.
  struct FlagSnapshot {
    std::string xla_flags;
    std::string libtpu_init_args;
    // When XLA_FLAGS is the path of a readable file, what was in it; of a folder, which XLA takes
    // as an empty file, nothing. Never set for the text of flags.
    std::optional<Bytes> xla_flags_file = std::nullopt;
    // False when the plugin was in the process before Precast opened it: then its first client may
    // be another's, made under other flags.
    bool certain = true;
    bool operator==(const FlagSnapshot&) const = default;
  };
  const FlagSnapshot& flags() const;

  // The number of CPUs this process may use, the smaller of now and when this client was created,
  // lowered by NPROC and PJRT_NPROC as XLA does: XLA partitions large operations by it.
  int cpu_count() const;

  Result<TopologyFacts> topology() const;
  // The plugin's default assignment of devices to positions.
  Result<DeviceAssignment> default_assignment(int replicas, int partitions) const;

  // Compiles, without any cache. Blocks for as long as XLA takes. plugin_error is XLA's refusal,
  // with its whole text.
  Result<CompiledExecutable> compile(const Program& program, const CompileOptions& options) const;

  // Copies a host tensor to a device. `spec` (may be null) gives the layout; the default is the
  // plugin's own. Returns when the host memory is no longer needed.
  Result<Buffer> to_device(const HostTensorView& tensor, std::int64_t device_id,
                           const TensorSpec* spec = nullptr) const;

  struct Impl;
  const std::shared_ptr<Impl>& impl() const { return impl_; }
  explicit Client(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace precast
