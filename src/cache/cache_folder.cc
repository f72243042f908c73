#include "precast/cache_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "artifact/summary.h"
#include "base/file.h"
#include "precast/cache.h"
#include "precast/key.h"
#include "store/directory_store.h"

namespace precast {

struct CacheFolder::Impl {
  std::unique_ptr<store::DirectoryStore> store;
};

namespace {

CacheEntry entry_of(store::StoredEntry found) {
  return {std::move(found.name), std::move(found.path), found.bytes, found.modified_unix_s};
}

// The facts of an open file, with the key of its record.
Result<EntryFacts> read_facts(const store::EntryFile& file) {
  PRECAST_ASSIGN(artifact::Summary summary,
                 artifact::summarize(file.bytes(), [&](std::uint64_t offset, std::uint64_t size) {
                   return file.read(offset, size);
                 }));
  auto record = KeyRecord::decode(summary.key_record);
  if (!record) return std::move(record).error().with("in the key record");
  EntryFacts facts;
  facts.entry = {record->digest().hex(), file.path(), file.bytes(), file.modified_unix_s()};
  facts.executable_bytes = summary.executable_bytes;
  facts.provenance = std::move(summary.provenance);
  return facts;
}

}  // namespace

Result<std::optional<CacheFolder>> CacheFolder::open(const std::string& directory) {
  std::string wanted = directory;
  if (wanted.empty()) {
    PRECAST_ASSIGN(DefaultDirectory found, default_cache_directory());
    wanted = std::move(found.path);
  }
  PRECAST_ASSIGN(std::unique_ptr<store::DirectoryStore> store, store::DirectoryStore::find(wanted));
  if (store == nullptr) return std::optional<CacheFolder>();
  std::string path = store->path();
  return std::optional<CacheFolder>(
      CacheFolder(std::make_shared<Impl>(Impl{std::move(store)}), std::move(path)));
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
  auto facts = read_facts(*file);
  if (!facts) return std::move(facts).error().with("while reading '" + file->path() + "'");
  if (facts->entry.key != key) {
    return Error(ErrorCode::corrupt,
                 "its name stands for another key than its record, " + facts->entry.key)
        .with("while reading '" + file->path() + "'");
  }
  return std::optional<EntryFacts>(std::move(*facts));
}

Result<bool> CacheFolder::remove(const std::string& key) const { return impl_->store->remove(key); }

Result<bool> CacheFolder::remove_unfinished(const CacheEntry& file,
                                            std::int64_t before_unix_s) const {
  return impl_->store->remove_unfinished({file.key, file.path, file.bytes, file.modified_unix_s},
                                         before_unix_s);
}

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
  return read_facts(store::EntryFile(store::posix_file_ops(), std::move(fd), path, status))
      .with("while reading '" + path + "'");
}

}  // namespace precast
