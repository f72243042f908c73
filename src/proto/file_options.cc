#include "proto/file_options.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/wire.h"
#include "precast/limits.h"
#include "proto/field_numbers.h"
#include "proto/scalar_text.h"

namespace precast::proto {
namespace {

using base::FieldReader;
using base::WireField;
using base::WireType;

// Not here although they name places: xla_gpu_cuda_data_dir, whose libdevice and PTX compiler are
// part of a GPU plugin's identity; what only writes (xla_options.h).
// xla_gpu_override_gemm_autotuner holds its configuration itself. A change raises
// kFileOptionsVersion.
constexpr auto kFileOptions = std::to_array<FileOption>({
    {"xla_backend_extra_options", 500, FileOptionKind::llvm_options},
    {"xla_candidate_configs_file", 544, FileOptionKind::file},
    {"xla_gpu_algorithm_denylist_path", 128, FileOptionKind::file},
    {"xla_gpu_experimental_autotuner_cache_dir", 407, FileOptionKind::cache},
    {"xla_gpu_experimental_collective_perf_table_path", 377, FileOptionKind::file},
    {"xla_gpu_experimental_matmul_perf_table_path", 383, FileOptionKind::file},
    {"xla_gpu_gemm_autotuner_override_file", 434, FileOptionKind::file},
    {"xla_gpu_kernel_cache_file", 306, FileOptionKind::cache},
    {"xla_gpu_llvm_ir_file", 150, FileOptionKind::matched_files},
    {"xla_gpu_load_autotune_results_from", 223, FileOptionKind::file},
    {"xla_gpu_per_fusion_autotune_cache_dir", 310, FileOptionKind::cache},
    {"xla_gpu_pgle_profile_file_or_directory_path", 210, FileOptionKind::file_or_folder},
    {"xla_gpu_ptx_file", 127, FileOptionKind::matched_files},
    {"xla_gpu_target_config_filename", 261, FileOptionKind::file},
});
static_assert(std::ranges::is_sorted(kFileOptions, {}, &FileOption::name));

// An entry "key=value" of xla_backend_extra_options. Which of LLVM's options take a path is not
// known here; numbers, words and lists of both are no paths, and a relative path without a dot or a
// slash would be taken for one of them.
bool may_name_file(std::string_view entry) {
  const std::size_t equals = entry.find('=');
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : entry.substr(equals + 1);
  if (value.find('/') != std::string_view::npos) return true;
  if (value.find('.') != std::string_view::npos && !float_effect(value)) return true;
  const std::string_view key = entry.substr(0, equals);
  constexpr auto kWords =
      std::to_array<std::string_view>({"file", "path", "dir", "profile", "load"});
  return !value.empty() && std::ranges::any_of(kWords, [&](std::string_view word) {
    return key.find(word) != std::string_view::npos;
  });
}

class Collector {
 public:
  explicit Collector(std::string_view platform) : cpu_(platform == "cpu") {}

  void add(const FileOption& option, std::string_view value) {
    if (value.empty() || (cpu_ && option.name.starts_with("xla_gpu_"))) return;
    if (option.kind == FileOptionKind::cache) {
      unreadable_.emplace(option.name);
    } else if (option.kind == FileOptionKind::llvm_options) {
      if (may_name_file(value)) unreadable_.emplace(option.name);
    } else if (seen_.emplace(option.name, value).second) {
      references_.emplace(option.name,
                          FileReference{std::string(option.name), std::string(value), option.kind});
    }
  }

  Result<FileReferences> finish() && {
    if (references_.size() > limits::kMaxOptionFiles) {
      return Error(ErrorCode::invalid_argument,
                   "compile options and flags name " + std::to_string(references_.size()) +
                       " files, more than the limit of " + std::to_string(limits::kMaxOptionFiles));
    }
    FileReferences found;
    for (auto& [option, reference] : references_) found.references.push_back(std::move(reference));
    found.unreadable.assign(unreadable_.begin(), unreadable_.end());
    return found;
  }

