#include "pjrt/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"

namespace precast::pjrt {
namespace {

constexpr std::uint64_t kMaxMapsBytes = std::uint64_t{256} << 20;
constexpr std::size_t kHashChunkBytes = std::size_t{1} << 20;

// Takes the text up to the first of `separator` off the front of `rest`, with the separator.
std::string_view take(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

bool parse_number(std::string_view text, int base, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc{} && end == text.data() + text.size();
}

// "start-end perms offset device inode   path"
std::optional<Mapping> parse_line(std::string_view line) {
  Mapping mapping;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  if (!parse_number(take(line, '-'), 16, start)) return std::nullopt;
  if (!parse_number(take(line, ' '), 16, end)) return std::nullopt;
  mapping.start = start;
  mapping.end = end;
  take(line, ' ');
  take(line, ' ');
  mapping.device = take(line, ' ');
  if (!parse_number(take(line, ' '), 10, mapping.inode)) return std::nullopt;
  const std::size_t path = line.find_first_not_of(' ');
  if (path != std::string_view::npos) mapping.path = line.substr(path);
  return mapping;
}

// Maps the first page of a file, so that the kernel tells its device and inode in the same words as
// for the library. Comparing with what fstat tells would not do: on overlayfs and btrfs the two
// numbers differ for one and the same file.
class Probe {
 public:
  explicit Probe(int fd) : address_(::mmap(nullptr, 1, PROT_READ, MAP_PRIVATE, fd, 0)) {}
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  ~Probe() {
    if (*this) ::munmap(address_, 1);
  }
  explicit operator bool() const { return address_ != MAP_FAILED; }
  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(address_); }

 private:
  void* address_;
};

Error not_the_mapped_file(const std::string& path) {
  return {ErrorCode::unavailable,
          "the library '" + path +
              "' was replaced, removed or written to after this process opened it, so the bytes "
              "that are in use are not known; start the process again"};
}

Result<FileIdentity> identity_of(int fd, const std::string& path) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) {
    return base::errno_error(errno, "cannot examine '" + path + "'");
  }
  if (!S_ISREG(status.st_mode)) return not_the_mapped_file(path);
  return FileIdentity::of(status);
}

