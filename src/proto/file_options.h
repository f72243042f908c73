// Options and flags that name files and folders of which the content changes the code.
//
//   FileReferences files = file_references(flags, options, client.platform_name());
//   if (!files.unreadable.empty()) return bypass(...);
//   PRECAST_ASSIGN(auto contents, read_contents(files.references, reader));
//
// In a key the content counts, and the path does not. What of the name decides how XLA reads the
// file counts too: the extension, and for files that XLA matches with the program by their name,
// the name.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "precast/bytes.h"
#include "precast/compile_options.h"
#include "precast/digest.h"
#include "precast/result.h"
#include "proto/flags_parse.h"

namespace precast::proto {

// The version of the table. In the key: a change of the table raises it.
inline constexpr int kFileOptionsVersion = 1;

enum class FileOptionKind : std::uint8_t {
  file,
  // A file, or a folder in which XLA looks for the program's file.
  file_or_folder,
  // A list of files; XLA takes the one whose name begins with the module's.
  matched_files,
  // XLA writes to it as well, so its content at the time of the key says nothing.
  cache,
  // Options for LLVM, of which some name files.
  llvm_options,
};

struct FileOption {
  std::string_view name;  // as a flag and as an option
  std::uint32_t number;   // in xla.DebugOptions
  FileOptionKind kind;
};

// Sorted by name. The prefix xla_gpu_ is a platform's: on "cpu" such options are read by nothing.
std::span<const FileOption> all_file_options();
// Null for other options.
const FileOption* find_file_option(std::string_view name);
const FileOption* find_file_option(std::uint32_t number);

struct FileReference {
  std::string option;
  std::string path;
  FileOptionKind kind = FileOptionKind::file;
  bool operator==(const FileReference&) const = default;
};

struct FileReferences {
  // What to read, by option; files of one option in the order in which XLA looks at them.
  std::vector<FileReference> references;
  // Options that are set and whose content no key can hold: caches, and LLVM options that may name
  // a file. Sorted, without repetition.
  std::vector<std::string> unreadable;
};

// What the flags, the debug options and the overrides name, all of them: an option that another one
// hides still counts, because XLA reads some from the flags alone. `platform` is the client's;
// empty when unknown. invalid_argument when the options are damaged inside, or when they name more
// than limits::kMaxOptionFiles files.
Result<FileReferences> file_references(const FlagsText& flags, const CompileOptions& options,
                                       std::string_view platform);

// The content at a path.
struct FileContent {
  struct Entry {
    std::string name;  // relative to the folder, with '/'; empty for a file
    Bytes bytes;
  };
  bool folder = false;
  std::vector<Entry> entries;  // of a file exactly one
};

// Reads a file, or a folder with all that is in it. An implementation keeps to the limits below,
// so that it never holds more than they allow, and fails on what is neither file nor folder.
using ContentReader = std::function<Result<FileContent>(const std::string& path)>;

struct ContentItem {
  std::string option;
  // ".pbtxt" or nothing; of matched files the whole name.
  std::string name;
  // SHA-256 of a file's bytes; of a folder, of its sorted entries.
  Digest sha256;
  std::uint64_t bytes = 0;
  bool operator==(const ContentItem&) const = default;
};

// The contents, in the order of `references`. The reader's error when one cannot be read: the
// caller bypasses. resource_exhausted when a folder has more than limits::kMaxOptionFolderFiles
// files, or all contents are more than limits::kMaxOptionContentBytes; invalid_argument for a
// folder where XLA takes a file.
Result<std::vector<ContentItem>> read_contents(std::span<const FileReference> references,
                                               const ContentReader& reader);

// What stands in a key for the paths: "sha256:<digest>, <n> bytes", and ", <name>" where the item
// has one.
class ContentTexts {
 public:
  ContentTexts() = default;
  // Requires an item for each reference.
  ContentTexts(std::span<const FileReference> references, std::span<const ContentItem> items);

  // Null when nothing was read for this path of this option.
  const Bytes* find(std::string_view option, std::string_view path) const;

 private:
  std::map<std::pair<std::string, std::string>, Bytes> texts_;
};

}  // namespace precast::proto
