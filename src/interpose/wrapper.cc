#include "interpose/wrapper.h"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "interpose/ahead.h"
#include "interpose/compile.h"
#include "interpose/log.h"
#include "pjrt/adopt.h"
#include "pjrt/named_values.h"
#include "pjrt/plugin_impl.h"
#include "precast/artifact.h"
#include "proto/executable_edit.h"

namespace precast::interpose {
namespace {

// Set once, before any host has the table.
Wrapper* the_wrapper = nullptr;

// The member function as the table wants it. What the cache's libraries throw (no memory) must not
// unwind into the host: each function catches it, and goes on as the plugin would.
template <auto kMember, typename Args>
PJRT_Error* call(Args* args) noexcept {
  return (the_wrapper->*kMember)(args);
}

// Whether a struct of the host's reaches as far as this member.
template <typename Args, typename Member>
bool reaches(const Args* args, Member Args::* member) {
  if (args == nullptr) return false;
  const auto offset = static_cast<std::size_t>(reinterpret_cast<const char*>(&(args->*member)) -
                                               reinterpret_cast<const char*>(args));
  return offset + sizeof(Member) <= args->struct_size;
}

// What a plugin's deleter frees.
struct Lent {
  Bytes bytes;
};

void end_loan(PJRT_SerializedExecutable* lent) { delete reinterpret_cast<Lent*>(lent); }

// What the plugin serialized when it was compiled, with the devices of here: who loads the bytes
// without options of its own gets those. Nothing where the artifact does not decode again.
std::optional<Bytes> first_bytes(const LoadedFrom& origin) {
  const auto artifact = VerifiedArtifact::decode(Bytes(origin.artifact));
  if (!artifact) return std::nullopt;
  if (auto own = proto::with_assignment(artifact->executable(), origin.asked, origin.placed))
    return own;
  return Bytes(artifact->executable());
}

}  // namespace

Wrapper::Wrapper(Plugin plugin, Settings settings)
    : plugin_(std::move(plugin)),
      settings_(std::move(settings)),
      table_(plugin_.impl()->api.table()) {
  the_wrapper = this;
  table_.replace(&PJRT_Api::PJRT_Client_Create, &call<&Wrapper::create_client>);
  table_.replace(&PJRT_Api::PJRT_Client_Destroy, &call<&Wrapper::destroy_client>);
  table_.replace(&PJRT_Api::PJRT_Client_Compile, &call<&Wrapper::compile>);
  table_.replace(&PJRT_Api::PJRT_Compile, &call<&Wrapper::compile_ahead>);
  table_.replace(&PJRT_Api::PJRT_Client_Load, &call<&Wrapper::load>);
  table_.replace(&PJRT_Api::PJRT_LoadedExecutable_GetExecutable, &call<&Wrapper::get_executable>);
  table_.replace(&PJRT_Api::PJRT_Executable_Serialize, &call<&Wrapper::serialize>);
  table_.replace(&PJRT_Api::PJRT_Executable_Destroy, &call<&Wrapper::destroy_executable>);
  table_.replace(&PJRT_Api::PJRT_LoadedExecutable_Destroy, &call<&Wrapper::destroy_loaded>);
}

const Cache& Wrapper::cache() {
  OpenedCache& mine = cache_.here();
  std::call_once(mine.once, [this, &mine] {
    CacheConfig config;
    config.policy = settings_.policy;
    config.min_compile_ms = settings_.min_compile_ms;
    config.log = say;
    if (settings_.wait_limit_s > 0) config.wait_limit_s = settings_.wait_limit_s;
    config.on_waiting = [this](const Waiting& waiting) { tell(waiting); };
    mine.cache = Cache::open(std::move(config));
  });
  return *mine.cache;
}

// A process that seems to hang says what it waits for, once for each that it waits for.
void Wrapper::tell(const Waiting& waiting) {
  constexpr double kPatienceS = 10;
  State& mine = state();
  bool is_news = false;
  if (waiting.waited_s >= kPatienceS) {
    const std::lock_guard lock(mine.mutex);
    is_news = mine.waited_for.insert(fmt::format("{} {}", waiting.host, waiting.pid)).second;
  }
  say(is_news ? LogLevel::warn : LogLevel::debug,
      fmt::format("waiting for process {} on {} ({}), which has been compiling this for {:.0f} s",
                  waiting.pid, waiting.host, waiting.who, waiting.holding_s));
}

std::optional<Client> Wrapper::client(PJRT_Client* handle) {
  State& mine = state();
  const std::lock_guard lock(mine.mutex);
  const auto found = mine.clients.find(handle);
  if (found == mine.clients.end()) return std::nullopt;
  return found->second;
}

std::vector<Client> Wrapper::clients() {
  State& mine = state();
  const std::lock_guard lock(mine.mutex);
  std::vector<Client> all;
  for (const auto& [handle, known] : mine.clients) all.push_back(known);
  return all;
}

Result<void> Wrapper::adopt(PJRT_Client* client, Creation creation) {
  PRECAST_ASSIGN(Client adopted, pjrt::adopt_client(plugin_, client, std::move(creation.options),
                                                    std::move(creation.before)));
  State& mine = state();
  const std::lock_guard lock(mine.mutex);
  mine.clients.insert_or_assign(client, std::move(adopted));
  return {};
}

void Wrapper::try_to_adopt(PJRT_Client* client, std::optional<Creation> creation) noexcept {
  try {
    if (!creation) {
      say(LogLevel::warn, "this client's compiles are not cached: there is not enough memory");
      return;
    }
    pjrt::keep(plugin_, creation->before);
    if (creation->unknown_extension) {
      say(LogLevel::warn, fmt::format("this client's compiles are not cached: the host created it "
                                      "with an extension of type {}, of which nothing is known",
                                      *creation->unknown_extension));
      return;
    }
    const Result<void> adopted = adopt(client, *std::move(creation));
    if (adopted) return;
    say(LogLevel::warn, "this client's compiles are not cached: " + adopted.error().to_string());
  } catch (...) {
    return;  // its compiles go to the plugin
  }
}

PJRT_Error* Wrapper::create_client(PJRT_Client_Create_Args* args) {
  std::optional<Creation> creation;
  try {
    Creation made{pjrt::before_client(plugin_), {}, {}};
    if (reaches(args, &PJRT_Client_Create_Args::num_options)) {
      made.options = pjrt::from_abi(args->create_options, args->num_options);
      made.unknown_extension = unknown_extension(args->extension_start, nullptr);
    }
    creation = std::move(made);
  } catch (...) {
    creation.reset();
  }
  PJRT_Error* error = real().PJRT_Client_Create(args);
  if (error == nullptr && reaches(args, &PJRT_Client_Create_Args::client)) {
    try_to_adopt(args->client, std::move(creation));
  }
  return error;
}

PJRT_Error* Wrapper::destroy_client(PJRT_Client_Destroy_Args* args) {
  if (reaches(args, &PJRT_Client_Destroy_Args::client)) {
    State& mine = state();
    // Whoever publishes for a client that it was not given uses it until then.
    const std::lock_guard unused(mine.in_use);
    const std::lock_guard lock(mine.mutex);
    mine.clients.erase(args->client);
  }
  return real().PJRT_Client_Destroy(args);
}

PJRT_Error* Wrapper::compile(PJRT_Client_Compile_Args* args) {
  if (!reaches(args, &PJRT_Client_Compile_Args::executable) ||
      !reaches(args->program, &PJRT_Program::format_size)) {
    return real().PJRT_Client_Compile(args);
  }
  const std::optional<Client> known = client(args->client);
  if (!known) return real().PJRT_Client_Compile(args);
  return HostCompile(*this, *known, *args).run();
}

PJRT_Error* Wrapper::compile_ahead(PJRT_Compile_Args* args) {
  using Clock = std::chrono::steady_clock;
  // The plugin takes its flags from the environment when it first compiles or makes a client.
  std::optional<pjrt::BeforeClient> before;
  try {
    before = pjrt::before_client(plugin_);
  } catch (...) {
    say(LogLevel::debug, "there is not enough memory to note XLA_FLAGS");
  }
  const auto start = Clock::now();
  PJRT_Error* error = real().PJRT_Compile(args);
  const std::chrono::duration<double, std::milli> took = Clock::now() - start;
  if (error != nullptr) {
    count_refused_ahead(*this, took.count());
    return error;
  }
  if (before) pjrt::keep(plugin_, *before);
  if (!reaches(args, &PJRT_Compile_Args::executable) ||
      !reaches(args->program, &PJRT_Program::format_size)) {
    return nullptr;
  }
  publish_ahead(*this, *args, took.count());
  return nullptr;
}

void Wrapper::inherit(const void* from, const void* to) noexcept {
  try {
    Origins& origins = state().origins;
    if (Origin origin = origins.find(from)) origins.add(to, std::move(origin));
  } catch (...) {
    say(LogLevel::warn, "there is not enough memory to keep in mind what came from the cache");
  }
}

// The executable of a loaded one, loaded again: what it is serialized to is no better.
PJRT_Error* Wrapper::load(PJRT_Client_Load_Args* args) {
  PJRT_Error* error = real().PJRT_Client_Load(args);
  if (error != nullptr || !reaches(args, &PJRT_Client_Load_Args::loaded_executable)) return error;
  inherit(args->executable, args->loaded_executable);
  return nullptr;
}

PJRT_Error* Wrapper::get_executable(PJRT_LoadedExecutable_GetExecutable_Args* args) {
  PJRT_Error* error = real().PJRT_LoadedExecutable_GetExecutable(args);
  if (error != nullptr || !reaches(args, &PJRT_LoadedExecutable_GetExecutable_Args::executable)) {
    return error;
  }
  inherit(args->loaded_executable, args->executable);
  return nullptr;
}

PJRT_Error* Wrapper::serialize(PJRT_Executable_Serialize_Args* args) {
  if (!reaches(args, &PJRT_Executable_Serialize_Args::serialized_executable_deleter)) {
    return real().PJRT_Executable_Serialize(args);
  }
  try {
    const Origin origin = state().origins.find(args->executable);
    std::optional<Bytes> first = origin == nullptr ? std::nullopt : first_bytes(*origin);
    if (first) {
      auto lent = std::make_unique<Lent>(Lent{*std::move(first)});
      args->serialized_bytes = lent->bytes.data();
      args->serialized_bytes_size = lent->bytes.size();
      args->serialized_executable = reinterpret_cast<PJRT_SerializedExecutable*>(lent.release());
      args->serialized_executable_deleter = end_loan;
      return nullptr;
    }
  } catch (...) {
    say(LogLevel::warn, "there is not enough memory for the bytes of a cached executable");
  }
  return real().PJRT_Executable_Serialize(args);
}

PJRT_Error* Wrapper::destroy_executable(PJRT_Executable_Destroy_Args* args) {
  if (reaches(args, &PJRT_Executable_Destroy_Args::executable)) {
    state().origins.remove(args->executable);
  }
  return real().PJRT_Executable_Destroy(args);
}

PJRT_Error* Wrapper::destroy_loaded(PJRT_LoadedExecutable_Destroy_Args* args) {
  if (reaches(args, &PJRT_LoadedExecutable_Destroy_Args::executable)) {
    state().origins.remove(args->executable);
  }
  return real().PJRT_LoadedExecutable_Destroy(args);
}

void Wrapper::say_summary() {
  if (!settings_.summary) return;
  say_always(fmt::format("{} plugin={}", state().summary.text(), plugin_.path()));
}

}  // namespace precast::interpose
