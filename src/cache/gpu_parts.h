// What of a CUDA plugin's surroundings goes into the code that it makes: the libraries that are
// loaded, the PTX compilers and libdevice, and the CPU that host code is made for.
//
// XLA picks one PTX compiler and one libdevice by a search that changes from version to version.
// All that it may find count, in the order in which it looks, so that the key does not depend on
// knowing which one it picks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pjrt/mapped_file.h"
#include "precast/bytes.h"
#include "precast/digest.h"
#include "precast/result.h"
#include "proto/executable_view.h"

namespace precast::cache {

struct GpuSurroundings {
  std::string maps;                    // the text of /proc/self/maps
  std::string plugin_path;             // absolute
  std::vector<std::string> data_dirs;  // values of xla_gpu_cuda_data_dir
  std::string cuda_home;               // the variable; may be empty
  std::string path;                    // the variable PATH
  bool several_devices = false;
  // The digest of a file; with a mapping, of what is mapped.
  std::function<Result<Digest>(const std::string& path, const pjrt::Mapping* mapping)> digest;
};

// PluginIdentity::parts. unavailable when cuBLAS, cuDNN or the driver is not loaded (they are
// loaded when XLA first needs them, and then others could be found), or NCCL for several devices;
// and when a library's file is not the mapped one any more. Errors of `digest`.
Result<std::vector<std::pair<std::string, Bytes>>> gpu_parts(const GpuSurroundings& here);

// The CPU from the text of /proc/cpuinfo: every flag that the kernel lists is a feature. `machine`
// is uname's. Nothing when it lists none.
std::optional<proto::CpuTarget> cpu_from_cpuinfo(std::string_view cpuinfo,
                                                 std::string_view machine);

}  // namespace precast::cache
