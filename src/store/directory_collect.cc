// DirectoryStore: its bounds, and the collections that hold it within them.
#include <ctime>
#include <utility>

#include "store/collect.h"
#include "store/directory_store.h"
#include "store/usage.h"

namespace precast::store {
namespace {

// What a collection that nobody asked for does.
CollectOrder room_order(std::uint64_t beyond_bytes, std::uint64_t target_bytes,
                        std::uint64_t hard_bytes) {
  CollectOrder order;
  order.automatic = true;
  order.rules.max_bytes = target_bytes;
  order.rules.only_beyond_bytes = beyond_bytes;
  order.rules.grace_s = kGraceSeconds;
  order.rules.hard_bytes = hard_bytes;
  return order;
}

std::int64_t now() { return static_cast<std::int64_t>(std::time(nullptr)); }

}  // namespace

void DirectoryStore::set_limits(const Limits& limits) {
  soft_bytes_ = limits.soft_bytes;
  hard_bytes_ = limits.hard_bytes;
}

Result<Limits> DirectoryStore::limits() const { return limits_for({soft_bytes_, hard_bytes_}); }

Result<Limits> DirectoryStore::limits_for(const Limits& wanted) const {
  const std::shared_ptr<const Folder> top = root();
  return effective_limits(ops_, *top, wanted);
}

// What the file says, else what there is.
Result<Usage> DirectoryStore::usage(const Folder& layout) {
  PRECAST_ASSIGN(const std::optional<Usage> known, read_usage(ops_, layout));
  if (known) return *known;
  PRECAST_ASSIGN(const Usage counted, count_entries(ops_, layout));
  PRECAST_TRY(write_usage(ops_, layout, counted));
  return counted;
}

Result<Collected> DirectoryStore::collect(const CollectOrder& order) {
  PRECAST_ASSIGN(const std::optional<Folder> layout, find_layout_folder());
  if (!layout) {
    Collected nothing;
    nothing.ran = true;
    return nothing;
  }
  return store::collect(ops_, *layout, order, now());
}

Result<bool> DirectoryStore::has_room(std::uint64_t bytes) {
  PRECAST_ASSIGN(const Limits limits, this->limits());
  if (bytes > limits.hard_bytes) return false;
  PRECAST_ASSIGN(const std::optional<Folder> layout, find_layout_folder());
  if (!layout) return true;
  // Where nothing was counted yet, the publish counts: nobody waits for that before it.
  PRECAST_ASSIGN(const std::optional<Usage> known, read_usage(ops_, *layout));
  const std::uint64_t allowed = limits.hard_bytes - bytes;
  if (!known || known->bytes <= allowed) return true;
  // The number may be wrong, and what is there may be removed. However short ago the last
  // collection was: what is refused here is compiled again by everybody.
  CollectOrder order =
      room_order(allowed, std::min(low_water(limits.soft_bytes), allowed), allowed);
  order.automatic = false;
  PRECAST_ASSIGN(const Collected collected, collect(order));
  // Another process is at it, and makes room.
  if (!collected.ran) return true;
  return collected.left_bytes <= allowed;
}

Result<Collected> DirectoryStore::after_publish(std::uint64_t bytes) {
  PRECAST_ASSIGN(const Limits limits, this->limits());
  PRECAST_ASSIGN(const std::optional<Folder> layout, find_layout_folder());
  if (!layout) return Collected();
  PRECAST_ASSIGN(std::optional<Usage> known, add_usage(ops_, *layout, {bytes, 1}));
  if (!known) {
    PRECAST_ASSIGN(known, usage(*layout));
  }
  if (known->bytes <= limits.soft_bytes) return Collected();
  return collect(room_order(limits.soft_bytes, low_water(limits.soft_bytes), limits.hard_bytes));
}

Result<void> DirectoryStore::pin(std::string_view name, const std::string& note) {
  PRECAST_ASSIGN(const Folder layout, layout_folder());
  return store::pin(ops_, layout, name, note);
}

Result<bool> DirectoryStore::unpin(std::string_view name) {
  PRECAST_ASSIGN(const std::optional<Folder> layout, find_layout_folder());
  if (!layout) return false;
  return store::unpin(ops_, *layout, name);
}

Result<std::vector<Pin>> DirectoryStore::pins() {
  PRECAST_ASSIGN(const std::optional<Folder> layout, find_layout_folder());
  if (!layout) return std::vector<Pin>();
  return list_pins(ops_, *layout);
}

Result<std::vector<Quarantined>> DirectoryStore::quarantined() {
  PRECAST_ASSIGN(const std::optional<Folder> layout, find_layout_folder());
  if (!layout) return std::vector<Quarantined>();
  return store::quarantined(ops_, *layout);
}

}  // namespace precast::store
