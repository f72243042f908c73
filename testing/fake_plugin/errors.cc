// Errors and events. Since PJRT 0.107 an error begins with a table of functions.

#include <string>

#include "testing/fake_plugin/call.h"
#include "testing/fake_plugin/members.h"
#include "testing/fake_plugin/objects.h"

namespace precast::fake {
namespace {

struct Error : PJRT_Error {
  PJRT_Error_Code code = PJRT_Error_Code_INTERNAL;
  std::string message;
};

const Error& as_error(const PJRT_Error* error) { return *static_cast<const Error*>(error); }

void destroy(PJRT_Error* error) { delete static_cast<Error*>(error); }

void message(const PJRT_Error* error, const char** text, size_t* size) {
  *text = as_error(error).message.data();
  *size = as_error(error).message.size();
}

constexpr PJRT_Error_FunctionTable kErrorTable = {
    pjrt::kStructSize<PJRT_Error_FunctionTable>,
    sizeof(Error),
    nullptr,
    &destroy,
    &message,
    [](const PJRT_Error* error) { return as_error(error).code; },
    [](const PJRT_Error*, PJRT_Error_PayloadVisitor, void*) {},
};

}  // namespace

PJRT_Error* make_error(PJRT_Error_Code code, std::string_view message) {
  auto* error = new Error;
  error->vtable = &kErrorTable;
  error->code = code;
  error->message = message;
  return error;
}

void error_destroy(PJRT_Error_Destroy_Args* args) {
  log_call("PJRT_Error_Destroy");
  destroy(args->error);
}

void error_message(PJRT_Error_Message_Args* args) {
  log_call("PJRT_Error_Message");
  message(args->error, &args->message, &args->message_size);
}

void error_get_code(PJRT_Error_GetCode_Args& args) { args.code = as_error(args.error).code; }

void event_destroy(PJRT_Event_Destroy_Args& args) { delete args.event; }

void event_is_ready(PJRT_Event_IsReady_Args& args) { args.is_ready = true; }

void event_error(PJRT_Event_Error_Args&) {}

void event_await(PJRT_Event_Await_Args&) {}

void event_on_ready(PJRT_Event_OnReady_Args& args) { args.callback(nullptr, args.user_arg); }

}  // namespace precast::fake
