// Dumps: what a compile would have written and a load does not.
#pragma once

#include <string>

#include "precast/bytes.h"
#include "precast/compile_options.h"
#include "precast/digest.h"
#include "precast/result.h"
#include "proto/flags_parse.h"

namespace precast::interpose {

struct Dumps {
  std::string folder;  // xla_dump_to; empty: none are asked for
  // The option that asks for what only a compile or an executable of one writes (the programs
  // between passes, snapshots of runs); empty when none does.
  std::string needs_compile;
};

// What the options ask for; where they hold no debug options, what the flags do. An override goes
// first.
Dumps dumps_of(const CompileOptions& options, const proto::FlagsText& flags);

// Writes the final program of a hit, `optimized` (xla.HloModuleProtoWithConfig), into the folder,
// as xla.HloProto: "<name>.<first digits of the key>.precast_hit.after_optimizations.hlo.pb". Gives
// the path. Which modules xla_dump_hlo_module_re means is not asked: a file too many harms nobody.
Result<std::string> write_final_program(const Dumps& dumps, const std::string& name,
                                        const Digest& key, BytesView optimized);

}  // namespace precast::interpose
