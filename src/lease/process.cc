#include "lease/process.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/host.h"
#include "base/process.h"

namespace precast::lease {
namespace {

constexpr std::size_t kTokenBytes = 16;

std::string random_token() {
  std::array<char, kTokenBytes> random{};
  if (::getrandom(random.data(), random.size(), GRND_NONBLOCK) < 0) return {};
  return {random.data(), random.size()};
}

}  // namespace

Owner this_process(const std::string& label) {
  base::ProcessId self = base::this_process_id();
  Owner owner;
  owner.host = base::host_name();
  owner.boot_id = std::move(self.boot_id);
  owner.pid_namespace = self.pid_namespace;
  owner.pid = self.pid;
  owner.start_ticks = self.start_ticks;
  owner.token = random_token();
  owner.program = ::program_invocation_short_name;
  owner.label = label;
  owner.since_unix_s = base::unix_seconds();
  return owner;
}

bool is_certainly_dead(const Owner& owner) {
  return base::has_certainly_ended(
      {owner.boot_id, owner.pid_namespace, owner.pid, owner.start_ticks});
}

}  // namespace precast::lease
