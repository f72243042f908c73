// Compile options as the key sees them: a flat, ordered list of named items, equal for two messages
// exactly when they ask for the same compilation.
//
// Left out, by exact name or number: options that only write dumps or logs (xla_options.h), device
// ids and what follows from them, and what was measured to reach neither code nor configuration
// (canonical_options.cc says which and why). Whatever is not known counts raw.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "precast/bytes.h"
#include "precast/compile_options.h"
#include "precast/result.h"

namespace precast::proto {

struct OptionItem {
  std::string name;  // "debug_options.xla_cpu_max_isa", "override.xla_x",
                     // "executable_build_options.num_replicas", "argument_layouts"
  Bytes value;       // readable where it is text or a number; raw bytes stand as "0x..."
  bool operator==(const OptionItem&) const = default;
};

struct CanonicalOptions {
  // Sorted by name; items of one name (list elements) stay in the order of the message.
  std::vector<OptionItem> items;
  // Options that are set and name a file or folder whose content changes the code: the key does not
  // see that content. Sorted, without repetition.
  std::vector<std::string> file_options;
};

// `platform` is the client's ("cpu", "cuda"); empty when unknown. On "cpu" the xla_gpu_* options
// that name files are read by nothing, so they are not in file_options, and xla_gpu_cuda_data_dir
// is no item. invalid_argument when the message is damaged inside.
Result<CanonicalOptions> canonicalize(const CompileOptions& options,
                                      std::string_view platform = {});

// The options in the text of XLA_FLAGS that name a file whose content matters, as in
// CanonicalOptions::file_options.
std::vector<std::string> file_options_in_flags(std::string_view xla_flags,
                                               std::string_view platform = {});

// Whether XLA takes the text of XLA_FLAGS as the path of a file with flags: it does when the first
// character that is not white space is no dash. Empty text is no path.
bool names_flags_file(std::string_view xla_flags);

}  // namespace precast::proto
