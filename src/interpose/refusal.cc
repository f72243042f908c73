#include "interpose/refusal.h"

#include <cstddef>
#include <cstring>
#include <utility>

namespace precast::interpose {
namespace {

std::string& words() {
  static std::string& text = *new std::string;
  return text;
}

// The only error there is: hosts take it for a handle and give it back.
PJRT_Error* the_error() { return reinterpret_cast<PJRT_Error*>(&words()); }

// Of the table that c_abi.h describes.
constexpr int kMajor = 0;
constexpr int kMinor = 110;

PJRT_Error* refuse(void*) { return the_error(); }

void destroy_error(PJRT_Error_Destroy_Args*) {}

void error_message(PJRT_Error_Message_Args* args) {
  args->message = words().c_str();
  args->message_size = words().size();
}

PJRT_Error* error_code(PJRT_Error_GetCode_Args* args) {
  args->code = PJRT_Error_Code_FAILED_PRECONDITION;
  return nullptr;
}

// Hosts ask each error for these, and may not expect an error instead.
PJRT_Error* no_payloads(PJRT_Error_ForEachPayload_Args*) { return nullptr; }

}  // namespace

const PJRT_Api* refusal(std::string message) {
  words() = std::move(message);
  static PJRT_Api& table = *new PJRT_Api{};
  // All functions take one pointer and return an error, whatever they are about.
  const auto same = &refuse;
  constexpr std::size_t kFirst = offsetof(PJRT_Api, PJRT_Error_Destroy);
  for (std::size_t at = kFirst; at < sizeof table; at += sizeof same) {
    std::memcpy(reinterpret_cast<char*>(&table) + at, static_cast<const void*>(&same), sizeof same);
  }
  table.struct_size = sizeof table;
  table.pjrt_api_version.struct_size = sizeof table.pjrt_api_version;
  table.pjrt_api_version.major_version = kMajor;
  table.pjrt_api_version.minor_version = kMinor;
  table.PJRT_Error_Destroy = destroy_error;
  table.PJRT_Error_Message = error_message;
  table.PJRT_Error_GetCode = error_code;
  table.PJRT_Error_ForEachPayload = no_payloads;
  return &table;
}

}  // namespace precast::interpose
