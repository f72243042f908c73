#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "c_api/boundary.h"
#include "c_api/handles.h"
#include "c_api/report.h"
#include "c_api/request.h"
#include "c_api/structs.h"
#include "precast/precast.h"
#include "precast/precast_c.h"

namespace precast::c_api {
namespace {

static_assert(static_cast<int>(LogLevel::debug) == PRECAST_LOG_DEBUG);
static_assert(static_cast<int>(LogLevel::info) == PRECAST_LOG_INFO);
static_assert(static_cast<int>(LogLevel::warn) == PRECAST_LOG_WARN);

Result<CacheConfig> config_of(const precast_cache_config* given) {
  CacheConfig config;
  if (given == nullptr) return config;
  PRECAST_ASSIGN(const precast_cache_config from, read_struct(given));
  config.directory = text_of(from.directory);
  config.disabled = from.disabled != 0;
  config.strict = from.strict != 0;
  config.prove = from.no_proof == 0;
  PRECAST_ASSIGN(config.signatures,
                 policy_of(from.trusted_keys, from.trusted_key_count, from.require_signature != 0));
  config.state_directory = text_of(from.state_directory);
  config.keep_misses = from.no_misses == 0;
  config.keep_stats = from.no_stats == 0;
  if (from.policy != 0) {
    PRECAST_ASSIGN(config.policy, cache_policy_of(from.policy, "precast_cache_config"));
  }
  config.name_space = text_of(from.name_space);
  if (from.wait_limit_s != 0) config.wait_limit_s = from.wait_limit_s;
  config.min_compile_ms = from.min_compile_ms;
  config.soft_limit_bytes = from.soft_limit_bytes;
  config.hard_limit_bytes = from.hard_limit_bytes;
  config.leases = from.no_leases == 0;
  config.after_wait = from.fail_after_wait == 0 ? AfterWait::compile : AfterWait::fail;
  config.trial_load = from.trial_load != 0;
  config.command = text_of(from.command);
  if (from.log != nullptr) {
    config.log = [log = from.log, user = from.log_user](LogLevel level, const std::string& text) {
      log(user, static_cast<int32_t>(level), text.c_str());
    };
  }
  return config;
}

// What is asked for, and that there is somebody to ask.
Result<Asked> asked_of(const precast_cache* cache, const precast_client* client,
                       const precast_request* request) {
  PRECAST_TRY(check_given(cache, "cache"));
  PRECAST_TRY(check_given(client, "client"));
  return asked_by(request);
}

// The caller's artifact.
Result<VerifiedArtifact> artifact_of(const precast_load_request& request) {
  PRECAST_ASSIGN(
      const SignaturePolicy policy,
      policy_of(request.trusted_keys, request.trusted_key_count, request.require_signature != 0));
  if (request.path != nullptr) return VerifiedArtifact::from_file(request.path, policy);
  PRECAST_TRY(check_given(request.data, "data"));
  return VerifiedArtifact::decode(Bytes(static_cast<const char*>(request.data), request.data_size),
                                  policy);
}

}  // namespace
}  // namespace precast::c_api

namespace {

namespace c_api = precast::c_api;
using precast::Result;

}  // namespace

extern "C" {

int32_t precast_cache_open(const precast_cache_config* config, precast_cache** cache,
                           precast_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    PRECAST_TRY(c_api::check_output(cache, "cache"));
    PRECAST_ASSIGN(precast::CacheConfig read, c_api::config_of(config));
    precast::Cache opened = precast::Cache::open(std::move(read));
    std::string problem = opened.unusable() ? opened.unusable()->to_string() : std::string();
    *cache = new precast_cache{std::move(opened), std::move(problem)};
    return {};
  });
}

const char* precast_cache_directory(const precast_cache* cache) {
  return cache == nullptr ? "" : cache->cache.directory().c_str();
}

const char* precast_cache_problem(const precast_cache* cache) {
  return cache == nullptr ? "" : cache->problem.c_str();
}

