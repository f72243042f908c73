// compile_or_load PROGRAM [PLUGIN]: loads a program from the cache or compiles it, and says what it
// takes and gives.
#include <precast/precast.h>

#include <iostream>
#include <string>

namespace {

precast::Result<precast::CompileOrLoad> compile_or_load(const std::string& file,
                                                        const std::string& plugin_name) {
  PRECAST_ASSIGN(const precast::Plugin plugin, precast::Plugin::open(plugin_name));
  PRECAST_ASSIGN(const precast::Client client, plugin.create_client({}));
  PRECAST_ASSIGN(const precast::Program program, precast::Program::from_file(file));
  const precast::Cache cache = precast::Cache::open({});
  return cache.compile_or_load(client, program, precast::CompileOptions());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: compile_or_load PROGRAM [PLUGIN]\n";
    return 2;
  }
  const auto done = compile_or_load(argv[1], argc > 2 ? argv[2] : "");
  if (!done) {
    std::cerr << done.error().to_string() << "\n";
    return 1;
  }
  std::cout << to_string(done->report.outcome) << " " << done->executable.name() << "\n";
  if (const auto& signature = done->executable.signature()) {
    for (const auto& spec : signature->parameters)
      std::cout << "takes " << spec.to_string() << "\n";
    for (const auto& spec : signature->results) std::cout << "gives " << spec.to_string() << "\n";
  }
  return 0;
}
