// What every call into the fake plugin goes through: the log, the check of the argument's size, the
// latency and the faults that the environment asks for, and the conversion of failures to errors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "pjrt/c_abi.h"
#include "testing/fake_plugin/config.h"
#include "testing/fake_plugin/failure.h"

namespace precast::fake {

// The configuration in force. It is read anew by GetPjrtApi and at every client creation.
std::shared_ptr<const Config> active_config();
std::shared_ptr<const Config> reload_config();

// Appends the name to PRECAST_FAKE_LOG.
void log_call(std::string_view function);

// Appends a letter to PRECAST_FAKE_COUNTER, in one write: several processes may share the file.
enum class Counted : char { compile = 'C', deserialize = 'D', serialize = 'S' };
void count(Counted what);

// Sleeps and throws as the environment asks for this function.
void inject(std::string_view function);

// Throws as XLA's plugins do when a struct is smaller than what they know.
void check_size(std::string_view struct_name, std::size_t known, std::size_t given);

// The size below which a struct is refused. XLA is lenient with a few that grew.
template <typename Args>
inline constexpr std::size_t kLeastSize = pjrt::kStructSize<Args>;
template <>
inline constexpr std::size_t kLeastSize<PJRT_ExecuteOptions> = 112;
template <>
inline constexpr std::size_t kLeastSize<PJRT_Executable_GetCompiledMemoryStats_Args> = 112;
template <>
inline constexpr std::size_t kLeastSize<PJRT_Executable_DeserializeAndLoad_Args> = 64;

template <std::size_t N>
struct FunctionName {
  char text[N];
  constexpr FunctionName(const char (&name)[N]) {  // NOLINT(*-explicit-*): a literal is a name
    std::copy_n(name, N, text);
  }
};

// The member of PJRT_Api that runs `Function`.
template <FunctionName kName, typename Args, void (*Function)(Args&)>
PJRT_Error* call(Args* args) {
  constexpr std::string_view name(kName.text);
  try {
    if (name == "PJRT_Client_Create") reload_config();
    log_call(name);
    check_size(std::string(name) + "_Args", kLeastSize<Args>, args->struct_size);
    inject(name);
    Function(*args);
    return nullptr;
  } catch (const Failure& failure) {
    return make_error(failure.code, failure.message);
  } catch (const std::exception& error) {
    return make_error(PJRT_Error_Code_INTERNAL, error.what());
  }
}

}  // namespace precast::fake
