/* Uses every function of the C ABI on the plugin that is named: c_api_program PLUGIN */
#define _XOPEN_SOURCE 700

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int remove_one(const char* path, const struct stat* status, int kind, struct FTW* where) {
  (void)status;
  (void)kind;
  (void)where;
  return remove(path);
}

static void check_library(void) {
  CHECK_SAME(precast_library_version(), "0.1.0");
  CHECK_SAME(precast_code_name(PRECAST_CORRUPT), "corrupt");
}

static void open_all(const char* name, struct fixture* fixture) {
  precast_error* error = NULL;
  precast_plugin_facts plugin = {.struct_size = sizeof(plugin)};
  precast_client_facts client = {.struct_size = sizeof(client)};
  precast_device device = {.struct_size = sizeof(device)};
  precast_cache_config config = {.struct_size = sizeof(config)};
  const char* options[] = {"cpu_device_count=4"};
  const char* wrong[] = {"cpu_device_count"};

  CHECK_FAILS(precast_plugin_open("/none/at/all.so", &fixture->plugin, &error),
              PRECAST_INVALID_ARGUMENT, "/none/at/all.so");
  CHECK(fixture->plugin == NULL);
  CHECK_FAILS(precast_plugin_open(name, NULL, &error), PRECAST_INVALID_ARGUMENT, "'plugin'");
  CHECK_OK(precast_plugin_open(name, &fixture->plugin, &error));
  CHECK_OK(precast_plugin_get_facts(fixture->plugin, &plugin, &error));
  CHECK(plugin.path[0] == '/');
  CHECK(plugin.api_major == 0 && plugin.api_minor >= 71);

  CHECK_FAILS(precast_client_create(fixture->plugin, wrong, 1, &fixture->client, &error),
              PRECAST_INVALID_ARGUMENT, "cpu_device_count");
  CHECK_FAILS(precast_client_create(fixture->plugin, NULL, 1, &fixture->client, &error),
              PRECAST_INVALID_ARGUMENT, "'options'");
  CHECK_OK(precast_client_create(fixture->plugin, options, 1, &fixture->client, &error));
  CHECK_OK(precast_client_get_facts(fixture->client, &client, &error));
  CHECK_SAME(client.platform_name, "cpu");
  CHECK(client.device_count == 4 && client.process_index == 0 && client.cpu_count >= 1);
  for (size_t i = 0; i < client.device_count; ++i) {
    CHECK_OK(precast_client_get_device(fixture->client, i, &device, &error));
    CHECK(device.id == (int64_t)i && device.addressable == 1 && device.process_index == 0);
    CHECK_SAME(device.kind, "cpu");
  }
  CHECK_FAILS(precast_client_get_device(fixture->client, 4, &device, &error),
              PRECAST_INVALID_ARGUMENT, "no device 4");

  config.directory = fixture->folder;
  CHECK_OK(precast_cache_open(&config, &fixture->cache, &error));
  CHECK_SAME(precast_cache_problem(fixture->cache), "");
  CHECK_HAS(precast_cache_directory(fixture->cache), "precast-c-");
}

int main(int argc, char** argv) {
  struct fixture fixture = {0};
  const char* tmp = getenv("TMPDIR");
  if (argc != 2) {
    fprintf(stderr, "usage: c_api_program PLUGIN\n");
    return 2;
  }
  snprintf(fixture.folder, sizeof(fixture.folder), "%s/precast-c-XXXXXX",
           tmp == NULL ? "/tmp" : tmp);
  CHECK(mkdtemp(fixture.folder) != NULL);
  check_library();
  check_layout();
  open_all(argv[1], &fixture);
  check_requests(&fixture);
  check_loads(&fixture);
  check_policies(&fixture);
  check_caches(&fixture);
  check_runs(&fixture);
  precast_plugin_free(fixture.plugin);
  precast_client_free(fixture.client);
  precast_cache_free(fixture.cache);
  CHECK(nftw(fixture.folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
  printf("every check held\n");
  return 0;
}
