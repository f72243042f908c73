#include "interpose/dumps.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/wire.h"
#include "proto/edit.h"
#include "proto/field_numbers.h"
#include "proto/xla_options.h"

namespace precast::interpose {
namespace {

using base::FieldReader;
using base::WireType;

// Set, these ask for what happens between passes, or at the runs of an executable that was compiled
// with them.
constexpr std::array<std::string_view, 7> kNeedCompile = {
    "xla_dump_hlo_pass_re",   "xla_dump_hlo_pipeline_re",
    "xla_dump_hlo_snapshots", "xla_dump_hlo_unoptimized_snapshots",
    "xla_dump_emitter_re",    "xla_dump_latency_hiding_schedule",
    "xla_gpu_dump_llvmir",
};

// The value of an override as text.
std::string override_text(BytesView value) {
  FieldReader reader(value);
  std::string text;
  while (reader.next()) {
    const base::WireField& field = reader.field();
    if (field.type == WireType::bytes) text = std::string(field.bytes);
    if (field.type == WireType::varint) text = field.value == 0 ? "false" : "true";
  }
  return text;
}

// The text of one option, from the place that decides.
class Asked {
 public:
  Asked(const CompileOptions& options, const proto::FlagsText& flags)
      : message_(options.serialized()), flags_(flags) {
    const auto build = proto::last_bytes(message_, proto::compile_options::kExecutableBuildOptions);
    if (build) debug_ = proto::last_bytes(*build, proto::build_options::kDebugOptions);
  }

  std::string text(std::string_view name) const {
    if (std::optional<std::string> overridden = from_overrides(name)) return *overridden;
    return debug_ ? from_debug_options(name) : from_flags(name);
  }

  bool is_set(std::string_view name) const {
    const std::string value = text(name);
    return !value.empty() && value != "false";
  }

 private:
  std::optional<std::string> from_overrides(std::string_view name) const {
    std::optional<std::string> found;
    FieldReader reader(message_);
    while (reader.next()) {
      const base::WireField& field = reader.field();
      if (!field.is(proto::compile_options::kEnvOptionOverrides, WireType::bytes)) continue;
      if (proto::last_bytes(field.bytes, proto::map_entry::kKey) != name) continue;
      found = override_text(
          proto::last_bytes(field.bytes, proto::map_entry::kValue).value_or(BytesView()));
    }
    return found;
  }

  std::string from_debug_options(std::string_view name) const {
    const proto::XlaOption* option = proto::find_option(name);
    if (option == nullptr) return {};
    if (option->type == proto::OptionType::boolean) {
      return proto::last_varint(*debug_, option->number).value_or(0) == 0 ? "" : "true";
    }
    return std::string(proto::last_bytes(*debug_, option->number).value_or(BytesView()));
  }

  std::string from_flags(std::string_view name) const {
    std::string value;
    for (const proto::Flag& flag : flags_.effective) {
      if (flag.name == name) value = flag.value;
    }
    return value;
  }

  BytesView message_;
  const proto::FlagsText& flags_;
  std::optional<BytesView> debug_;
};

std::string as_file_name(const std::string& name) {
  std::string file;
  for (const char c : name.substr(0, 100)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-';
    file += plain ? c : '_';
  }
  return file.empty() || file.front() == '.' ? "module" + file : file;
}

}  // namespace

Dumps dumps_of(const CompileOptions& options, const proto::FlagsText& flags) {
  const Asked asked(options, flags);
  Dumps dumps;
  dumps.folder = asked.text("xla_dump_to");
  // Not folders: XLA's names for standard output and for where its own tests write.
  if (dumps.folder == "-" || dumps.folder == "sponge") dumps.folder.clear();
  for (const std::string_view name : kNeedCompile) {
    if (asked.is_set(name)) dumps.needs_compile = name;
  }
  return dumps;
}

Result<std::string> write_final_program(const Dumps& dumps, const std::string& name,
                                        const Digest& key, BytesView optimized) {
  constexpr std::uint32_t kModule = 1;  // in xla.HloModuleProtoWithConfig and in xla.HloProto
  const auto module = proto::last_bytes(optimized, kModule);
  if (!module) return Error(ErrorCode::corrupt, "the optimized program holds no module");
  std::error_code error;
  std::filesystem::create_directories(dumps.folder, error);
  if (error) {
    return base::errno_error(error.value(), "cannot make the dump folder '" + dumps.folder + "'");
  }
  std::string path = fmt::format("{}/{}.{}.precast_hit.after_optimizations.hlo.pb", dumps.folder,
                                 as_file_name(name), key.hex().substr(0, 12));
  PRECAST_TRY(base::write_file_atomic(path, proto::bytes_field(kModule, *module), base::Flush::no));
  return path;
}

}  // namespace precast::interpose
