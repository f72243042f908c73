// HostCompile: one PJRT_Client_Compile of the host, through the cache.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

#include "cache/hooks.h"
#include "interpose/dumps.h"
#include "interpose/wrapper.h"
#include "pjrt/c_abi.h"
#include "precast/artifact.h"
#include "precast/cache.h"
#include "precast/client.h"
#include "precast/compile_options.h"
#include "precast/executable.h"
#include "precast/program.h"

namespace precast::interpose {

// The type of an extension of a compile's arguments that may change what is compiled, as far as
// Precast knows; nothing when there is none.
std::optional<int> unknown_extension(const PJRT_Extension_Base* of_arguments,
                                     const PJRT_Extension_Base* of_program);

// Whether a struct of a newer host holds something behind what c_abi.h knows of it.
template <typename Struct>
bool has_more_than_known(const Struct& given) {
  constexpr std::size_t kMostLooked = 4096;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&given);
  const std::size_t end = std::min(given.struct_size, kMostLooked);
  return std::any_of(bytes + std::min(sizeof given, end), bytes + end,
                     [](unsigned char byte) { return byte != 0; });
}

// Used once.
class HostCompile {
 public:
  // All must outlive the object; `args` reach to their last member.
  HostCompile(Wrapper& wrapper, const Client& client, PJRT_Client_Compile_Args& args)
      : wrapper_(wrapper), client_(client), args_(args) {}

  // As PJRT_Client_Compile. Where the cache has nothing to say, or fails, it is the plugin's.
  PJRT_Error* run();

 private:
  // Afterwards the host has its executable or its error, or answered_ is false.
  void ask_cache();
  Result<CompiledExecutable> compile(const Program& program, const CompileOptions& options);
  // The plugin's compile, with the arguments as the host gave them.
  PJRT_Error* compile_as_asked();
  void hand_out(const CompileOrLoad& hit);
  void tell(const Report& report, const std::string& name);
  // Whether nobody was told yet why nothing is cached.
  bool is_news(const Report& report);
  double elapsed_ms() const;

  Wrapper& wrapper_;
  const Client& client_;
  PJRT_Client_Compile_Args& args_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();

  bool answered_ = false;  // compiled, refused or loaded
  PJRT_Error* error_ = nullptr;
  Dumps dumps_;
  Origin origin_;          // of a hit
  double compile_ms_ = 0;  // that a hit saved
};

}  // namespace precast::interpose
