#include "pjrt/plugin_environment.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "precast/limits.h"

namespace precast::pjrt {
namespace {

// More CPUs than any kernel knows; where doubling the mask ends.
constexpr std::size_t kMaxCpus = std::size_t{1} << 20;

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

// The CPUs of the calling process's affinity mask; 0 when the kernel does not say. The fixed
// cpu_set_t ends at 1024 CPUs, and the kernel refuses a mask smaller than its own.
int affinity_count() {
  for (std::size_t cpus = CPU_SETSIZE; cpus <= kMaxCpus; cpus *= 2) {
    const std::unique_ptr<cpu_set_t, FreeCpuSet> set(CPU_ALLOC(cpus));
    if (set == nullptr) return 0;
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    if (::sched_getaffinity(0, bytes, set.get()) == 0) return CPU_COUNT_S(bytes, set.get());
    if (errno != EINVAL) return 0;
  }
  return 0;
}

std::optional<int> positive_integer(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\r\f\v";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return std::nullopt;
  text = text.substr(first, text.find_last_not_of(kSpace) - first + 1);
  if (text.front() == '+') text.remove_prefix(1);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::string> plugin_variable(const char* name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): as unsafe as in the plugin, which does the same.
  const char* value = ::getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

std::optional<Bytes> flags_file_content(const std::string& path) {
  if (path.empty()) return std::nullopt;
  // Not even opened: a writer would see its pipe broken when it is closed again.
  struct stat before{};
  if (::stat(path.c_str(), &before) != 0 ||
      (!S_ISREG(before.st_mode) && !S_ISDIR(before.st_mode))) {
    return std::nullopt;
  }
  const base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status{};
  if (!fd || ::fstat(fd.get(), &status) != 0) return std::nullopt;
  if (S_ISDIR(status.st_mode)) return Bytes();
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  auto content = base::read_all(fd.get(), limits::kMaxFlagsFileBytes, path);
  if (!content) return std::nullopt;
  return std::move(content).value();
}

int effective_cpu_count() {
  int count = affinity_count();
  if (count < 1) count = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  for (const char* name : {"NPROC", "PJRT_NPROC"}) {
    const std::optional<std::string> text = plugin_variable(name);
    if (!text) continue;
    if (const std::optional<int> limit = positive_integer(*text)) count = std::min(count, *limit);
  }
  return std::max(count, 1);
}

}  // namespace precast::pjrt