void precast_cache_free(precast_cache* cache) { delete cache; }

void precast_release_leases_on_signal(void) { precast::release_leases_on_signal(); }

void precast_release_leases_when_told_to_end(void) { precast::release_leases_when_told_to_end(); }

int32_t precast_cache_key(const precast_cache* cache, const precast_client* client,
                          const precast_request* request, precast_report** report,
                          precast_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    PRECAST_TRY(c_api::check_output(report, "report"));
    PRECAST_ASSIGN(const c_api::Asked asked, c_api::asked_of(cache, client, request));
    PRECAST_ASSIGN(precast::KeyResult key,
                   cache->cache.key(client->client, asked.program, asked.options, asked.request));
    precast::Report facts;
    if (key.record) facts.key = key.record->digest();
    facts.reason = key.bypass;
    facts.detail = std::move(key.detail);
    facts.warnings = std::move(key.warnings);
    facts.program_bytes = asked.program.bytes().size();
    *report = c_api::make_report(std::move(facts), /*has_outcome=*/false).release();
    return {};
  });
}

int32_t precast_would_hit(const precast_cache* cache, const precast_client* client,
                          const precast_request* request, precast_report** report,
                          precast_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    PRECAST_TRY(c_api::check_output(report, "report"));
    PRECAST_ASSIGN(const c_api::Asked asked, c_api::asked_of(cache, client, request));
    PRECAST_ASSIGN(precast::Lookup lookup, cache->cache.would_hit(client->client, asked.program,
                                                                  asked.options, asked.request));
    precast::Report facts;
    if (lookup.record) facts.key = lookup.record->digest();
    facts.outcome = lookup.outcome;
    facts.reason = lookup.reason;
    facts.detail = std::move(lookup.detail);
    facts.artifact_path = std::move(lookup.artifact_path);
    facts.artifact_bytes = lookup.artifact_bytes;
    facts.program_bytes = asked.program.bytes().size();
    *report = c_api::make_report(std::move(facts), /*has_outcome=*/true).release();
    return {};
  });
}

int32_t precast_compile_or_load(const precast_cache* cache, const precast_client* client,
                                const precast_request* request, precast_executable** executable,
                                precast_report** report, precast_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    if (report != nullptr) *report = nullptr;
    PRECAST_TRY(c_api::check_output(executable, "executable"));
    PRECAST_ASSIGN(const c_api::Asked asked, c_api::asked_of(cache, client, request));
    PRECAST_ASSIGN(
        precast::CompileOrLoad done,
        cache->cache.compile_or_load(client->client, asked.program, asked.options, asked.request));
    auto made = c_api::make_report(std::move(done.report), /*has_outcome=*/true);
    *executable = new precast_executable(client->client, std::move(done.executable), made->key);
    if (report != nullptr) *report = made.release();
    return {};
  });
}

int32_t precast_load(const precast_client* client, const precast_load_request* request,
                     precast_executable** executable, precast_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    PRECAST_TRY(c_api::check_output(executable, "executable"));
    PRECAST_TRY(c_api::check_given(client, "client"));
    PRECAST_ASSIGN(const precast_load_request read, c_api::read_struct(request));
    PRECAST_TRY(c_api::check_reserved(read.reserved, "precast_load_request"));
    PRECAST_ASSIGN(const precast::VerifiedArtifact artifact, c_api::artifact_of(read));
    PRECAST_ASSIGN(const precast::KeyRecord record,
                   precast::KeyRecord::decode(artifact.key_record()));
    precast::LoadOptions options;
    PRECAST_ASSIGN(options.device_ids, c_api::device_ids_of(read.device_ids, read.device_id_count));
    PRECAST_ASSIGN(precast::LoadedExecutable loaded,
                   precast::load(client->client, artifact, options));
    *executable = new precast_executable(client->client, std::move(loaded), record.digest().hex());
    return {};
  });
}

}  // extern "C"
