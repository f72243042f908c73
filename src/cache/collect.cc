// CacheFolder: pins, and collections that somebody asks for.
#include "store/collect.h"

#include <utility>

#include "cache/folder_impl.h"
#include "lease/leases.h"

namespace precast {
namespace {

store::CollectOrder order_of(const CollectOptions& options, const store::Limits& limits) {
  store::CollectOrder order;
  order.dry_run = options.dry_run;
  order.list = options.list;
  order.rules.max_bytes = options.max_bytes;
  order.rules.older_than_s = options.older_than_s;
  order.rules.unused_for_s = options.unused_for_s;
  if (!options.max_bytes && !options.older_than_s && !options.unused_for_s) {
    order.rules.only_beyond_bytes = limits.soft_bytes;
    order.rules.max_bytes = store::low_water(limits.soft_bytes);
    order.rules.hard_bytes = limits.hard_bytes;
    order.rules.grace_s = store::kGraceSeconds;
  }
  return order;
}

CollectReport report_of(store::Collected done, const store::Limits& limits) {
  CollectReport report{.removed_entries = done.removed_entries,
                       .removed_bytes = done.removed_bytes,
                       .left_entries = done.left_entries,
                       .left_bytes = done.left_bytes,
                       .pinned_entries = done.pinned_entries,
                       .unfinished = done.unfinished,
                       .unfinished_bytes = done.unfinished_bytes,
                       .quarantined = done.quarantined,
                       .quarantined_bytes = done.quarantined_bytes,
                       .leases = 0,
                       .soft_limit_bytes = limits.soft_bytes,
                       .hard_limit_bytes = limits.hard_bytes,
                       .failed = done.failed,
                       .first_error = std::move(done.first_error),
                       .removed = {}};
  report.removed.reserve(done.removed.size());
  for (const auto& [entry, why] : done.removed) {
    report.removed.push_back(
        {{entry.name(), "", entry.bytes, entry.published_unix_s, entry.used_unix_s},
         std::string(to_string(why))});
  }
  return report;
}

}  // namespace

Result<CollectReport> CacheFolder::collect(const CollectOptions& options) const {
  store::DirectoryStore& store = *impl_->store;
  PRECAST_ASSIGN(const store::Limits limits,
                 store.limits_for({options.soft_limit_bytes, options.hard_limit_bytes}));
  PRECAST_ASSIGN(store::Collected done, store.collect(order_of(options, limits)));
  if (!done.ran) {
    return Error(ErrorCode::unavailable, "another process collects in '" + path_ + "'");
  }
  CollectReport report = report_of(std::move(done), limits);
  const auto swept = lease::Leases(store).sweep(options.dry_run);
  if (swept) {
    report.leases = swept->size();
  } else {
    ++report.failed;
    if (!report.first_error) report.first_error = swept.error();
  }
  return report;
}

Result<void> CacheFolder::pin(const std::string& key, const std::string& note) const {
  return impl_->store->pin(key, note);
}

Result<bool> CacheFolder::unpin(const std::string& key) const { return impl_->store->unpin(key); }

Result<std::vector<CachePin>> CacheFolder::pins() const {
  PRECAST_ASSIGN(std::vector<store::Pin> found, impl_->store->pins());
  std::vector<CachePin> pins;
  pins.reserve(found.size());
  for (store::Pin& pin : found) {
    pins.push_back({std::move(pin.name), std::move(pin.note), pin.unix_s});
  }
  return pins;
}

}  // namespace precast
