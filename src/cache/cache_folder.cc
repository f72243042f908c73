#include "precast/cache_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "artifact/summary.h"
#include "base/file.h"
#include "cache/folder_impl.h"
#include "cache/outline_section.h"
#include "precast/cache.h"
#include "precast/key.h"
#include "store/directory_store.h"
#include "store/name_space.h"

namespace precast {

namespace {

Result<std::string> directory_or_default(const std::string& directory) {
  if (!directory.empty()) return directory;
  PRECAST_ASSIGN(DefaultDirectory found, default_cache_directory());
  return std::move(found.path);
}

CacheEntry entry_of(store::StoredEntry found) {
  return {std::move(found.name), std::move(found.path), found.bytes, found.modified_unix_s,
          found.used_unix_s};
}

// What an open file says, with its key record.
struct Read {
  artifact::Summary summary;
  KeyRecord record;
};
Result<Read> read(const store::EntryFile& file, artifact::Outlines outlines) {
  Read found;
  PRECAST_ASSIGN(found.summary, artifact::summarize(
                                    file.bytes(),
                                    [&](std::uint64_t offset, std::uint64_t size) {
                                      return file.read(offset, size);
                                    },
                                    outlines));
  auto record = KeyRecord::decode(found.summary.key_record);
  if (!record) return std::move(record).error().with("in the key record");
  found.record = std::move(record).value();
  return found;
}

// The same of an entry, which must be the one that its name stands for.
Result<Read> read_entry(const store::EntryFile& file, const std::string& key,
                        artifact::Outlines outlines) {
  auto found = read(file, outlines);
  if (found && found->record.digest().hex() != key) {
    found = Error(ErrorCode::corrupt, "its name stands for another key than its record, " +
                                          found->record.digest().hex());
  }
  return std::move(found).with("while reading '" + file.path() + "'");
}

EntryFacts facts_of(const store::EntryFile& file, Read found) {
  EntryFacts facts;
  facts.entry = {found.record.digest().hex(), file.path(), file.bytes(), file.modified_unix_s(),
                 file.used_unix_s()};
  facts.executable_bytes = found.summary.executable_bytes;
  facts.provenance = std::move(found.summary.provenance);
  return facts;
}

}  // namespace

Result<std::optional<CacheFolder>> CacheFolder::open(const std::string& directory) {
  return open(directory, "");
}

Result<std::optional<CacheFolder>> CacheFolder::open(const std::string& directory,
                                                     const std::string& name_space) {
  PRECAST_ASSIGN(const std::string wanted, directory_or_default(directory));
  PRECAST_ASSIGN(std::unique_ptr<store::DirectoryStore> store,
                 store::DirectoryStore::find(wanted, name_space));
  if (store == nullptr) return std::optional<CacheFolder>();
  std::string path = store->path();
  return std::optional<CacheFolder>(
      CacheFolder(std::make_shared<Impl>(Impl{std::move(store)}), std::move(path)));
}

Result<std::vector<std::string>> CacheFolder::name_spaces(const std::string& directory) {
  PRECAST_ASSIGN(const std::string wanted, directory_or_default(directory));
  return store::DirectoryStore::name_spaces(wanted);
}

Result<CacheContents> CacheFolder::contents() const {
  PRECAST_ASSIGN(store::StoreContents found, impl_->store->contents());
  CacheContents contents;
  for (store::StoredEntry& entry : found.entries) {
    contents.entries.push_back(entry_of(std::move(entry)));
  }
  for (auto& [name, path, error] : found.refused) {
    contents.unusable.push_back({std::move(name), std::move(path), std::move(error)});
  }
  for (store::StoredEntry& file : found.unfinished) {
    contents.unfinished.push_back(entry_of(std::move(file)));
  }
  contents.foreign = found.foreign;
  return contents;
}

Result<std::optional<EntryFacts>> CacheFolder::facts(const std::string& key) const {
  PRECAST_ASSIGN(const std::optional<store::EntryFile> file, impl_->store->open_entry(key));
  if (!file) return std::optional<EntryFacts>();
  PRECAST_ASSIGN(Read found, read_entry(*file, key, artifact::Outlines::without));
  return std::optional<EntryFacts>(facts_of(*file, std::move(found)));
}

Result<std::optional<SavedRecord>> CacheFolder::saved_record(const std::string& key,
                                                             Outlines outlines) const {
  PRECAST_ASSIGN(const std::optional<store::EntryFile> file, impl_->store->open_entry(key));
  if (!file) return std::optional<SavedRecord>();
  const bool wanted = outlines == Outlines::with;
  PRECAST_ASSIGN(
      Read found,
      read_entry(*file, key, wanted ? artifact::Outlines::with : artifact::Outlines::without));
  SavedRecord saved;
  saved.record = std::move(found.record);
  saved.provenance = std::move(found.summary.provenance);
  if (wanted) saved.outline = cache::outline_from_section(found.summary.outline);
  return std::optional<SavedRecord>(std::move(saved));
}

Result<bool> CacheFolder::remove(const std::string& key) const { return impl_->store->remove(key); }

Result<bool> CacheFolder::remove_unfinished(const CacheEntry& file,
                                            std::int64_t before_unix_s) const {
  return impl_->store->remove_unfinished(
      {file.key, file.path, file.bytes, file.modified_unix_s, file.used_unix_s}, before_unix_s);
}

Result<void> check_name_space(const std::string& name) { return store::check_name_space(name); }

Result<EntryFacts> artifact_facts(const std::string& path) {
  base::Fd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd && (errno == ENOENT || errno == ENOTDIR)) {
    return Error(ErrorCode::invalid_argument, "no file '" + path + "'");
  }
  if (!fd) return base::errno_error(errno, "reading '" + path + "'");
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) {
    return base::errno_error(errno, "examining '" + path + "'");
  }
  if (!S_ISREG(status.st_mode)) {
    return Error(ErrorCode::invalid_argument, "'" + path + "' is not a regular file");
  }
  const store::EntryFile file(store::posix_file_ops(), std::move(fd), path, status);
  auto found = read(file, artifact::Outlines::without);
  if (!found) return std::move(found).error().with("while reading '" + path + "'");
  return facts_of(file, std::move(found).value());
}

}  // namespace precast
