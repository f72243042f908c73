// Runs a fuzzer's function on every file of its checked-in corpus, as an ordinary test: what the
// fuzzer found once stays fixed without a fuzzer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

TEST(Corpus, Replays) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(PRECAST_FUZZ_CORPUS)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  ASSERT_FALSE(files.empty()) << "no corpus in " << PRECAST_FUZZ_CORPUS;
  for (const auto& file : files) {
    SCOPED_TRACE(file.string());
    // Seen in the output when the function aborts.
    RecordProperty("input", file.string());
    std::ifstream stream(file, std::ios::binary);
    ASSERT_TRUE(stream);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    EXPECT_EQ(
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()),
        0);
  }
}

}  // namespace
