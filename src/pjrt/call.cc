#include "pjrt/call.h"

#include <utility>

namespace precast::pjrt {
namespace {

// For an error of which even the code cannot be had.
constexpr int kUnknownCode = PJRT_Error_Code_UNKNOWN;

}  // namespace

ApiVersion Api::version() const {
  return {table_->pjrt_api_version.major_version, table_->pjrt_api_version.minor_version};
}

Error Api::missing(std::string_view function) const {
  return {ErrorCode::unsupported, "the plugin speaks version " + version().to_string() +
                                      " of the PJRT C API and has no " + std::string(function)};
}

void Api::destroy_error(PJRT_Error* error) const {
  if (!reaches(&table_->PJRT_Error_Destroy) || table_->PJRT_Error_Destroy == nullptr) return;
  Block<PJRT_Error_Destroy_Args> args;
  args->error = error;
  table_->PJRT_Error_Destroy(args.get());
}

Error Api::take_error(PJRT_Error* error) const {
  Error taken = read_error(error);
  destroy_error(error);
  return taken;
}

Error Api::read_error(PJRT_Error* error) const {
  std::string message = "the plugin reported an error without text";
  if (reaches(&table_->PJRT_Error_Message) && table_->PJRT_Error_Message != nullptr) {
    Block<PJRT_Error_Message_Args> args;
    args->error = error;
    table_->PJRT_Error_Message(args.get());
    if (args->message != nullptr && args->message_size != 0) {
      message.assign(args->message, args->message_size);
    }
  }

  int code = kUnknownCode;
  if (reaches(&table_->PJRT_Error_GetCode) && table_->PJRT_Error_GetCode != nullptr) {
    Block<PJRT_Error_GetCode_Args> args;
    args->error = error;
    if (PJRT_Error* failed = table_->PJRT_Error_GetCode(args.get()); failed != nullptr) {
      destroy_error(failed);
    } else {
      code = args->code;
    }
  }
  return Error::from_plugin(code, std::move(message));
}

bool is_lacking(const Error& error) {
  return error.code() == ErrorCode::unsupported ||
         (error.code() == ErrorCode::plugin_error &&
          error.plugin_code() == PJRT_Error_Code_UNIMPLEMENTED);
}

}  // namespace precast::pjrt
