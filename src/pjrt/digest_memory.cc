#include "pjrt/digest_memory.h"

#include <sys/stat.h>

#include <ctime>
#include <string_view>

#include "base/hash.h"
#include "precast/limits.h"

namespace precast::pjrt {
namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;
constexpr std::uint64_t kMaxEntryBytes = 512;

std::int64_t nanoseconds(const struct timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * kNanoseconds + time.tv_nsec;
}

// A file that changed a moment ago may change again within one tick of its clock.
bool is_young(const FileIdentity& identity) {
  struct timespec now{};
  if (::clock_gettime(CLOCK_REALTIME, &now) != 0) return true;
  const std::int64_t limit = nanoseconds(now) - limits::kPluginDigestMinAgeSeconds * kNanoseconds;
  return identity.modified_ns > limit || identity.changed_ns > limit;
}

std::string entry_text(const FileIdentity& identity, const Digest& digest) {
  return digest.hex() + " " + identity.text() + "\n";
}

}  // namespace

FileIdentity FileIdentity::of(const struct stat& status) {
  FileIdentity identity;
  identity.device = status.st_dev;
  identity.inode = status.st_ino;
  identity.bytes = static_cast<std::uint64_t>(status.st_size);
  identity.modified_ns = nanoseconds(status.st_mtim);
  identity.changed_ns = nanoseconds(status.st_ctim);
  return identity;
}

std::string FileIdentity::text() const {
  return std::to_string(device) + "-" + std::to_string(inode) + "-" + std::to_string(bytes) + "-" +
         std::to_string(modified_ns) + "-" + std::to_string(changed_ns);
}

DigestMemory DigestMemory::of_user() {
  return DigestMemory(base::PrivateFolder::of_user("plugin-digests"));
}

std::optional<Digest> DigestMemory::recall(const FileIdentity& identity) const {
  if (is_young(identity)) return std::nullopt;
  const std::optional<Bytes> text = folder_.read(identity.text(), kMaxEntryBytes);
  if (!text) return std::nullopt;
  const auto bytes = base::from_hex(std::string_view(*text).substr(0, text->find(' ')));
  Digest digest;
  if (!bytes || bytes->size() != digest.bytes.size()) return std::nullopt;
  bytes->copy(reinterpret_cast<char*>(digest.bytes.data()), digest.bytes.size());
  if (*text != entry_text(identity, digest)) return std::nullopt;
  return digest;
}

void DigestMemory::remember(const FileIdentity& identity, const Digest& digest) const {
  if (!is_young(identity)) folder_.write(identity.text(), entry_text(identity, digest));
}

}  // namespace precast::pjrt
