// Compile options and flags as the key sees them: flat, ordered lists of named items, equal for two
// messages exactly when they ask for the same compilation.
//
// Options count by their effect (option_effect.h), and for a path that an option names stands what
// is in the file (file_options.h).
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
#include "proto/file_options.h"
#include "proto/flags_parse.h"

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
};

// `platform` is the client's ("cpu", "cuda"); empty when unknown. On "cpu" nothing reads the
// xla_gpu_* options that name files, nor xla_gpu_cuda_data_dir, so they are no items. A path that
// `contents` lacks stands as it is: the caller must bypass. invalid_argument when the message is
// damaged inside.
Result<CanonicalOptions> canonicalize(const CompileOptions& options, std::string_view platform = {},
                                      const ContentTexts& contents = {});

// The flags in force, "--" before each name, in the order of FlagsText::effective. Left out and put
// in places of paths as in canonicalize(). `text` is what was parsed: it counts whole, as
// "XLA_FLAGS", when it holds what Precast takes for fatal and the process lives all the same, or a
// name longer than a key takes.
std::vector<OptionItem> canonical_flags(const FlagsText& flags, BytesView text,
                                        std::string_view platform = {},
                                        const ContentTexts& contents = {});

}  // namespace precast::proto
