#include "tests/conformance/fixture.h"

#include <cstdlib>
#include <numeric>
#include <optional>

namespace precast::conformance {
namespace {

struct Shared {
  std::optional<Plugin> plugin;
  std::optional<Client> client;
  std::string error = "not opened";
};
// Never destroyed: at the end of the process the plugin may already be gone.
Shared& shared = *new Shared;

// What Plugin::open takes.
std::string path_of(std::string_view name) {
  constexpr std::string_view kFile = "file:";
  if (!name.starts_with(kFile)) return std::string(name);
  const std::string ending = "/" + std::string(name.substr(kFile.size()));
  for (const FoundPlugin& found : find_plugins()) {
    if (found.path.ends_with(ending)) return found.path;
  }
  return ending;
}

std::string open_shared() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet.
  const char* name = std::getenv("PRECAST_CONFORMANCE_PLUGIN");
  if (name == nullptr) return "PRECAST_CONFORMANCE_PLUGIN is not set";
  std::string path = path_of(name);
  // The same plugin, seen through the one that puts the cache before it.
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet.
  if (const char* wrapper = std::getenv("PRECAST_CONFORMANCE_WRAPPER"); wrapper != nullptr) {
    ::setenv("PRECAST_PJRT_PLUGIN", path.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): as above
    path = wrapper;
  }
  auto plugin = Plugin::open(path);
  if (!plugin) return plugin.error().to_string();
  auto client = plugin->create_client({});
  if (!client) return client.error().to_string();
  shared.plugin = *plugin;
  shared.client = *client;
  return "";
}

}  // namespace

HostTensor matrix(float start) {
  std::vector<float> values(6);
  std::iota(values.begin(), values.end(), start);
  return tensor(ElementType::f32, {2, 3}, values);
}

Program program(const std::string& text) {
  auto program = Program::from_bytes(text, "conformance");
  EXPECT_TRUE(program) << program.error().to_string();
  return *program;
}

CompileOptions replicas_on(const std::vector<std::int64_t>& device_ids) {
  CompileOptions options;
  options.set_replicas(static_cast<int>(device_ids.size()));
  options.set_assignment(DeviceAssignment{static_cast<int>(device_ids.size()), 1, device_ids});
  return options;
}

void Conformance::SetUpTestSuite() {
  if (!shared.plugin) shared.error = open_shared();
}

void Conformance::SetUp() { ASSERT_EQ(shared.error, ""); }

const Plugin& Conformance::plugin() { return *shared.plugin; }
const Client& Conformance::client() { return *shared.client; }

std::vector<std::int64_t> Conformance::device_ids() {
  std::vector<std::int64_t> ids;
  for (const Device& device : client().devices()) {
    if (device.addressable) ids.push_back(device.id);
  }
  return ids;
}

bool Conformance::lacks(std::string_view capability) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no test changes this variable.
  const char* list = std::getenv("PRECAST_CONFORMANCE_LACKS");
  const std::string padded = "," + std::string(list == nullptr ? "" : list) + ",";
  return padded.find("," + std::string(capability) + ",") != std::string::npos;
}

std::optional<CompiledExecutable> Conformance::compiled(
    const std::string& text, const std::vector<std::int64_t>& device_ids) {
  auto executable = client().compile(program(text), replicas_on(device_ids));
  if (executable) return *executable;
  ADD_FAILURE() << executable.error().to_string();
  return std::nullopt;
}

}  // namespace precast::conformance
