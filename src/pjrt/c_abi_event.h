// PJRT C ABI: errors, events and the plugin itself. Fields marked "out" are written by the plugin.

#pragma once

#include "pjrt/c_abi_base.h"

// NOLINTBEGIN(readability-identifier-naming): the names are the ABI's.

struct PJRT_Error_Destroy_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Error* error;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Error_Destroy_Args, error);

struct PJRT_Error_Message_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const PJRT_Error* error;
  const char* message;  // out
  size_t message_size;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Error_Message_Args, message_size);

using PJRT_Error_PayloadVisitor = PJRT_UntypedFunction;

struct PJRT_Error_FunctionTable {
  size_t struct_size;
  size_t instance_size;
  PJRT_Extension_Base* extension_start;
  void (*destroy)(PJRT_Error* error);
  void (*message)(const PJRT_Error* error, const char** message, size_t* message_size);
  PJRT_Error_Code (*get_code)(const PJRT_Error* error);
  void (*for_each_payload)(const PJRT_Error* error, PJRT_Error_PayloadVisitor visitor,
                           void* user_arg);
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Error_FunctionTable, for_each_payload);

struct PJRT_Error {
  const PJRT_Error_FunctionTable* vtable;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Error, vtable);

struct PJRT_Error_GetCode_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const PJRT_Error* error;
  PJRT_Error_Code code;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Error_GetCode_Args, code);

struct PJRT_Error_ForEachPayload_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const PJRT_Error* error;
  PJRT_Error_PayloadVisitor visitor;
  void* user_arg;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Error_ForEachPayload_Args, user_arg);

struct PJRT_Plugin_Initialize_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Plugin_Initialize_Args, extension_start);

struct PJRT_Plugin_Attributes_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const PJRT_NamedValue* attributes;  // out
  size_t num_attributes;              // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Plugin_Attributes_Args, num_attributes);

struct PJRT_Event_Destroy_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Event* event;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Event_Destroy_Args, event);

struct PJRT_Event_IsReady_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Event* event;
  bool is_ready;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Event_IsReady_Args, is_ready);

struct PJRT_Event_Error_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Event* event;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Event_Error_Args, event);

struct PJRT_Event_Await_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Event* event;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Event_Await_Args, event);

// `error` is null on success and belongs to the callback.
using PJRT_Event_OnReadyCallback = void (*)(PJRT_Error* error, void* user_arg);

struct PJRT_Event_OnReady_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Event* event;
  PJRT_Event_OnReadyCallback callback;
  void* user_arg;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Event_OnReady_Args, user_arg);

struct PJRT_Event_Create_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Event* event;  // out
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Event_Create_Args, event);

struct PJRT_Event_Set_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Event* event;
  PJRT_Error_Code error_code;
  const char* error_message;
  size_t error_message_size;
};
PRECAST_PJRT_STRUCT_SIZE(PJRT_Event_Set_Args, error_message_size);

// NOLINTEND(readability-identifier-naming)
