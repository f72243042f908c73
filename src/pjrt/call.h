// The one way to call a plugin.
//
//   Block<PJRT_Client_ProcessIndex_Args> args;
//   args->client = client;
//   PRECAST_TRY(api.call(kClientProcessIndex, args));
//   return args->process_index;
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "pjrt/block.h"
#include "pjrt/c_abi.h"
#include "precast/plugin.h"
#include "precast/result.h"

namespace precast::pjrt {

// A member of the function table, by its place and its name. functions.h has those that we call.
template <typename Args>
struct Function {
  PJRT_Error* (*PJRT_Api::*member)(Args*);
  std::string_view name;
};
template <typename Args>
Function(PJRT_Error* (*PJRT_Api::*)(Args*), const char*) -> Function<Args>;

// The function table of an opened plugin. Thread-safe as far as the plugin is; must outlive every
// handle made through it.
class Api {
 public:
  // `table` holds at least its version and belongs to the plugin, which is never closed.
  explicit Api(const PJRT_Api* table) : table_(table) {}

  ApiVersion version() const;
  std::size_t struct_size() const { return table_->struct_size; }
  const PJRT_Api* table() const { return table_; }
  const PJRT_Extension_Base* extensions() const { return table_->extension_start; }

  // Whether the table reaches as far as the function and has it.
  template <typename Args>
  bool has(const Function<Args>& function) const {
    return reaches(&(table_->*function.member)) && table_->*function.member != nullptr;
  }

  // Calls the function. Errors: unsupported when the plugin lacks it; plugin_error with the
  // plugin's code and whole text when it fails.
  template <typename Args>
  Result<void> call(const Function<Args>& function, Block<Args>& args) const {
    if (!has(function)) return missing(function.name);
    PJRT_Error* error = (table_->*function.member)(args.get());
    if (error == nullptr) return {};
    return take_error(error).with("in " + std::string(function.name));
  }

  // Turns the plugin's error into ours and destroys it. Requires error != nullptr.
  Error take_error(PJRT_Error* error) const;
  // The same, and it stays.
  Error read_error(PJRT_Error* error) const;

 private:
  void destroy_error(PJRT_Error* error) const;
  // A member exists when the table's own size covers it.
  template <typename Member>
  bool reaches(const Member* member) const {
    const auto offset = static_cast<std::size_t>(reinterpret_cast<const char*>(member) -
                                                 reinterpret_cast<const char*>(table_));
    return offset + sizeof(Member) <= table_->struct_size;
  }
  Error missing(std::string_view function) const;

  const PJRT_Api* table_;
};

// Whether a plugin said that it does not have something: the function is not in its table, or it is
// and answers UNIMPLEMENTED.
bool is_lacking(const Error& error);

}  // namespace precast::pjrt
