#include "interpose/origins.h"

#include <utility>

namespace precast::interpose {

Origins::Origins() = default;
Origins::~Origins() = default;

void Origins::add(const void* handle, Origin origin) {
  const std::lock_guard lock(mutex_);
  origins_.insert_or_assign(handle, std::move(origin));
}

void Origins::remove(const void* handle) {
  Origin last;  // freed after the lock is gone
  const std::lock_guard lock(mutex_);
  const auto found = origins_.find(handle);
  if (found == origins_.end()) return;
  last = std::move(found->second);
  origins_.erase(found);
}

Origin Origins::find(const void* handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = origins_.find(handle);
  return found == origins_.end() ? nullptr : found->second;
}

std::size_t Origins::size() const {
  const std::lock_guard lock(mutex_);
  return origins_.size();
}

}  // namespace precast::interpose
