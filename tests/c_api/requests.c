/* Compile-or-load, keys, reports, caches and artifacts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const char kBroken[] =
    "// fake: fail=INVALID_ARGUMENT:error: the module is broken\n"
    "module @broken { func.func public @main( }\n";

static void check_report(const precast_report* report, int32_t outcome, const char* name) {
  precast_error* error = NULL;
  precast_report_facts facts = {.struct_size = sizeof(facts)};
  precast_phase phase = {.struct_size = sizeof(phase)};
  CHECK_OK(precast_report_get_facts(report, &facts, &error));
  CHECK(facts.outcome == outcome);
  CHECK_SAME(facts.outcome_name, name);
  CHECK(strlen(facts.key) == 64);
  CHECK(facts.program_bytes == strlen(kAddOne));
  CHECK(facts.warning_count == 0);
  CHECK_SAME(precast_report_warning(report, 0), "");
  CHECK_HAS(precast_report_json(report), "\"schema\":\"precast.report/1\"");
  CHECK_HAS(precast_report_json(report), facts.key);
  CHECK_HAS(precast_report_json(report), name);
  if (outcome == PRECAST_NO_OUTCOME) return;
  CHECK(facts.artifact_bytes > 0);
  CHECK_HAS(facts.artifact_path, ".precast");
  CHECK(facts.phase_count > 0);
  CHECK_OK(precast_report_get_phase(report, 0, &phase, &error));
  CHECK_SAME(phase.name, "key");
  CHECK(phase.ms >= 0);
  CHECK_FAILS(precast_report_get_phase(report, facts.phase_count, &phase, &error),
              PRECAST_INVALID_ARGUMENT, "no phase");
}

static void check_wrong_requests(const struct fixture* fixture) {
  precast_error* error = NULL;
  precast_executable* executable = NULL;
  precast_request request = request_of(kBroken);
  const int64_t devices[] = {0, 1, 2};
  const char* options[] = {"xla_cpu_enable_fast_math", "perhaps"};

  CHECK_FAILS(
      precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, NULL, &error),
      PRECAST_PLUGIN_ERROR, "in PJRT_Client_Compile");
  CHECK(executable == NULL);
  CHECK(precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, NULL,
                                NULL) == PRECAST_PLUGIN_ERROR);
  request = request_of("");
  CHECK_FAILS(
      precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, NULL, &error),
      PRECAST_INVALID_ARGUMENT, "'program'");
  request = request_of(kAddOne);
  request.struct_size = 8;
  CHECK_FAILS(
      precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, NULL, &error),
      PRECAST_INVALID_ARGUMENT, "precast_request.struct_size is 8");
  request = request_of(kAddOne);
  request.device_ids = devices;
  request.device_id_count = 3;
  CHECK_FAILS(
      precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, NULL, &error),
      PRECAST_INVALID_ARGUMENT, "has 3 devices");
  request = request_of(kAddOne);
  request.xla_options = options;
  request.xla_option_count = 1;
  CHECK_FAILS(
      precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, NULL, &error),
      PRECAST_INVALID_ARGUMENT, "perhaps");
  request = request_of(kAddOne);
  request.replicas = -1;
  CHECK_FAILS(
      precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, NULL, &error),
      PRECAST_INVALID_ARGUMENT, "replicas is -1");
  request = request_of(kAddOne);
  request.compile_options = "\xff";
  request.compile_options_size = 1;
  CHECK_FAILS(
      precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, NULL, &error),
      PRECAST_INVALID_ARGUMENT, "");
  CHECK_FAILS(precast_compile_or_load(fixture->cache, NULL, &request, &executable, NULL, &error),
              PRECAST_INVALID_ARGUMENT, "'client'");
  CHECK_FAILS(
      precast_compile_or_load(fixture->cache, fixture->client, NULL, &executable, NULL, &error),
      PRECAST_INVALID_ARGUMENT, "precast_request is null");
}

static void check_lookup(const struct fixture* fixture, const precast_request* request,
                         int32_t outcome, const char* reason) {
  precast_error* error = NULL;
  precast_report* report = NULL;
  precast_report_facts facts = {.struct_size = sizeof(facts)};
  CHECK_OK(precast_would_hit(fixture->cache, fixture->client, request, &report, &error));
  CHECK_OK(precast_report_get_facts(report, &facts, &error));
  CHECK(facts.outcome == outcome);
  CHECK_SAME(facts.reason_name, reason);
  CHECK(strlen(facts.key) == 64);
  CHECK((facts.artifact_bytes > 0) == (outcome == PRECAST_HIT));
  if (outcome == PRECAST_HIT) CHECK_HAS(facts.artifact_path, facts.key + 2);
  precast_report_free(report);
}

/* Each of these makes another key than `asked`. */
static void check_what_counts(const struct fixture* fixture, const char* asked) {
  const char* extras[] = {"team", "ranking", "team", "ads"};
  precast_error* error = NULL;
  precast_report* report = NULL;
  precast_request requests[4];
  for (int i = 0; i < 4; ++i) requests[i] = request_of(kAddOne);
  requests[0].salt = "another";
  requests[1].annotations = "kernel a";
  requests[1].annotations_size = strlen("kernel a");
  requests[2].profile = "\x0a\x00";
  requests[2].profile_size = 2;
  requests[3].extras = extras;
  requests[3].extra_count = 1;
  for (int i = 0; i < 4; ++i) {
    precast_report_facts key = {.struct_size = sizeof(key)};
    CHECK_OK(precast_cache_key(fixture->cache, fixture->client, &requests[i], &report, &error));
    CHECK_OK(precast_report_get_facts(report, &key, &error));
    CHECK(strlen(key.key) == 64 && strcmp(key.key, asked) != 0);
    precast_report_free(report);
  }
  requests[3].extra_count = 2;
  CHECK_FAILS(precast_cache_key(fixture->cache, fixture->client, &requests[3], &report, &error),
              PRECAST_INVALID_ARGUMENT, "'team' twice");
  requests[0].cpu_baseline = "x86-64-v9";
  CHECK_FAILS(precast_cache_key(fixture->cache, fixture->client, &requests[0], &report, &error),
              PRECAST_INVALID_ARGUMENT, "x86-64-v9");
}

