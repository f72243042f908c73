// Reads the files that options and flags name.
#pragma once

#include <string>

#include "precast/result.h"
#include "proto/file_options.h"

namespace precast::cache {

// A file, or a folder with all that is below it, as proto::ContentReader wants it. Relative paths
// are relative to the working directory, as in XLA. invalid_argument for what is neither file nor
// folder, for a missing one, and for a folder that holds a link to a folder (what is behind it
// would not be read); resource_exhausted beyond limits::kMaxOptionFolderFiles and
// kMaxOptionContentBytes.
Result<proto::FileContent> read_content(const std::string& path);

}  // namespace precast::cache
