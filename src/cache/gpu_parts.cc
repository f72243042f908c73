#include "cache/gpu_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <system_error>

namespace precast::cache {
namespace {

namespace fs = std::filesystem;
using Parts = std::vector<std::pair<std::string, Bytes>>;

struct Library {
  std::string_view name;  // "libcudnn" for libcudnn.so and libcudnn.so.9
  bool needed;            // to say what a compile would use
};
// cuDNN's parts check for themselves that they are of one version with libcudnn.
constexpr auto kLibraries = std::to_array<Library>({{"libcublas", true},
                                                    {"libcublasLt", false},
                                                    {"libcuda", true},
                                                    {"libcudart", false},
                                                    {"libcudnn", true},
                                                    {"libnccl", false},
                                                    {"libnvJitLink", false},
                                                    {"libnvrtc", false}});
constexpr std::string_view kNccl = "libnccl";

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// "libcudnn" of "/x/libcudnn.so.9"; empty when it is no library.
std::string_view library_name(std::string_view path) {
  const std::string_view base = base_name(path);
  const std::size_t so = base.find(".so");
  const bool whole = so != std::string_view::npos && (so + 3 == base.size() || base[so + 3] == '.');
  return whole ? base.substr(0, so) : std::string_view();
}

Result<void> add_libraries(Parts& parts, const GpuSurroundings& here) {
  std::map<std::string_view, std::vector<Digest>> found;
  const std::vector<pjrt::Mapping> files = pjrt::mapped_files(here.maps);
  for (const pjrt::Mapping& file : files) {
    const std::string_view name = library_name(file.path);
    if (std::ranges::find(kLibraries, name, &Library::name) == kLibraries.end()) continue;
    PRECAST_ASSIGN(const Digest digest, here.digest(file.path, &file));
    found[name].push_back(digest);
  }
  for (const Library& library : kLibraries) {
    auto& digests = found[library.name];
    if (digests.empty() && (library.needed || (library.name == kNccl && here.several_devices))) {
      return Error(ErrorCode::unavailable,
                   fmt::format("{} is not loaded, so it is not known which one XLA would compile "
                               "with",
                               library.name));
    }
    // Two of one name in a process: both count, whatever their addresses.
    std::ranges::sort(digests);
    for (const Digest& digest : digests) {
      parts.emplace_back(std::string(library.name), "sha256:" + digest.hex());
    }
  }
  return {};
}

// Folders that look like a CUDA toolkit, in XLA's order.
std::vector<std::string> toolkits(const GpuSurroundings& here) {
  std::vector<std::string> roots = here.data_dirs;
  if (!here.cuda_home.empty()) roots.push_back(here.cuda_home);
  // site-packages/jax_plugins/xla_cuda13/xla_cuda_plugin.so
  const fs::path packages = fs::path(here.plugin_path).parent_path().parent_path().parent_path();
  for (const char* package : {"cu13", "cu12", "cuda_nvcc"}) {
    roots.push_back((packages / "nvidia" / package).string());
  }
  roots.emplace_back("./cuda_sdk_lib");
  for (const char* root : {"/usr/local/cuda", "/opt/cuda"}) roots.emplace_back(root);
  return roots;
}

// Adds "name.0", "name.1", ... for those of the paths that are there.
Result<void> add_files(Parts& parts, const GpuSurroundings& here, const std::string& name,
                       const std::vector<std::string>& paths) {
  int count = 0;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) continue;
    PRECAST_ASSIGN(const Digest digest, here.digest(path, nullptr));
    parts.emplace_back(fmt::format("{}.{}", name, count++), "sha256:" + digest.hex());
  }
  return {};
}

std::vector<std::string> below(const std::vector<std::string>& roots, const std::string& path) {
  std::vector<std::string> paths;
  paths.reserve(roots.size());
  for (const std::string& root : roots) paths.push_back(root + "/" + path);
  return paths;
}

std::vector<std::string> split(std::string_view list, char separator) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(separator), list.size());
    if (end != 0) parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

// The value of "name : value" when the line is of this name.
std::optional<std::string_view> value_of(std::string_view line, std::string_view name) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !line.starts_with(name)) return std::nullopt;
  if (line.substr(name.size(), colon - name.size()).find_first_not_of(" \t") !=
      std::string_view::npos) {
    return std::nullopt;
  }
  line.remove_prefix(colon + 1);
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

}  // namespace

Result<Parts> gpu_parts(const GpuSurroundings& here) {
  Parts parts;
  PRECAST_TRY(add_libraries(parts, here));
  const std::vector<std::string> roots = toolkits(here);
  for (const char* tool : {"ptxas", "nvlink"}) {
    std::vector<std::string> paths = below(roots, std::string("bin/") + tool);
    const std::vector<std::string> others = below(split(here.path, ':'), tool);
    paths.insert(paths.end(), others.begin(), others.end());
    PRECAST_TRY(add_files(parts, here, tool, paths));
  }
  std::vector<std::string> devices = below(roots, "nvvm/libdevice/libdevice.10.bc");
  for (const std::string& root : here.data_dirs) devices.push_back(root + "/libdevice.10.bc");
  devices.emplace_back("./libdevice.10.bc");
  PRECAST_TRY(add_files(parts, here, "libdevice", devices));
  return parts;
}

std::optional<proto::CpuTarget> cpu_from_cpuinfo(std::string_view cpuinfo,
                                                 std::string_view machine) {
  proto::CpuTarget cpu;
  cpu.triple = std::string(machine) + "-unknown-linux-gnu";
  for (const std::string& line : split(cpuinfo, '\n')) {
    if (const auto name = value_of(line, "model name"); name && cpu.name.empty()) {
      cpu.name = *name;
    }
    const auto x86 = value_of(line, "flags");
    const auto flags = x86 ? x86 : value_of(line, "Features");
    if (!flags) continue;
    for (const std::string& flag : split(*flags, ' ')) {
      cpu.features += (cpu.features.empty() ? "+" : ",+") + flag;
    }
    if (!cpu.features.empty()) return cpu;
  }
  return std::nullopt;
}

}  // namespace precast::cache
