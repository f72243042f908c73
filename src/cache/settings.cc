#include "cache/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>

#include "cache/option_files.h"
#include "key/key_inputs.h"
#include "pjrt/plugin_environment.h"
#include "precast/limits.h"
#include "proto/file_options.h"

namespace precast::cache {

KeyResult bypass(Reason reason, std::string detail) {
  return {std::nullopt, reason, std::move(detail), {}};
}

std::vector<std::pair<std::string, std::string>> environment(std::string_view platform) {
  std::vector<std::pair<std::string, std::string>> set;
  for (const std::string_view name : key::environment_names(platform)) {
    std::string variable(name);
    if (std::optional<std::string> value = pjrt::plugin_variable(variable.c_str())) {
      set.emplace_back(std::move(variable), *std::move(value));
    }
  }
  return set;
}

// What is longer could not be read back from the record.
Result<void> check_extras(const RequestOptions& request) {
  for (const auto& [name, value] : request.extras) {
    if (name.size() <= limits::kMaxKeyNameBytes / 2 && value.size() <= limits::kMaxKeyValueBytes) {
      continue;
    }
    return Error(
        ErrorCode::invalid_argument,
        fmt::format("the name of an extra has {} bytes and its value {}, of at most {} and "
                    "{}",
                    name.size(), value.size(), limits::kMaxKeyNameBytes / 2,
                    limits::kMaxKeyValueBytes));
  }
  return {};
}

Result<FlagsInForce> flags_in_force(const Client::FlagSnapshot& snapshot) {
  FlagsInForce in_force{proto::parse_flags_text(snapshot.xla_flags), snapshot.xla_flags};
  if (!in_force.flags.flags_file) return in_force;
  if (!snapshot.xla_flags_file) {
    return Error(ErrorCode::invalid_argument,
                 fmt::format("XLA_FLAGS names the file '{}', which cannot be read; put the flags "
                             "themselves into XLA_FLAGS",
                             *in_force.flags.flags_file));
  }
  in_force.text = *snapshot.xla_flags_file;
  in_force.flags = proto::parse_flags_file(*in_force.flags.flags_file, in_force.text);
  return in_force;
}

std::vector<std::string> warnings_of(const proto::FlagsText& flags) {
  if (flags.ignored_tokens.empty()) return {};
  return {
      fmt::format("XLA_FLAGS: XLA ignores '{}' and everything behind it; write each flag as "
                  "--name=value, parted by spaces",
                  flags.ignored_tokens.front())};
}

Result<std::pair<std::optional<Settings>, std::string>> settings_of(const FlagsInForce& in_force,
                                                                    const CompileOptions& options,
                                                                    std::string_view platform) {
  using Answer = std::pair<std::optional<Settings>, std::string>;
  PRECAST_ASSIGN(const proto::FileReferences files,
                 proto::file_references(in_force.flags, options, platform));
  if (!files.unreadable.empty()) {
    return Answer{std::nullopt,
                  fmt::format("no key can hold what {} names: XLA writes there too, or it may be "
                              "an option of LLVM that names a file",
                              fmt::join(files.unreadable, ", "))};
  }
  const auto contents = proto::read_contents(files.references, read_content);
  if (!contents) return Answer{std::nullopt, contents.error().to_string()};
  const proto::ContentTexts texts(files.references, *contents);
  PRECAST_ASSIGN(proto::CanonicalOptions canonical, proto::canonicalize(options, platform, texts));
  return Answer{Settings{std::move(canonical.items),
                         proto::canonical_flags(in_force.flags, in_force.text, platform, texts)},
                {}};
}

// Rules by which a host divides its own calls are registered with the plugin, and so in no key.
std::optional<KeyResult> bypass_by_partitioning(const program::CustomCallScan& calls,
                                                const CompileOptions& options) {
  if (options.partitions() < 2) return std::nullopt;
  for (const std::string& target : calls.plain) {
    if (program::has_known_partitioning(target)) continue;
    return bypass(Reason::unknown_partitioning,
                  fmt::format("the program calls {} on {} partitions, and how such a call is "
                              "divided may be a rule of the host, which no key holds",
                              target, options.partitions()));
  }
  if (!calls.plain_truncated) return std::nullopt;
  return bypass(Reason::unknown_partitioning,
                "the program calls too many targets to know how all of them are partitioned");
}

std::optional<KeyResult> bypass_by_calls(const program::CustomCallScan& calls,
                                         bool binds_callbacks) {
  if (!calls.process_bound.empty()) {
    return bypass(Reason::process_bound_call,
                  fmt::format("the program calls {}, whose configuration holds an address of the "
                              "process that made it",
                              fmt::join(calls.process_bound, ", ")));
  }
  if (!binds_callbacks && !calls.index_bound.empty()) {
    return bypass(Reason::index_bound_call,
                  fmt::format("the program calls {}, whose function is not in the program; only a "
                              "front end that binds it again may cache it",
                              fmt::join(calls.index_bound, ", ")));
  }
  return std::nullopt;
}

}  // namespace precast::cache
