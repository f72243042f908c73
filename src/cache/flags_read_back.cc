#include "cache/flags_read_back.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "cache/option_files.h"
#include "pjrt/plugin_impl.h"
#include "precast/plugin.h"
#include "proto/edit.h"
#include "proto/executable_view.h"
#include "proto/field_numbers.h"
#include "proto/file_options.h"
#include "proto/xla_options.h"

namespace precast::cache {
namespace {

constexpr std::string_view kProgram = R"(module @flags {
  func.func public @main(%arg0: tensor<f32>) -> tensor<f32> {
    return %arg0 : tensor<f32>
  }
}
)";
constexpr std::string_view kPrefix = "debug_options.";

Result<Bytes> compile_and_look(const Client& client) {
  PRECAST_ASSIGN(const Program program, Program::from_bytes(Bytes(kProgram), "flags"));
  PRECAST_ASSIGN(const CompiledExecutable executable, client.compile(program, CompileOptions()));
  PRECAST_ASSIGN(const Bytes serialized, executable.serialize());
  const auto options = proto::debug_options_of_executable(serialized);
  if (options) return Bytes(*options);
  return Error(ErrorCode::unsupported,
               "the plugin was in the process before Precast opened it, and its executables do not "
               "show which of XLA's flags are in force");
}

Result<Bytes> effective_options(const Client& client) {
  Plugin::Impl& plugin = *client.plugin().impl();
  if (const Bytes* known = plugin.effective_options.get()) return *known;
  PRECAST_ASSIGN(Bytes options,
                 compile_and_look(client).with("while reading back which flags are in force"));
  return plugin.effective_options.settle(std::move(options));
}

// Compile options that hold these debug options, to look at them as at a caller's.
Result<CompileOptions> as_compile_options(BytesView debug_options) {
  namespace outer = proto::compile_options;
  namespace build = proto::build_options;
  const Bytes content = proto::varint_field(build::kNumReplicas, 1) +
                        proto::varint_field(build::kNumPartitions, 1) +
                        proto::bytes_field(build::kDebugOptions, debug_options);
  return CompileOptions::from_serialized(
      proto::bytes_field(outer::kExecutableBuildOptions, content));
}

}  // namespace

Result<std::vector<proto::OptionItem>> flags_read_back(const Client& client,
                                                       const proto::FlagsText& flags) {
  PRECAST_ASSIGN(const Bytes effective, effective_options(client));
  PRECAST_ASSIGN(const CompileOptions options, as_compile_options(effective));
  PRECAST_ASSIGN(const proto::FileReferences files,
                 proto::file_references({}, options, client.platform_name()));
  if (!files.unreadable.empty()) {
    return Error(ErrorCode::unsupported,
                 fmt::format("no key can hold what {} names", fmt::join(files.unreadable, ", ")));
  }
  PRECAST_ASSIGN(const auto contents, proto::read_contents(files.references, read_content));
  const proto::ContentTexts texts(files.references, contents);
  PRECAST_ASSIGN(proto::CanonicalOptions canonical,
                 proto::canonicalize(options, client.platform_name(), texts));
  std::vector<proto::OptionItem> items;
  for (proto::OptionItem& item : canonical.items) {
    if (!item.name.starts_with(kPrefix)) continue;
    items.push_back({"effective." + item.name.substr(kPrefix.size()), std::move(item.value)});
  }
  for (const proto::Flag& flag : flags.effective) {
    if (proto::find_option(std::string_view(flag.name)) != nullptr) continue;
    items.push_back({"--" + flag.name, flag.value});
  }
  return items;
}

}  // namespace precast::cache