void check_requests(const struct fixture* fixture) {
  precast_error* error = NULL;
  precast_executable* executable = NULL;
  precast_report* report = NULL;
  precast_request request = request_of(kAddOne);
  precast_report_facts key = {.struct_size = sizeof(key)};
  precast_executable_facts facts = {.struct_size = sizeof(facts)};
  char asked[65];

  request.program_name = "add_one.mlir";
  CHECK_OK(precast_cache_key(fixture->cache, fixture->client, &request, &report, &error));
  check_report(report, PRECAST_NO_OUTCOME, "none");
  CHECK_OK(precast_report_get_facts(report, &key, &error));
  snprintf(asked, sizeof(asked), "%s", key.key);
  precast_report_free(report);

  check_lookup(fixture, &request, PRECAST_MISS, "not_found");

  CHECK_OK(precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, &report,
                                   &error));
  check_report(report, PRECAST_MISS, "miss");
  precast_report_free(report);
  precast_executable_free(executable);

  CHECK_OK(precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, &report,
                                   &error));
  check_report(report, PRECAST_HIT, "hit");
  precast_report_free(report);
  CHECK_OK(precast_executable_get_facts(executable, &facts, &error));
  CHECK_SAME(facts.key, asked);
  CHECK_HAS(facts.name, "add_one");
  precast_executable_free(executable);

  check_lookup(fixture, &request, PRECAST_HIT, "none");

  check_what_counts(fixture, asked);
  check_wrong_requests(fixture);
}

/* The bytes of the artifact of kAddOne, which check_requests has stored; the caller frees them. */
static char* artifact_of(const struct fixture* fixture, char* path, size_t path_size,
                         size_t* size) {
  precast_error* error = NULL;
  precast_executable* executable = NULL;
  precast_report* report = NULL;
  precast_request request = request_of(kAddOne);
  precast_report_facts facts = {.struct_size = sizeof(facts)};
  CHECK_OK(precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, &report,
                                   &error));
  CHECK_OK(precast_report_get_facts(report, &facts, &error));
  snprintf(path, path_size, "%s", facts.artifact_path);
  *size = (size_t)facts.artifact_bytes;
  char* bytes = malloc(*size);
  FILE* file = fopen(path, "rb");
  CHECK(bytes != NULL && file != NULL);
  CHECK(fread(bytes, 1, *size, file) == *size);
  fclose(file);
  precast_report_free(report);
  precast_executable_free(executable);
  return bytes;
}

void check_loads(const struct fixture* fixture) {
  precast_error* error = NULL;
  precast_executable* executable = NULL;
  precast_load_request request = {.struct_size = sizeof(request)};
  precast_executable_facts facts = {.struct_size = sizeof(facts)};
  const int64_t device = 2;
  const uint8_t key[32] = {1};
  char path[4096];
  size_t size = 0;
  char* bytes = artifact_of(fixture, path, sizeof(path), &size);

  request.path = path;
  request.device_ids = &device;
  request.device_id_count = 1;
  CHECK_OK(precast_load(fixture->client, &request, &executable, &error));
  CHECK_OK(precast_executable_get_facts(executable, &facts, &error));
  CHECK(facts.device_count == 1 && facts.device_ids[0] == 2);
  CHECK(strlen(facts.key) == 64 && strstr(path, facts.key + 2) != NULL);
  precast_executable_free(executable);

  request.path = NULL;
  request.data = bytes;
  request.data_size = size;
  CHECK_OK(precast_load(fixture->client, &request, &executable, &error));
  precast_executable_free(executable);

  request.trusted_keys = key;
  request.trusted_key_count = 1;
  request.require_signature = 1;
  CHECK_FAILS(precast_load(fixture->client, &request, &executable, &error), PRECAST_UNTRUSTED,
              "untrusted");
  request.require_signature = 0;
  bytes[size - 1] = (char)(bytes[size - 1] ^ 1);
  CHECK_FAILS(precast_load(fixture->client, &request, &executable, &error), PRECAST_CORRUPT,
              "corrupt");
  request.data = NULL;
  CHECK_FAILS(precast_load(fixture->client, &request, &executable, &error),
              PRECAST_INVALID_ARGUMENT, "'data'");
  request.path = "/none.precast";
  CHECK_FAILS(precast_load(fixture->client, &request, &executable, &error),
              PRECAST_INVALID_ARGUMENT, "/none.precast");
  free(bytes);
}

