// A folder of its own for a test, removed with everything in it at the end.
//
//   TempDir dir;
//   write_file(dir.path() / "x", bytes);
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

namespace precast::testing {

class TempDir {
 public:
  TempDir() {
    std::string path = (std::filesystem::temp_directory_path() / "precast-test-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) {
      throw std::filesystem::filesystem_error("mkdtemp", path,
                                              std::error_code(errno, std::generic_category()));
    }
    path_ = path;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;  // A test may have taken away its own rights to the folder.
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  // The path of a file in the folder, which need not exist.
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace precast::testing
