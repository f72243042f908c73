#include "base/sealed.h"

#include <string>

#include "base/hash.h"
#include "base/little_endian.h"

namespace precast::base {
namespace {

constexpr std::size_t kMagicBytes = 8;
constexpr std::size_t kDigestAt = kMagicBytes + sizeof(std::uint32_t);
constexpr std::size_t kHeaderBytes = kDigestAt + sizeof(Digest::bytes);

}  // namespace

Bytes seal(std::string_view magic, std::uint32_t version, BytesView content) {
  Bytes bytes(magic);
  append_little_endian(bytes, version);
  bytes += sha256(content).view();
  bytes += content;
  return bytes;
}

Result<BytesView> unseal(std::string_view magic, std::uint32_t version, BytesView bytes) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(magic)) {
    return Error(ErrorCode::corrupt, "the file does not begin as such a file does");
  }
  const auto found = read_little_endian<std::uint32_t>(bytes, kMagicBytes);
  if (found > version) {
    return Error(ErrorCode::incompatible, "the file is of version " + std::to_string(found) +
                                              ", made by a later Precast; this one reads up to " +
                                              std::to_string(version));
  }
  const BytesView content = bytes.substr(kHeaderBytes);
  if (found == 0 || sha256(content).view() != bytes.substr(kDigestAt, sizeof(Digest::bytes))) {
    return Error(ErrorCode::corrupt, "the file's digest does not match its content");
  }
  return content;
}

}  // namespace precast::base
