// CacheFolder::check: what is wrong with a folder.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <set>
#include <tuple>
#include <utility>

#include "cache/folder_impl.h"
#include "lease/leases.h"
#include "precast/artifact.h"
#include "precast/key.h"
#include "store/collect.h"
#include "store/layout.h"

namespace precast {
namespace {

using Kind = CheckFinding::Kind;

bool is_fault(Kind kind) { return kind < Kind::future_entry; }

// The key that stands for a file in a fan-out folder, if it is called like an entry.
std::string key_of_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t above = slash == std::string::npos ? slash : path.rfind('/', slash - 1);
  if (above == std::string::npos) return {};
  return store::entry_name(path.substr(above + 1, slash - above - 1), path.substr(slash + 1))
      .value_or("");
}

class Check {
 public:
  Check(const CacheFolder& folder, store::DirectoryStore& store, const CheckOptions& options)
      : folder_(folder), store_(store), options_(options) {}

  Result<CheckReport> run() {
    PRECAST_ASSIGN(const store::StoreContents contents, store_.contents());
    for (const store::StoredEntry& entry : contents.entries) look_at(entry);
    for (const auto& [name, path, error] : contents.refused) {
      add(kind_of(error), name, path, error.message());
    }
    for (const store::StoredEntry& file : contents.unfinished) look_at_unfinished(file);
    for (const std::string& path : contents.foreign_paths) look_at_foreign(path);
    if (contents.foreign > contents.foreign_paths.size()) {
      add(Kind::foreign, "", store_.path(),
          fmt::format("{} more things", contents.foreign - contents.foreign_paths.size()));
    }
    look_at_pins();
    look_at_leases();
    look_at_quarantine();
    std::stable_sort(report_.findings.begin(), report_.findings.end(),
                     [](const CheckFinding& a, const CheckFinding& b) {
                       return std::tie(a.kind, a.path) < std::tie(b.kind, b.path);
                     });
    return std::move(report_);
  }

 private:
  static Kind kind_of(const Error& error) {
    switch (error.code()) {
      case ErrorCode::corrupt: return Kind::corrupt_entry;
      case ErrorCode::incompatible:
      case ErrorCode::unsupported: return Kind::future_entry;
      case ErrorCode::permission_denied: return Kind::untrusted_entry;
      default: return Kind::unreadable_entry;
    }
  }

  CheckFinding& add(Kind kind, std::string key, std::string path, std::string detail) {
    report_.findings.push_back({.kind = kind,
                                .key = std::move(key),
                                .path = std::move(path),
                                .detail = std::move(detail),
                                .fault = is_fault(kind),
                                .mended = false});
    return report_.findings.back();
  }

  // What mending did; a failure is part of what there is to say.
  void mended(CheckFinding& finding, const Result<bool>& done) {
    if (done) {
      finding.mended = *done;
    } else {
      finding.detail += "; " + done.error().to_string();
    }
  }

  void look_at(const store::StoredEntry& entry) {
    Result<bool> sound = options_.verify ? read_all(entry.name) : read_front(entry.name);
    if (sound) {
      if (!*sound) return;  // removed meanwhile
      there_.insert(entry.name);
      ++report_.entries;
      report_.bytes += entry.bytes;
      return;
    }
    there_.insert(entry.name);
    const Error error = std::move(sound).error();
    CheckFinding& finding = add(kind_of(error), entry.name, entry.path, error.message());
    if (finding.kind == Kind::corrupt_entry) set_aside(finding);
  }

  void set_aside(CheckFinding& finding) {
    if (!options_.mend) return;
    // As it is now: what a writer put there since is another file and stays.
    if (!identity_) return;
    mended(finding, store_.quarantine(finding.key, *identity_, "precast fsck: " + finding.detail));
  }

  // False when it is gone.
  Result<bool> read_front(const std::string& name) {
    identity_.reset();
    PRECAST_ASSIGN(const std::optional<store::EntryFile> file, store_.open_entry(name));
    if (!file) return false;
    identity_ = file->identity();
    PRECAST_ASSIGN(const std::optional<EntryFacts> facts, folder_.facts(name));
    return facts.has_value();
  }

  Result<bool> read_all(const std::string& name) {
    identity_.reset();
    PRECAST_ASSIGN(std::optional<store::Fetched> found, store_.get(name));
    if (!found) return false;
    identity_ = found->identity;
    PRECAST_ASSIGN(Bytes bytes, std::move(found->bytes));
    PRECAST_ASSIGN(const VerifiedArtifact artifact,
                   VerifiedArtifact::decode(std::move(bytes), SignaturePolicy()));
    PRECAST_ASSIGN(const KeyRecord record, KeyRecord::decode(artifact.key_record()));
    if (record.digest().hex() == name) return true;
    return Error(ErrorCode::corrupt,
                 "its name stands for another key than its record, " + record.digest().hex());
  }