 private:
  bool cpu_;
  std::set<std::pair<std::string, std::string>> seen_;    // option, path
  std::multimap<std::string, FileReference> references_;  // those of one option in their order
  std::set<std::string> unreadable_;
};

void add_flags(Collector& files, const FlagsText& flags) {
  for (const Flag& flag : flags.effective) {
    const FileOption* option = find_file_option(flag.name);
    if (option == nullptr) continue;
    std::string_view value = flag.value;
    // The value of a flag that the table of options lacks stands behind its sign.
    if (std::ranges::find(flags.unknown, flag.name) != flags.unknown.end()) {
      value.remove_prefix(std::min<std::size_t>(value.size(), 1));
    }
    files.add(*option, value);
  }
}

// Key and value of a map's entry; nothing for a damaged one.
std::optional<std::pair<BytesView, BytesView>> map_entry_of(BytesView bytes) {
  std::pair<BytesView, BytesView> entry;
  FieldReader reader(bytes);
  while (reader.next()) {
    if (reader.field().is(map_entry::kKey, WireType::bytes)) entry.first = reader.field().bytes;
    if (reader.field().is(map_entry::kValue, WireType::bytes)) entry.second = reader.field().bytes;
  }
  if (reader.damaged()) return std::nullopt;
  return entry;
}

Result<void> add_debug_options(Collector& files, BytesView debug_options) {
  FieldReader reader(debug_options);
  while (reader.next()) {
    const WireField& field = reader.field();
    const FileOption* option = find_file_option(field.number);
    if (option == nullptr || field.type != WireType::bytes) continue;
    if (option->kind != FileOptionKind::llvm_options) {
      files.add(*option, field.bytes);
      continue;
    }
    const auto entry = map_entry_of(field.bytes);
    if (!entry) {
      return Error(ErrorCode::corrupt,
                   "an entry of " + std::string(option->name) + " does not parse");
    }
    files.add(*option, Bytes(entry->first) + "=" + Bytes(entry->second));
  }
  return reader.finish("xla.DebugOptions");
}

Result<void> add_override(Collector& files, BytesView bytes) {
  const auto entry = map_entry_of(bytes);
  if (!entry) return Error(ErrorCode::corrupt, "an entry of env_option_overrides does not parse");
  const FileOption* option = find_file_option(entry->first);
  if (option == nullptr) return {};
  FieldReader value(entry->second);
  while (value.next()) {
    if (!value.field().is(option_override::kText, WireType::bytes)) continue;
    BytesView text = value.field().bytes;
    while (option->kind == FileOptionKind::matched_files) {
      const std::size_t comma = text.find(',');
      if (comma == BytesView::npos) break;
      files.add(*option, text.substr(0, comma));
      text.remove_prefix(comma + 1);
    }
    files.add(*option, text);
  }
  return value.finish("xla.OptionOverrideProto");
}

Result<void> add_options(Collector& files, const CompileOptions& options) {
  FieldReader reader(options.serialized());
  while (reader.next()) {
    const WireField& field = reader.field();
    if (field.is(compile_options::kEnvOptionOverrides, WireType::bytes)) {
      PRECAST_TRY(add_override(files, field.bytes));
    } else if (field.is(compile_options::kExecutableBuildOptions, WireType::bytes)) {
      FieldReader build(field.bytes);
      while (build.next()) {
        if (!build.field().is(build_options::kDebugOptions, WireType::bytes)) continue;
        PRECAST_TRY(add_debug_options(files, build.field().bytes));
      }
      PRECAST_TRY(build.finish("xla.ExecutableBuildOptionsProto"));
    }
  }
  return reader.finish("xla.CompileOptionsProto");
}

}  // namespace

std::span<const FileOption> all_file_options() { return kFileOptions; }

const FileOption* find_file_option(std::string_view name) {
  const auto found = std::ranges::lower_bound(kFileOptions, name, {}, &FileOption::name);
  return found != kFileOptions.end() && found->name == name ? &*found : nullptr;
}

const FileOption* find_file_option(std::uint32_t number) {
  const auto found = std::ranges::find(kFileOptions, number, &FileOption::number);
  return found == kFileOptions.end() ? nullptr : &*found;
}

Result<FileReferences> file_references(const FlagsText& flags, const CompileOptions& options,
                                       std::string_view platform) {
  Collector files(platform);
  add_flags(files, flags);
  if (auto added = add_options(files, options); !added) {
    return Error(ErrorCode::invalid_argument, "compile options: " + added.error().message());
  }
  return std::move(files).finish();
}

}  // namespace precast::proto
