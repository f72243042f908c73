// Executables, buffers and host tensors.
//
//   PRECAST_ASSIGN(auto outputs, executable.run(inputs));     // outputs[device][result]
//
// Only an executable that was compiled in this process can be serialized: what a plugin serializes
// from a loaded one may load and then fail at the run. So CompiledExecutable has serialize() and
// LoadedExecutable has not.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "precast/bytes.h"
#include "precast/device_assignment.h"
#include "precast/export.h"
#include "precast/result.h"
#include "precast/signature.h"
#include "precast/tensor_type.h"

namespace precast {

// A dense row-major array in host memory, little-endian, types narrower than a byte one per byte.
struct HostTensor {
  TensorType type;
  Bytes data;  // type.host_bytes() bytes
};

// The same without owning it.
struct HostTensorView {
  TensorType type;
  BytesView data;
  HostTensorView(TensorType t, BytesView d) : type(std::move(t)), data(d) {}
  HostTensorView(
      const HostTensor& tensor)  // NOLINT(*-explicit-*): a tensor is where a view is wanted
      : type(tensor.type), data(tensor.data) {}
};

// Owns a device buffer. Movable; destroyed with the object.
class PRECAST_EXPORT Buffer {
 public:
  struct Impl;
  explicit Buffer(std::unique_ptr<Impl> impl);
  Buffer(Buffer&&) noexcept;
  Buffer& operator=(Buffer&&) noexcept;
  ~Buffer();

  Result<TensorType> type() const;
  // Copies to the host as dense row-major, whatever the layout on the device. Blocks until the
  // value is there.
  Result<HostTensor> to_host() const;
  bool is_deleted() const;  // true after a run consumed it (donation)
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// In bytes, as the plugin reports them.
struct MemoryStats {
  std::int64_t generated_code = 0;
  std::int64_t arguments = 0;
  std::int64_t outputs = 0;
  std::int64_t aliased = 0;
  std::int64_t temporaries = 0;
  std::int64_t peak = 0;
  bool operator==(const MemoryStats&) const = default;
};

struct CostItem {  // One number that the compiler estimates, by its name: "flops".
  std::string name;
  double value = 0;
  bool operator==(const CostItem&) const = default;
};

// How long the parts of one run took, in milliseconds.
struct RunTimes {
  double transfer_ms = 0;  // inputs to devices
  double run_ms = 0;       // execution, until every device reported completion
  double fetch_ms = 0;     // outputs to the host
};

// A handle to an executable on devices: copies share it. run() may be called from several threads.
class PRECAST_EXPORT LoadedExecutable {
 public:
  struct Impl;
  explicit LoadedExecutable(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

  const std::string& name() const;
  int replicas() const;
  int partitions() const;
  std::size_t result_count() const;
  // The addressable devices it runs on, in the order of positions.
  const std::vector<std::int64_t>& device_ids() const;

  // What it takes and gives, the layouts of parameters included. Nothing when neither the plugin
  // nor the artifact could tell; then run() checks counts only, and refuses a program that asks for
  // layouts of its own.
  const std::optional<ProgramSignature>& signature() const;

  // Optional facts; unsupported when the plugin lacks the function.
  Result<MemoryStats> memory_stats() const;
  Result<std::vector<CostItem>> cost_analysis() const;
  Result<std::string> fingerprint() const;
  Result<std::vector<TensorType>> result_types() const;
  Result<std::vector<std::string>> result_memory_kinds() const;

  // Runs on the executable's devices. inputs[d][p] is parameter p for the d-th device of
  // device_ids(). Buffers of donated parameters are consumed. Returns outputs[d][r], when all
  // devices are done. invalid_argument when a count is wrong, or when a buffer does not lie in
  // memory as its parameter takes it (a plugin gives wrong results for such a buffer, and no
  // error); unsupported when the program asks for layouts that the plugin does not tell.
  Result<std::vector<std::vector<Buffer>>> execute(
      const std::vector<std::vector<const Buffer*>>& inputs) const;

  // Checks every input against the signature (type, shape, size in bytes) *before* anything is
  // transferred, copies the inputs to every device in the executable's own layout, runs, and copies
  // the results back: outputs[d][r]. invalid_argument names the parameter, what it takes and what
  // was given.
  Result<std::vector<std::vector<HostTensor>>> run(const std::vector<HostTensorView>& inputs,
                                                   RunTimes* times = nullptr) const;

  const std::shared_ptr<Impl>& impl() const { return impl_; }

 protected:
  std::shared_ptr<Impl> impl_;
};

// An executable that was compiled in this process.
class PRECAST_EXPORT CompiledExecutable : public LoadedExecutable {
 public:
  using LoadedExecutable::LoadedExecutable;

  // The plugin's bytes. plugin_error with the plugin's words when this program cannot be serialized
  // (a sort on the CPU plugin); unsupported when the plugin cannot serialize at all.
  Result<Bytes> serialize() const;

  // The optimized program as xla.HloModuleProtoWithConfig, when the plugin gives that format;
  // unsupported otherwise.
  Result<Bytes> optimized_program() const;
};

}  // namespace precast
