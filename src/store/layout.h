// How entries lie below the root of a directory store: v1/<2 digits>/<62 digits>.precast.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace precast::store {

// The version of the layout below the root. Persisted: a new layout takes a new name.
inline constexpr const char* kLayout = "v1";
// Digits of the name that choose the folder: 256 folders keep each of them small.
inline constexpr std::size_t kFanOutDigits = 2;
inline constexpr std::string_view kSuffix = ".precast";
// How the name of a file that is being written begins. Entries never begin so.
inline constexpr std::string_view kTemporaryPrefix = ".tmp-";

std::string fan_out(std::string_view name);
std::string file_name(std::string_view name);
// The name of the entry in `file` of `folder`; nothing when no entry is called so.
std::optional<std::string> entry_name(std::string_view folder, std::string_view file);
bool is_fan_out(std::string_view folder);
// Whether something beside the fan-out folders is Precast's own: leases, the quarantine, and so on.
bool is_own_name(std::string_view name);

}  // namespace precast::store
