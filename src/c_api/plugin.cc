#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "c_api/boundary.h"
#include "c_api/handles.h"
#include "c_api/structs.h"
#include "precast/precast.h"
#include "precast/precast_c.h"

namespace {

namespace c_api = precast::c_api;
using precast::Result;

}  // namespace

extern "C" {

int32_t precast_plugin_open(const char* name_or_path, precast_plugin** plugin,
                            precast_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    PRECAST_TRY(c_api::check_output(plugin, "plugin"));
    PRECAST_ASSIGN(precast::Plugin opened, precast::Plugin::open(c_api::text_of(name_or_path)));
    *plugin = new precast_plugin{std::move(opened)};
    return {};
  });
}

int32_t precast_plugin_get_facts(const precast_plugin* plugin, precast_plugin_facts* facts,
                                 precast_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    PRECAST_TRY(c_api::check_given(plugin, "plugin"));
    precast_plugin_facts known{};
    known.path = plugin->plugin.path().c_str();
    known.api_major = plugin->plugin.api_version().major;
    known.api_minor = plugin->plugin.api_version().minor;
    return c_api::write_struct(known, facts);
  });
}

void precast_plugin_free(precast_plugin* plugin) { delete plugin; }

int32_t precast_client_create(const precast_plugin* plugin, const char* const* options,
                              size_t count, precast_client** client, precast_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    PRECAST_TRY(c_api::check_output(client, "client"));
    PRECAST_TRY(c_api::check_given(plugin, "plugin"));
    PRECAST_TRY(c_api::check_array(static_cast<const void*>(options), count, "options"));
    std::vector<precast::NamedValue> values;
    for (std::size_t i = 0; i < count; ++i) {
      PRECAST_TRY(c_api::check_given(options[i], "options[i]"));
      PRECAST_ASSIGN(precast::NamedValue value, precast::NamedValue::parse(options[i]));
      values.push_back(std::move(value));
    }
    PRECAST_ASSIGN(precast::Client created, plugin->plugin.create_client(values));
    *client = new precast_client{std::move(created)};
    return {};
  });
}

int32_t precast_client_get_facts(const precast_client* client, precast_client_facts* facts,
                                 precast_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    PRECAST_TRY(c_api::check_given(client, "client"));
    precast_client_facts known{};
    known.platform_name = client->client.platform_name().c_str();
    known.platform_version = client->client.platform_version().c_str();
    known.device_count = client->client.devices().size();
    known.process_index = client->client.process_index();
    known.cpu_count = client->client.cpu_count();
    return c_api::write_struct(known, facts);
  });
}

int32_t precast_client_get_device(const precast_client* client, size_t index,
                                  precast_device* device, precast_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    PRECAST_TRY(c_api::check_given(client, "client"));
    const std::vector<precast::Device>& devices = client->client.devices();
    PRECAST_TRY(c_api::check_index(index, devices.size(), "device"));
    const precast::Device& from = devices[index];
    precast_device known{};
    known.id = from.id;
    known.local_hardware_id = from.local_hardware_id;
    known.kind = from.kind.c_str();
    known.text = from.text.c_str();
    known.process_index = from.process_index;
    known.addressable = from.addressable ? 1 : 0;
    return c_api::write_struct(known, device);
  });
}

void precast_client_free(precast_client* client) { delete client; }

}  // extern "C"
