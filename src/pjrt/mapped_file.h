// The bytes of a shared library that are mapped into this process.
//
// The path of a library proves nothing: the file may have been replaced since it was opened. The
// kernel's own list of mappings names the device and inode that an address comes from, and only a
// file with the same two is hashed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pjrt/digest_memory.h"
#include "precast/digest.h"
#include "precast/plugin.h"
#include "precast/result.h"

namespace precast::pjrt {

// One line of /proc/self/maps.
struct Mapping {
  std::uintptr_t start = 0;
  std::uintptr_t end = 0;
  std::string device;       // "fe:00", as the kernel writes it
  std::uint64_t inode = 0;  // 0: no file
  std::string path;         // empty: no file; ends in " (deleted)" when it was removed
};

// The mapping that holds `address`, from the text of /proc/self/maps.
std::optional<Mapping> mapping_of(std::string_view maps, std::uintptr_t address);

// The files that are mapped, each once, in the order of their addresses.
std::vector<Mapping> mapped_files(std::string_view maps);

// This process's /proc/self/maps.
Result<std::string> read_maps();

// A hashed file, and the state that it was hashed in.
struct HashedFile {
  FileIdentity identity;
  PluginFile file;
};

// The file that `address` is mapped from, with its digest: from `known` (of an earlier call for
// this address, which has been mapped since) or from `memory` when they have it for exactly this
// state of the file, else by hashing. `opened` is the state of the file just before it was mapped.
// Errors: unavailable when the file at the mapping's path is not the mapped one any more, or was
// written to since it was opened or while it was hashed; permission_denied and io_error when it
// cannot be read.
Result<HashedFile> mapped_file_at(const void* address, const FileIdentity& opened,
                                  const DigestMemory& memory,
                                  const std::optional<HashedFile>& known = std::nullopt);

// The same for a library that somebody else opened, by its path. It must be mapped from the file
// that is there now, and not have been written to since this process started, as nobody saw the
// state that it was mapped in.
Result<HashedFile> mapped_file_at_path(const std::string& path, const DigestMemory& memory,
                                       const std::optional<HashedFile>& known);

// The digest of a file by its path; with `mapping`, unavailable unless it is the mapped one. Other
// errors as above.
Result<Digest> digest_of_file(const std::string& path, const Mapping* mapping,
                              const DigestMemory& memory);

}  // namespace precast::pjrt
