#include "cli/round_trip.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "cli/files.h"
#include "precast/precast.h"

namespace precast::cli {
namespace {

constexpr std::string_view kProgram = R"(module @precast_self_test {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
)";

Bytes bytes_of(const std::array<float, 4>& values) {
  Bytes bytes(sizeof(values), '\0');
  std::memcpy(bytes.data(), values.data(), sizeof(values));
  return bytes;
}

std::string outcome_text(const Report& report) {
  std::string text = fmt::format("{} ({})", to_string(report.outcome), to_string(report.reason));
  if (!report.detail.empty()) text += ": " + report.detail;
  return text;
}

// The facts about an executable that a plugin may do without.
void ask(const LoadedExecutable& executable, RoundTrip& test) {
  const auto note = [&test](const char* question, const auto& answer) {
    test.answers.emplace_back(question, answer ? std::optional<std::string>()
                                               : std::optional(answer.error().to_string()));
  };
  note("memory_stats", executable.memory_stats());
  note("cost_analysis", executable.cost_analysis());
  note("fingerprint", executable.fingerprint());
  note("result_types", executable.result_types());
  note("result_memory_kinds", executable.result_memory_kinds());
  test.answers.emplace_back("parameter_layouts",
                            executable.signature()
                                ? std::optional<std::string>()
                                : std::optional<std::string>("it does not give the program"));
}

Result<void> run_through(const Client& client, RoundTrip& test) {
  PRECAST_ASSIGN(const Program program, Program::from_bytes(Bytes(kProgram), "the self-test"));
  PRECAST_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create());
  CacheConfig config;
  config.directory = folder.path();
  const Cache cache = Cache::open(std::move(config));

  PRECAST_ASSIGN(const CompileOrLoad first, cache.compile_or_load(client, program, {}));
  test.compile = to_string(first.report.outcome);
  if (first.report.outcome != Outcome::miss) {
    return Error(ErrorCode::internal,
                 "a program was compiled but not stored: " + outcome_text(first.report));
  }
  ask(first.executable, test);
  PRECAST_ASSIGN(const CompileOrLoad second, cache.compile_or_load(client, program, {}));
  test.load = to_string(second.report.outcome);
  if (second.report.outcome != Outcome::hit) {
    return Error(ErrorCode::internal,
                 "a stored program was not loaded: " + outcome_text(second.report));
  }
  const HostTensor input{TensorType{ElementType::f32, {4}}, bytes_of({0, 1, -2.5, 1e9})};
  PRECAST_ASSIGN(const auto outputs, second.executable.run({input}));
  if (outputs.size() != 1 || outputs[0].size() != 1 ||
      outputs[0][0].data != bytes_of({0, 2, -5, 2e9})) {
    return Error(ErrorCode::internal, "the loaded program gave a wrong result");
  }
  return {};
}

}  // namespace

RoundTrip try_round_trip(const Client& client) {
  // The variable turns the user's cache off; this round has its own.
  ::unsetenv("PRECAST_DISABLE");
  RoundTrip test;
  if (const auto done = run_through(client, test); !done) {
    test.problem = done.error().code() == ErrorCode::internal ? done.error().message()
                                                              : done.error().to_string();
  }
  return test;
}

}  // namespace precast::cli
