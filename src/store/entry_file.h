// Reading and publishing one file in a folder of the store.
#pragma once

#include <optional>
#include <string>

#include "precast/bytes.h"
#include "precast/result.h"
#include "store/file_ops.h"
#include "store/folder.h"

namespace precast::store {

// How the name of a file that is being written begins. Entries never begin so.
inline constexpr const char* kTemporaryPrefix = ".tmp-";

// The whole file in one buffer; nothing when there is none. It is read, never mapped: what is
// verified must be what is loaded, and cutting a mapped file short would kill this process.
Result<std::optional<Bytes>> read_entry(FileOps& ops, const Folder& folder,
                                        const std::string& name);

// Writes a temporary file in the same folder, flushes it to disk, renames it to `name` and flushes
// the folder. On an error the temporary file is removed. unavailable when the folder was removed
// meanwhile.
Result<void> write_entry(FileOps& ops, const Folder& folder, const std::string& name,
                         BytesView bytes);

}  // namespace precast::store
