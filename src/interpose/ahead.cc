#include "interpose/ahead.h"

#include <fmt/format.h>

#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "cache/hooks.h"
#include "interpose/compile.h"
#include "interpose/log.h"
#include "pjrt/adopt.h"

namespace precast::interpose {
namespace {

// The client whose executables a compile for this topology gives.
std::optional<Client> client_of(Wrapper& wrapper, const PJRT_Compile_Args& args) {
  if (args.client != nullptr) {
    if (auto named = wrapper.client(args.client)) return named;
  }
  const auto wanted = pjrt::serialized_topology(wrapper.plugin(), args.topology);
  if (!wanted) return std::nullopt;
  for (const Client& client : wrapper.clients()) {
    const auto own = client.topology();
    if (own && own->serialized == *wanted) return client;
  }
  return std::nullopt;
}

Result<Report> publish(Wrapper& wrapper, const Client& client, const PJRT_Compile_Args& args,
                       double compile_ms) {
  if (unknown_extension(args.extension_start, args.program->extension_start)) {
    return Error(ErrorCode::unsupported, "the host gave the compile an extension");
  }
  PRECAST_ASSIGN(const Program program,
                 Program::from_bytes(Bytes(args.program->code, args.program->code_size), ""));
  PRECAST_ASSIGN(
      const CompileOptions options,
      CompileOptions::from_serialized(Bytes(args.compile_options, args.compile_options_size)));
  RequestOptions request;
  request.label = wrapper.settings().label;
  return cache::publish_ahead(
      wrapper.cache(), client, program, options, request,
      [&] { return pjrt::serialized_executable(client, args.executable); }, compile_ms);
}

}  // namespace

void publish_ahead(Wrapper& wrapper, const PJRT_Compile_Args& args, double compile_ms) {
  try {
    wrapper.state().summary.count(Outcome::bypass, Reason::ahead_of_time, compile_ms, 0);
    const std::shared_lock in_use(wrapper.state().in_use);
    const std::optional<Client> client = client_of(wrapper, args);
    if (!client) {
      say(LogLevel::info,
          "compiled ahead of time, for a topology that no client here has: not kept");
      return;
    }
    const auto report = publish(wrapper, *client, args, compile_ms);
    if (!report) {
      say(LogLevel::info, "compiled ahead of time, and not kept: " + report.error().to_string());
      return;
    }
    say(LogLevel::info,
        fmt::format("compiled ahead of time: {}{}", report->root ? "kept" : "not kept",
                    report->detail.empty() ? "" : ": " + report->detail));
  } catch (...) {
    say(LogLevel::warn, "there is not enough memory to keep what was compiled ahead of time");
  }
}

void count_refused_ahead(Wrapper& wrapper, double compile_ms) {
  try {
    wrapper.state().summary.count(Outcome::error, Reason::compile_failed, compile_ms, 0);
  } catch (...) {
    say(LogLevel::warn, "there is not enough memory to count what was compiled ahead of time");
  }
}

}  // namespace precast::interpose