// Opens the file of `mapping` and shows that it is the mapped one.
Result<base::Fd> open_mapped(const Mapping& mapping) {
  // O_NONBLOCK: whatever stands at the path now must not make us wait.
  base::Fd fd(::open(mapping.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) {
    if (errno == ENOENT || errno == ENOTDIR) return not_the_mapped_file(mapping.path);
    return base::errno_error(errno, "cannot read '" + mapping.path + "'");
  }
  const Probe probe(fd.get());
  if (!probe) return not_the_mapped_file(mapping.path);
  PRECAST_ASSIGN(const std::string maps, read_maps());
  const std::optional<Mapping> probed = mapping_of(maps, probe.address());
  if (!probed || probed->device != mapping.device || probed->inode != mapping.inode) {
    return not_the_mapped_file(mapping.path);
  }
  return fd;
}

// Whether what stands at the path is still the file in `known`. An inode that is mapped is not
// given to another file, and whoever writes to it, removes it or puts another in its place changes
// one of the five numbers: so nothing else needs to be asked.
bool is_unchanged(const HashedFile& known) {
  struct stat status{};
  return ::stat(known.file.path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         FileIdentity::of(status) == known.identity;
}

Result<Digest> hash_file(int fd, const std::string& path) {
  base::Sha256 hash;
  std::vector<char> chunk(kHashChunkBytes);
  while (true) {
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::errno_error(errno, "cannot read '" + path + "'");
    if (got == 0) return hash.finish();
    hash.update({chunk.data(), static_cast<std::size_t>(got)});
  }
}

}  // namespace

Result<std::string> read_maps() {
  constexpr const char* kPath = "/proc/self/maps";
  const base::Fd fd(::open(kPath, O_RDONLY | O_CLOEXEC));
  if (!fd) return base::errno_error(errno, std::string("cannot open '") + kPath + "'");
  return base::read_all(fd.get(), kMaxMapsBytes, kPath);
}

std::vector<Mapping> mapped_files(std::string_view maps) {
  std::vector<Mapping> files;
  std::set<std::pair<std::string, std::uint64_t>> seen;
  while (!maps.empty()) {
    std::optional<Mapping> mapping = parse_line(take(maps, '\n'));
    if (!mapping || mapping->inode == 0 || !mapping->path.starts_with('/')) continue;
    if (seen.emplace(mapping->device, mapping->inode).second) files.push_back(*std::move(mapping));
  }
  return files;
}

std::optional<Mapping> mapping_of(std::string_view maps, std::uintptr_t address) {
  while (!maps.empty()) {
    std::optional<Mapping> mapping = parse_line(take(maps, '\n'));
    if (mapping && mapping->start <= address && address < mapping->end) return mapping;
  }
  return std::nullopt;
}

Result<HashedFile> mapped_file_at(const void* address, const FileIdentity& opened,
                                  const DigestMemory& memory,
                                  const std::optional<HashedFile>& known) {
  if (known && is_unchanged(*known)) return *known;
  PRECAST_ASSIGN(const std::string maps, read_maps());
  const std::optional<Mapping> mapping =
      mapping_of(maps, reinterpret_cast<std::uintptr_t>(address));
  if (!mapping || mapping->inode == 0) {
    return Error(ErrorCode::unavailable, "the plugin's code is not mapped from a file");
  }
  const std::string& path = mapping->path;
  PRECAST_ASSIGN(const base::Fd fd, open_mapped(*mapping));
  PRECAST_ASSIGN(const FileIdentity before, identity_of(fd.get(), path));
  // The inode alone does not tell a file that was written over in place. Its time of change may
  // move without that (a hard link, a new mode), so it does not count here.
  if (before.bytes != opened.bytes || before.modified_ns != opened.modified_ns) {
    return not_the_mapped_file(path);
  }
  if (const std::optional<Digest> digest = memory.recall(before)) {
    return HashedFile{before, {path, before.bytes, *digest}};
  }
  PRECAST_ASSIGN(const Digest digest, hash_file(fd.get(), path));
  PRECAST_ASSIGN(const FileIdentity after, identity_of(fd.get(), path));
  if (after != before) return not_the_mapped_file(path);
  memory.remember(before, digest);
  return HashedFile{before, {path, before.bytes, digest}};
}

Result<HashedFile> mapped_file_at_path(const std::string& path, const DigestMemory& memory,
                                       const std::optional<HashedFile>& known) {
  if (known && is_unchanged(*known)) return *known;
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), ::free);
  if (real == nullptr) return not_the_mapped_file(path);
  PRECAST_ASSIGN(const std::string maps, read_maps());
  const std::vector<Mapping> files = mapped_files(maps);
  const auto mapped_as = [&files](const std::string& name) {
    return std::find_if(files.begin(), files.end(),
                        [&name](const Mapping& file) { return file.path == name; });
  };
  const auto mapping = mapped_as(real.get());
  // Where the file was replaced, the old one may be in use beside the new one.
  if (mapping == files.end() || mapped_as(real.get() + std::string(" (deleted)")) != files.end()) {
    return not_the_mapped_file(path);
  }
  struct stat status{};
  if (::stat(real.get(), &status) != 0) return not_the_mapped_file(path);
  const FileIdentity now = FileIdentity::of(status);
  if (now.modified_ns > base::started_unix_ns()) return not_the_mapped_file(path);
  return mapped_file_at(reinterpret_cast<const void*>(mapping->start), now, memory);
}

Result<Digest> digest_of_file(const std::string& path, const Mapping* mapping,
                              const DigestMemory& memory) {
  base::Fd fd;
  if (mapping != nullptr) {
    PRECAST_ASSIGN(fd, open_mapped(*mapping));
  } else {
    fd.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) return base::errno_error(errno, "cannot read '" + path + "'");
  }
  PRECAST_ASSIGN(const FileIdentity before, identity_of(fd.get(), path));
  if (const std::optional<Digest> digest = memory.recall(before)) return *digest;
  PRECAST_ASSIGN(const Digest digest, hash_file(fd.get(), path));
  PRECAST_ASSIGN(const FileIdentity after, identity_of(fd.get(), path));
  if (after != before) return not_the_mapped_file(path);
  memory.remember(before, digest);
  return digest;
}

}  // namespace precast::pjrt
