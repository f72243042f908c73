// A plugin that somebody else opened, by its function table (precast/foreign.h).
#include <dlfcn.h>

#include <string>
#include <utility>

#include "pjrt/call.h"
#include "pjrt/find.h"
#include "pjrt/functions.h"
#include "pjrt/named_values.h"
#include "pjrt/plugin_impl.h"
#include "precast/foreign.h"

namespace precast {
namespace {

// The path of the library that holds a function, as it was opened; empty where none does.
template <typename Args>
std::string library_of(const pjrt::Api& api, const pjrt::Function<Args>& function) {
  Dl_info info{};
  if (!api.has(function)) return {};
  const auto* code = reinterpret_cast<const void*>(api.table()->*function.member);
  if (::dladdr(code, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

}  // namespace

Result<OpenedPlugin> plugin_at(const void* table) {
  const auto* abi = static_cast<const PJRT_Api*>(table);
  PRECAST_TRY(pjrt::check_table(abi));
  const pjrt::Api api(abi);
  OpenedPlugin plugin{.path = library_of(api, pjrt::kClientCompile),
                      .api_version = api.version(),
                      .attributes = {}};
  plugin.is_wrapper = pjrt::is_wrapper(plugin.path);
  if (plugin.is_wrapper) return plugin;
  const std::string loads = library_of(api, pjrt::kExecutableDeserializeAndLoad);
  const std::string serializes = library_of(api, pjrt::kExecutableSerialize);
  if (plugin.path.empty() || loads != plugin.path || serializes != plugin.path) {
    return Error(ErrorCode::unavailable, "the plugin's functions are not of one library: '" +
                                             plugin.path + "' compiles, '" + serializes +
                                             "' serializes, '" + loads + "' loads");
  }
  if (!api.has(pjrt::kPluginAttributes)) return plugin;
  pjrt::Block<PJRT_Plugin_Attributes_Args> args;
  PRECAST_TRY(api.call(pjrt::kPluginAttributes, args));
  plugin.attributes = pjrt::from_abi(args->attributes, args->num_attributes);
  return plugin;
}

}  // namespace precast
