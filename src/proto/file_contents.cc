#include <algorithm>

#include "base/hash.h"
#include "precast/limits.h"
#include "proto/file_options.h"

namespace precast::proto {
namespace {

// What of a file's name counts.
std::string counted_name(const FileReference& reference) {
  const std::size_t slash = reference.path.find_last_of('/');
  std::string base = slash == std::string::npos ? reference.path : reference.path.substr(slash + 1);
  if (reference.kind == FileOptionKind::matched_files) return base;
  const std::size_t dot = base.find_last_of('.');
  return dot == std::string::npos ? "" : base.substr(dot);
}

Error at(const FileReference& reference, ErrorCode code, const std::string& what) {
  return Error(code, "option '" + reference.option + "' names '" + reference.path + "', " + what);
}

// Each name and each content stands behind its length.
Digest folder_digest(std::vector<FileContent::Entry>& entries) {
  std::ranges::sort(entries, {}, &FileContent::Entry::name);
  base::Sha256 hash;
  hash.update_framed("folder").update_u64(entries.size());
  for (const FileContent::Entry& entry : entries) {
    hash.update_framed(entry.name).update_framed(entry.bytes);
  }
  return hash.finish();
}

Result<ContentItem> item_of(const FileReference& reference, FileContent content) {
  if (content.folder && reference.kind != FileOptionKind::file_or_folder) {
    return at(reference, ErrorCode::invalid_argument, "a folder, where XLA reads a file");
  }
  if (!content.folder && content.entries.size() != 1) {
    return at(reference, ErrorCode::internal, "and its reader gave no single content");
  }
  if (content.entries.size() > limits::kMaxOptionFolderFiles) {
    return at(reference, ErrorCode::resource_exhausted,
              "a folder of " + std::to_string(content.entries.size()) +
                  " files, more than the limit of " +
                  std::to_string(limits::kMaxOptionFolderFiles));
  }
  ContentItem item{.option = reference.option, .name = {}, .sha256 = {}, .bytes = 0};
  for (const FileContent::Entry& entry : content.entries) item.bytes += entry.bytes.size();
  if (content.folder) {
    item.name = "/";
    item.sha256 = folder_digest(content.entries);
  } else {
    item.name = counted_name(reference);
    item.sha256 = base::sha256(content.entries.front().bytes);
  }
  return item;
}

}  // namespace

Result<std::vector<ContentItem>> read_contents(std::span<const FileReference> references,
                                               const ContentReader& reader) {
  std::vector<ContentItem> items;
  std::uint64_t total = 0;
  for (const FileReference& reference : references) {
    auto content = reader(reference.path);
    if (!content) {
      return std::move(content).error().with("while reading what option '" + reference.option +
                                             "' names");
    }
    PRECAST_ASSIGN(ContentItem item, item_of(reference, *std::move(content)));
    total += item.bytes;
    if (total > limits::kMaxOptionContentBytes) {
      return at(reference, ErrorCode::resource_exhausted,
                "and with it the files that options name hold more than the limit of " +
                    std::to_string(limits::kMaxOptionContentBytes) + " bytes");
    }
    items.push_back(std::move(item));
  }
  return items;
}

ContentTexts::ContentTexts(std::span<const FileReference> references,
                           std::span<const ContentItem> items) {
  for (std::size_t i = 0; i < references.size(); ++i) {
    Bytes text =
        "sha256:" + items[i].sha256.hex() + ", " + std::to_string(items[i].bytes) + " bytes";
    if (!items[i].name.empty()) text += ", " + items[i].name;
    texts_.emplace(std::pair(references[i].option, references[i].path), std::move(text));
  }
}

const Bytes* ContentTexts::find(std::string_view option, std::string_view path) const {
  const auto found = texts_.find(std::pair(std::string(option), std::string(path)));
  return found == texts_.end() ? nullptr : &found->second;
}

}  // namespace precast::proto
