#include "store/name_space.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "store/listing.h"

namespace precast::store {
namespace {

constexpr std::size_t kMaxBytes = 64;

bool allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

}  // namespace

Result<void> check_name_space(std::string_view name) {
  if (!name.empty() && name.size() <= kMaxBytes && name.front() != '.' && name.front() != '-' &&
      std::all_of(name.begin(), name.end(), allowed)) {
    return {};
  }
  std::string shown(name.substr(0, kMaxBytes));
  std::replace_if(shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  if (shown.size() < name.size()) shown += "...";
  return Error(ErrorCode::invalid_argument,
               "'" + shown +
                   "' is no name of a namespace: a name is 1 to 64 of A-Z a-z 0-9 . _ - and begins "
                   "with neither '.' nor '-'");
}

Result<Folder> ensure_name_space(FileOps& ops, Folder root, const std::string& name) {
  if (name.empty()) return root;
  PRECAST_TRY(check_name_space(name));
  PRECAST_ASSIGN(const Folder all, ensure_folder(ops, root, kNameSpaces));
  return ensure_folder(ops, all, name);
}

Result<std::optional<Folder>> find_name_space(FileOps& ops, Folder root, const std::string& name) {
  if (name.empty()) return std::optional<Folder>(std::move(root));
  PRECAST_TRY(check_name_space(name));
  PRECAST_ASSIGN(const std::optional<Folder> all, open_folder(ops, root, kNameSpaces));
  if (!all) return std::optional<Folder>();
  return open_folder(ops, *all, name);
}

Result<std::vector<std::string>> list_name_spaces(FileOps& ops, const Folder& root) {
  std::vector<std::string> found;
  PRECAST_ASSIGN(const std::optional<Folder> all, open_folder(ops, root, kNameSpaces));
  if (!all) return found;
  PRECAST_ASSIGN(std::vector<std::string> names, names_in(ops, *all));
  for (std::string& name : names) {
    if (!check_name_space(name)) continue;
    PRECAST_ASSIGN(const std::optional<struct stat> status, look_at(ops, *all, name));
    if (status && S_ISDIR(status->st_mode)) found.push_back(std::move(name));
  }
  return found;
}

}  // namespace precast::store
