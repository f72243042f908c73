// A process that compiles or loads many programs, some of them that everybody wants:
//
//   flight_driver PLUGIN CACHE FIRST COUNT
//
// The keys are 0 to COUNT - 1, in an order that begins at FIRST; before every tenth of them come
// two hot ones. Prints how the requests ended, as one JSON object: outcome and reason by name, and
// what was wrong.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "precast/precast.h"

namespace precast {
namespace {

struct Tally {
  std::map<std::string, int> ends;
  std::map<std::string, int> wrong;
};

// The salt is what makes one program many keys.
void request(const Cache& cache, const Client& client, const Program& program,
             const std::string& salt, Tally& tally) {
  RequestOptions wishes;
  wishes.salt = salt;
  auto done = cache.compile_or_load(client, program, {}, wishes);
  if (!done) {
    ++tally.wrong[done.error().to_string()];
    return;
  }
  ++tally.ends[counted_as(done->report.outcome, done->report.reason)];
  for (const std::string& warning : done->report.warnings) ++tally.wrong[warning];
}

int drive(const std::string& plugin_path, const std::string& folder, int first, int count) {
  const auto plugin = Plugin::open(plugin_path);
  if (!plugin) return 1;
  const auto client = plugin->create_client({});
  if (!client) return 1;
  const auto program = Program::from_bytes("// fake: params=f32[2]\nmodule @m {}\n", "m");
  if (!program) return 1;
  CacheConfig config;
  config.directory = folder;
  const Cache cache = Cache::open(config);
  Tally tally;
  for (int i = 0; i < count; ++i) {
    if (i % 10 == 0) {
      request(cache, *client, *program, "hot_a", tally);
      request(cache, *client, *program, "hot_b", tally);
    }
    request(cache, *client, *program, "key_" + std::to_string((first + i) % count), tally);
  }
  const nlohmann::json said = {{"ends", tally.ends}, {"wrong", tally.wrong}};
  std::puts(said.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace precast

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  return precast::drive(argv[1], argv[2], std::atoi(argv[3]), std::atoi(argv[4]));
}
