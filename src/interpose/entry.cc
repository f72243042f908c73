#include "interpose/entry.h"

#include <cstdlib>
#include <utility>

#include "interpose/log.h"
#include "interpose/refusal.h"
#include "interpose/wrapper.h"
#include "pjrt/adopt.h"
#include "pjrt/find.h"
#include "pjrt/plugin_impl.h"
#include "pjrt/wrapped.h"

namespace precast::interpose {
namespace {

Wrapper* summarized = nullptr;

const PJRT_Api* refuse(const Error& error) {
  const std::string text = "the wrapper of PJRT plugins cannot work: " + error.to_string();
  say(LogLevel::warn, text);
  return refusal("precast: " + text);
}

}  // namespace

const PJRT_Api* open_wrapped(const Settings& settings, const std::string& wrapper_path) {
  set_log_level(settings.log);
  for (const std::string& complaint : settings.complaints) say(LogLevel::warn, complaint);
  const auto found = pjrt::find_wrapped(settings.plugin, wrapper_path, pjrt::search_environment());
  if (!found) return refuse(found.error());
  auto plugin = pjrt::open_for_host(found->path);
  if (!plugin) return refuse(plugin.error());
  say(LogLevel::debug, "wraps '" + found->path + "' (" + found->origin + ")");
  if (settings.disabled) return plugin->impl()->api.table();
  auto* wrapper = new Wrapper(*std::move(plugin), settings);
  if (settings.summary) {
    summarized = wrapper;
    // A library that is never unloaded: this runs when the process ends.
    static_cast<void>(std::atexit([] { summarized->say_summary(); }));
  }
  return wrapper->table();
}

}  // namespace precast::interpose