  void look_at_unfinished(const store::StoredEntry& file) {
    const std::int64_t before =
        static_cast<std::int64_t>(std::time(nullptr)) - store::kAbandonedSeconds;
    const std::string bytes = fmt::format("{} bytes", file.bytes);
    if (file.modified_unix_s >= before) {
      add(Kind::unfinished, "", file.path, bytes);
      return;
    }
    CheckFinding& finding = add(Kind::abandoned_file, "", file.path, bytes);
    if (options_.mend) mended(finding, store_.remove_unfinished(file, before));
  }

  // A folder, link, pipe or socket that is called like an entry is a bad entry.
  void look_at_foreign(const std::string& path) {
    const std::string key = key_of_path(path);
    const auto found = key.empty() ? std::optional<store::Fetched>() : fetched(key);
    if (!found || found->bytes) {
      add(Kind::foreign, "", path, "not Precast's; left alone");
      return;
    }
    there_.insert(key);
    identity_ = found->identity;
    set_aside(add(Kind::corrupt_entry, key, path, found->bytes.error().message()));
  }

  std::optional<store::Fetched> fetched(const std::string& key) {
    auto found = store_.get(key);
    return found ? *std::move(found) : std::nullopt;
  }

  void look_at_pins() {
    const auto pins = store_.pins();
    if (!pins) {
      add(kind_of(pins.error()), "", store_.path(), pins.error().message());
      return;
    }
    for (const store::Pin& pin : *pins) {
      if (there_.contains(pin.name)) continue;
      // What is refused is there as well, and what was published since the folder was read.
      const auto now = store_.open_entry(pin.name);
      if (!now || *now) continue;
      CheckFinding& finding = add(Kind::orphan_pin, pin.name,
                                  fmt::format("{}/v1/{}/{}", store_.path(), store::kPins, pin.name),
                                  pin.note.empty() ? "its entry is not there"
                                                   : "its entry is not there; note: " + pin.note);
      if (options_.mend) mended(finding, store_.unpin(pin.name));
    }
  }

  void look_at_leases() {
    lease::Leases leases(store_);
    const auto found = leases.list();
    if (!found) {
      add(kind_of(found.error()), "", store_.path(), found.error().message());
      return;
    }
    const auto swept = leases.sweep(!options_.mend);
    for (const lease::LeaseInfo& info : *found) {
      const bool stale = swept && std::any_of(swept->begin(), swept->end(), [&](const auto& one) {
                           return one.name == info.name;
                         });
      const bool foreign = info.state == lease::LeaseInfo::State::foreign;
      std::string detail =
          fmt::format("{}, last touched {:.0f} s ago", to_string(info.state), info.age_s);
      if (info.owner)
        detail += fmt::format(", process {} of {}", info.owner->pid, info.owner->host);
      CheckFinding& finding =
          add(stale     ? Kind::stale_lease
              : foreign ? Kind::foreign
                        : Kind::held_lease,
              foreign ? "" : info.name, info.path, foreign ? "not Precast's; left alone" : detail);
      finding.mended = stale && options_.mend;
    }
    if (!swept) add(kind_of(swept.error()), "", store_.path(), swept.error().message());
  }

  void look_at_quarantine() {
    const auto found = store_.quarantined();
    if (!found) {
      add(kind_of(found.error()), "", store_.path(), found.error().message());
      return;
    }
    for (const store::Quarantined& one : *found) {
      add(Kind::quarantined, one.name, one.path,
          one.reason.empty() ? "no reason was noted" : one.reason);
    }
  }

  const CacheFolder& folder_;
  store::DirectoryStore& store_;
  const CheckOptions& options_;
  CheckReport report_;
  std::set<std::string> there_;                  // entries, sound or not
  std::optional<store::FileIdentity> identity_;  // of the one that was looked at last
};

}  // namespace

bool CheckReport::sound() const {
  return std::none_of(findings.begin(), findings.end(),
                      [](const CheckFinding& finding) { return finding.fault && !finding.mended; });
}

std::string_view to_string(CheckFinding::Kind kind) {
  switch (kind) {
    case Kind::corrupt_entry: return "corrupt_entry";
    case Kind::untrusted_entry: return "untrusted_entry";
    case Kind::unreadable_entry: return "unreadable_entry";
    case Kind::abandoned_file: return "abandoned_file";
    case Kind::stale_lease: return "stale_lease";
    case Kind::orphan_pin: return "orphan_pin";
    case Kind::future_entry: return "future_entry";
    case Kind::unfinished: return "unfinished";
    case Kind::held_lease: return "held_lease";
    case Kind::quarantined: return "quarantined";
    case Kind::foreign: return "foreign";
  }
  return "unknown";
}

Result<CheckReport> CacheFolder::check(const CheckOptions& options) const {
  return Check(*this, *impl_->store, options).run();
}

}  // namespace precast
