#include "cache/marks.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/guard.h"
#include "base/host.h"
#include "base/sealed.h"
#include "base/wire.h"

namespace precast::cache {
namespace {

namespace fs = std::filesystem;

using base::WireType;

// Persisted: append only.
constexpr std::string_view kMagic = "PRECMARK";
constexpr std::uint32_t kVersion = 1;
enum : std::uint32_t { kHost = 1, kRoot = 2, kKind = 3, kWhy = 4, kTime = 5, kCount = 6 };

constexpr std::uint64_t kMaxMarkBytes = 16 << 10;
constexpr std::int64_t kDay = std::int64_t{24} * 3600;

Bytes encode(const Mark& mark) {
  Bytes message;
  base::append_bytes(message, kHost, base::host_name());
  base::append_bytes(message, kRoot, mark.root.view());
  base::append_varint(message, kKind, static_cast<std::uint64_t>(mark.kind));
  base::append_bytes(message, kWhy, BytesView(mark.why).substr(0, kMaxMarkWhyBytes));
  base::append_varint(message, kTime, static_cast<std::uint64_t>(mark.unix_s));
  base::append_varint(message, kCount, mark.count);
  return base::seal(kMagic, kVersion, message);
}

bool is_kind(std::uint64_t value) {
  return value >= static_cast<std::uint64_t>(MarkKind::load_refused) &&
         value <= static_cast<std::uint64_t>(MarkKind::not_serializable);
}

std::optional<Mark> decode(BytesView bytes) {
  const auto message = base::unseal(kMagic, kVersion, bytes);
  if (!message) return std::nullopt;
  Mark mark;
  std::string host;
  bool has_root = false;
  bool has_kind = false;
  base::FieldReader reader(*message);
  while (reader.next()) {
    const base::WireField& field = reader.field();
    if (field.is(kHost, WireType::bytes)) host = field.bytes;
    if (field.is(kRoot, WireType::bytes) && field.bytes.size() == mark.root.bytes.size()) {
      std::memcpy(mark.root.bytes.data(), field.bytes.data(), field.bytes.size());
      has_root = true;
    }
    if (field.is(kKind, WireType::varint) && is_kind(field.value)) {
      mark.kind = static_cast<MarkKind>(field.value);
      has_kind = true;
    }
    if (field.is(kWhy, WireType::bytes)) mark.why = field.bytes;
    if (field.is(kTime, WireType::varint)) mark.unix_s = static_cast<std::int64_t>(field.value);
    if (field.is(kCount, WireType::varint)) mark.count = field.value;
  }
  if (reader.damaged() || !has_root || !has_kind || host != base::host_name()) return std::nullopt;
  return mark;
}

// A day's tolerance for a clock that was set back.
bool is_current(const Mark& mark) {
  const std::int64_t now = base::unix_seconds();
  return mark.unix_s > now - kMarkDays * kDay && mark.unix_s <= now + kDay;
}

std::vector<fs::path> paths_in(const std::string& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) paths.push_back(at->path());
  return paths;
}

void remove_oldest(const std::string& folder) {
  const std::vector<fs::path> paths = paths_in(folder);
  if (paths.size() <= kMaxMarks) return;
  std::vector<std::pair<fs::file_time_type, fs::path>> marks;
  for (const fs::path& path : paths) {
    std::error_code gone;
    const fs::file_time_type time = fs::last_write_time(path, gone);
    if (!gone) marks.emplace_back(time, path);
  }
  std::ranges::sort(marks);
  for (std::size_t i = 0; i + kMaxMarks < marks.size(); ++i) {
    std::error_code ignored;  // another process may have been faster
    fs::remove(marks[i].second, ignored);
  }
}

}  // namespace

Marks::Marks(const std::string& state)
    : path_(state.empty() ? std::string() : state + "/marks"), folder_(path_) {}

std::optional<Mark> Marks::read(const std::string& key) const {
  const std::optional<Bytes> bytes = folder_.read(key, kMaxMarkBytes);
  if (!bytes) return std::nullopt;
  std::optional<Mark> mark = decode(*bytes);
  if (mark && !is_current(*mark)) return std::nullopt;
  return mark;
}

std::optional<Mark> Marks::find(const std::string& key, const Digest& root) const {
  std::optional<Mark> mark = read(key);
  if (!mark || mark->root != root) return std::nullopt;
  if (mark->kind == MarkKind::load_refused &&
      base::unix_seconds() - mark->unix_s > kRefusalHours * 3600) {
    return std::nullopt;
  }
  return mark;
}

void Marks::put(const std::string& key, const Digest& root, MarkKind kind,
                const std::string& why) const {
  Mark mark{.root = root, .kind = kind, .why = why, .unix_s = base::unix_seconds(), .count = 1};
  const std::optional<Mark> before = find(key, root);
  if (before && before->kind == kind) mark.count += before->count;
  folder_.write(key, encode(mark));
  if (!path_.empty()) base::do_if_it_answers(path_, [path = path_] { remove_oldest(path); });
}

void Marks::forget(const std::string& key) const {
  if (path_.empty()) return;
  base::do_if_it_answers(path_, [path = fs::path(path_) / key] {
    std::error_code ignored;
    fs::remove(path, ignored);
  });
}

}  // namespace precast::cache