/* What a cache may do, for all requests and for one. */
void check_policies(const struct fixture* fixture) {
  precast_error* error = NULL;
  precast_executable* executable = NULL;
  precast_report* report = NULL;
  precast_request request = request_of(kAddOne);
  precast_report_facts facts = {.struct_size = sizeof(facts)};
  char root[65] = "";

  request.salt = "policies";
  request.policy = PRECAST_OFFLINE;
  CHECK_FAILS(
      precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, NULL, &error),
      PRECAST_UNAVAILABLE, "offline");
  request.policy = PRECAST_READ_ONLY;
  CHECK_OK(precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, &report,
                                   &error));
  CHECK_OK(precast_report_get_facts(report, &facts, &error));
  CHECK(facts.outcome == PRECAST_SKIP && facts.artifact_bytes == 0);
  CHECK_SAME(facts.reason_name, "read_only");
  CHECK_SAME(facts.root, "");
  precast_report_free(report);
  precast_executable_free(executable);

  request.policy = 0;
  CHECK_OK(precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, &report,
                                   &error));
  CHECK_OK(precast_report_get_facts(report, &facts, &error));
  CHECK(facts.outcome == PRECAST_MISS && strlen(facts.root) == 64);
  snprintf(root, sizeof(root), "%s", facts.root);
  CHECK_HAS(precast_report_json(report), root);
  precast_report_free(report);
  precast_executable_free(executable);

  request.pin = root;
  CHECK_OK(precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, &report,
                                   &error));
  check_report(report, PRECAST_HIT, "hit");
  precast_report_free(report);
  precast_executable_free(executable);
  root[0] = root[0] == '0' ? '1' : '0';
  CHECK_FAILS(
      precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, NULL, &error),
      PRECAST_UNAVAILABLE, root);
  request.pin = "none";
  CHECK_FAILS(
      precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, NULL, &error),
      PRECAST_INVALID_ARGUMENT, "precast_request.pin is 'none'");
  request.pin = NULL;
  request.policy = 9;
  CHECK_FAILS(
      precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, NULL, &error),
      PRECAST_INVALID_ARGUMENT, "precast_request.policy is 9");
  /* Nothing is held, so nothing happens. */
  precast_release_leases_on_signal();
}

static void count_line(void* user, int32_t level, const char* message) {
  CHECK(level == PRECAST_LOG_WARN);
  CHECK(message[0] != '\0');
  ++*(int*)user;
}

/* A cache that is off or cannot be used compiles. */
void check_caches(const struct fixture* fixture) {
  precast_error* error = NULL;
  precast_cache* cache = NULL;
  precast_executable* executable = NULL;
  precast_report* report = NULL;
  precast_request request = request_of(kAddOne);
  precast_cache_config config = {.struct_size = sizeof(config)};
  precast_report_facts facts = {.struct_size = sizeof(facts)};
  int lines = 0;

  config.disabled = 1;
  CHECK_OK(precast_cache_open(&config, &cache, &error));
  CHECK_SAME(precast_cache_directory(cache), "");
  CHECK_OK(precast_compile_or_load(cache, fixture->client, &request, &executable, &report, &error));
  CHECK_OK(precast_report_get_facts(report, &facts, &error));
  CHECK(facts.outcome == PRECAST_BYPASS && facts.artifact_bytes == 0);
  CHECK_SAME(facts.reason_name, "disabled");
  CHECK_SAME(facts.artifact_path, "");
  precast_report_free(report);
  precast_executable_free(executable);
  precast_cache_free(cache);

  config.disabled = 0;
  config.directory = "/dev/null/none";
  config.log = count_line;
  config.log_user = &lines;
  CHECK_OK(precast_cache_open(&config, &cache, &error));
  CHECK(lines == 1);
  CHECK_HAS(precast_cache_problem(cache), "/dev/null");
  CHECK_OK(precast_compile_or_load(cache, fixture->client, &request, &executable, NULL, &error));
  precast_executable_free(executable);
  precast_cache_free(cache);

  config.policy = -1;
  CHECK_FAILS(precast_cache_open(&config, &cache, &error), PRECAST_INVALID_ARGUMENT,
              "precast_cache_config.policy is -1");
  config.struct_size = 0;
  CHECK_FAILS(precast_cache_open(&config, &cache, &error), PRECAST_INVALID_ARGUMENT,
              "precast_cache_config.struct_size is 0");
  CHECK_SAME(precast_cache_directory(NULL), "");
  CHECK_SAME(precast_cache_problem(NULL), "");
}
