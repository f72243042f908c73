// What a CacheFolder handle shares.
#pragma once

#include <memory>

#include "precast/cache_folder.h"
#include "store/directory_store.h"

namespace precast {

struct [[gnu::visibility("hidden")]] CacheFolder::Impl {
  std::unique_ptr<store::DirectoryStore> store;
};

}  // namespace precast
