#include "cache/gpu_parts.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/hash.h"
#include "precast/precast.h"
#include "testing/env_guard.h"
#include "testing/temp_dir.h"

namespace precast::cache {
namespace {

namespace fs = std::filesystem;
using precast::testing::EnvGuard;
using precast::testing::TempDir;
using ::testing::HasSubstr;
using Parts = std::vector<std::pair<std::string, Bytes>>;

// Mappings of the libraries that a CUDA process has, as the kernel writes them.
constexpr std::string_view kMaps =
    "7f00-7f01 r-xp 00000000 fe:00 11 /usr/lib/libcuda.so.1\n"
    "7f01-7f02 r--p 00001000 fe:00 11 /usr/lib/libcuda.so.1\n"
    "7f02-7f03 r-xp 00000000 fe:00 12 /p/nvidia/cudnn/lib/libcudnn.so.9\n"
    "7f03-7f04 r-xp 00000000 fe:00 13 /p/nvidia/cublas/lib/libcublas.so.13\n"
    "7f04-7f05 r-xp 00000000 fe:00 14 /p/nvidia/cublas/lib/libcublasLt.so.13\n"
    "7f05-7f06 r-xp 00000000 fe:00 15 /usr/lib/libc.so.6\n"
    "7f06-7f07 rw-p 00000000 00:00 0 \n"
    "7f07-7f08 r-xp 00000000 fe:00 16 /p/libcudnn_ops.so.9\n"
    "7f08-7f09 r-xp 00000000 fe:00 17 /p/libcudnn.so.9.dist-info/x\n";

std::string sha(std::string_view text) { return "sha256:" + base::sha256(text).hex(); }

class GpuParts : public ::testing::Test {
 protected:
  // Digests of paths stand for those of contents; below the folder of the test files are real.
  GpuSurroundings here(std::string maps = std::string(kMaps)) const {
    return {.maps = std::move(maps),
            .plugin_path = dir_.file("site/jax_plugins/xla_cuda13/xla_cuda_plugin.so"),
            .data_dirs = {},
            .cuda_home = "",
            .path = "",
            .several_devices = false,
            .digest = [](const std::string& path, const pjrt::Mapping* mapping) -> Result<Digest> {
              if (mapping != nullptr) return base::sha256(path);
              PRECAST_ASSIGN(const Bytes bytes, base::read_file(path, 1 << 20));
              return base::sha256(bytes);
            }};
  }

  void write(const std::string& name, std::string_view bytes) const {
    fs::create_directories((dir_.path() / name).parent_path());
    std::ofstream(dir_.path() / name, std::ios::binary) << bytes;
  }

  static Bytes value(const Parts& parts, std::string_view name) {
    for (const auto& [part, text] : parts) {
      if (part == name) return text;
    }
    return "none";
  }

  TempDir dir_;
};

TEST_F(GpuParts, TheLibrariesThatAreMapped) {
  const Parts parts = gpu_parts(here()).value();
  EXPECT_EQ(value(parts, "libcuda"), sha("/usr/lib/libcuda.so.1"));
  EXPECT_EQ(value(parts, "libcudnn"), sha("/p/nvidia/cudnn/lib/libcudnn.so.9"));
  EXPECT_EQ(value(parts, "libcublas"), sha("/p/nvidia/cublas/lib/libcublas.so.13"));
  EXPECT_EQ(value(parts, "libcublasLt"), sha("/p/nvidia/cublas/lib/libcublasLt.so.13"));
  for (const char* other : {"libc", "libcudnn_ops", "libnccl"}) {
    EXPECT_EQ(value(parts, other), "none") << other;
  }
}

TEST_F(GpuParts, WhatIsNotLoadedYetIsNotKnown) {
  for (const std::string needed : {"libcuda.so", "libcudnn.so", "libcublas.so"}) {
    std::string maps(kMaps);
    for (std::size_t at = maps.find(needed); at != std::string::npos; at = maps.find(needed)) {
      maps.replace(at, needed.size(), "libother.so");
    }
    const auto parts = gpu_parts(here(maps));
    ASSERT_FALSE(parts) << needed;
    EXPECT_THAT(parts.error().message(), HasSubstr(needed.substr(0, needed.size() - 3)));
  }
  GpuSurroundings several = here();
  several.several_devices = true;
  EXPECT_THAT(gpu_parts(several).error().message(), HasSubstr("libnccl"));
  several.maps += "7f10-7f11 r-xp 00000000 fe:00 20 /p/libnccl.so.2\n";
  EXPECT_TRUE(gpu_parts(several));
  GpuSurroundings failing = here();
  failing.digest = [](const std::string&, const pjrt::Mapping*) -> Result<Digest> {
    return Error(ErrorCode::unavailable, "replaced");
  };
  EXPECT_EQ(gpu_parts(failing).error().message(), "replaced");
}

// The search order: options, CUDA_HOME, packages beside the plugin, PATH.
TEST_F(GpuParts, AllThatXlaMayFindInItsOrder) {
  write("data/bin/ptxas", "data");
  write("home/bin/ptxas", "home");
  write("home/bin/nvlink", "link");
  write("home/nvvm/libdevice/libdevice.10.bc", "device");
  write("site/nvidia/cu13/bin/ptxas", "package");
  write("tools/ptxas", "path");
  GpuSurroundings all = here();
  all.data_dirs = {dir_.file("data")};
  all.cuda_home = dir_.file("home");
  all.path = dir_.file("nothing") + ":" + dir_.file("tools") + ":";
  const Parts parts = gpu_parts(all).value();
  EXPECT_EQ(value(parts, "ptxas.0"), sha("data"));
  EXPECT_EQ(value(parts, "ptxas.1"), sha("home"));
  EXPECT_EQ(value(parts, "ptxas.2"), sha("package"));
  EXPECT_EQ(value(parts, "nvlink.0"), sha("link"));
  EXPECT_EQ(value(parts, "libdevice.0"), sha("device"));
  // Behind them, whatever a toolkit of this machine adds: the one on PATH.
  EXPECT_TRUE(std::ranges::any_of(parts, [](const auto& part) {
    return part.first.starts_with("ptxas.") && part.second == sha("path");
  }));

  // Another content of any of them is another list, another place is the same.
  write("home/bin/ptxas", "newer");
  EXPECT_NE(gpu_parts(all).value(), parts);
  write("home/bin/ptxas", "home");
  fs::rename(dir_.file("home"), dir_.file("moved"));
  all.cuda_home = dir_.file("moved");
  EXPECT_EQ(gpu_parts(all).value(), parts);
}

TEST(CpuFromCpuinfo, EveryFlagIsAFeature) {
  const auto x86 = cpu_from_cpuinfo(
      "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t\t: fpu avx avx2\nbugs\t: x\n\n"
      "processor\t: 1\nmodel name\t: Other\nflags\t\t: fpu\n",
      "x86_64");
  ASSERT_TRUE(x86);
  EXPECT_EQ(*x86,
            (proto::CpuTarget{"x86_64-unknown-linux-gnu", "Some CPU @ 2 GHz", "+fpu,+avx,+avx2"}));
  const auto arm = cpu_from_cpuinfo("processor\t: 0\nFeatures\t: fp asimd\n", "aarch64");
  ASSERT_TRUE(arm);
  EXPECT_EQ(arm->features, "+fp,+asimd");
  EXPECT_FALSE(cpu_from_cpuinfo("", "x86_64"));
  EXPECT_FALSE(cpu_from_cpuinfo("flags\t: \nflagship : avx\n", "x86_64"));
}

// The fake plugin as a CUDA plugin, in a process that has libraries of these names.
TEST(GpuKey, EndsTheBypassWhereEverythingIsKnown) {
  const TempDir dir;
  const EnvGuard platform("PRECAST_FAKE_PLATFORM_NAME", "cuda");
  const EnvGuard kinds("PRECAST_FAKE_DEVICE_KINDS", "NVIDIA H200");
  const EnvGuard home("CUDA_HOME", dir.file("cuda"));
  const Client client = Plugin::open(PRECAST_FAKE_PLUGIN).value().create_client({}).value();
  const Program program = Program::from_bytes("module @m {}\n", "m.mlir").value();
  CacheConfig config;
  config.disabled = true;
  const Cache cache = Cache::open(config);

  const auto unknown = cache.key(client, program, {});
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->bypass, Reason::libraries_unknown);
  EXPECT_THAT(unknown->detail, HasSubstr("is not loaded"));

  for (const char* name : {"libcuda.so.1", "libcudnn.so.9", "libcublas.so.13"}) {
    fs::copy_file(PRECAST_FAKE_PLUGIN, dir.file(name));
    ASSERT_NE(::dlopen(dir.file(name).c_str(), RTLD_NOW | RTLD_LOCAL), nullptr);
  }
  const auto key = cache.key(client, program, {});
  ASSERT_TRUE(key && key->record) << (key ? key->detail : key.error().to_string());
  const KeyField& plugin = *key->record->find("plugin");
  EXPECT_NE(plugin.find("part.libcudnn"), nullptr);
  EXPECT_NE(key->record->find("cpu")->find("count"), nullptr);

  // What was compiled here is a hit, and loads from its file.
  CacheConfig stored;
  stored.directory = dir.file("cache");
  stored.keep_misses = false;
  const Cache folder = Cache::open(stored);
  EXPECT_EQ(folder.compile_or_load(client, program, {})->report.outcome, Outcome::miss);
  const auto hit = folder.compile_or_load(client, program, {});
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->report.outcome, Outcome::hit) << hit->report.detail;
  const auto artifact = VerifiedArtifact::from_file(hit->report.artifact_path);
  ASSERT_TRUE(artifact);
  EXPECT_TRUE(load(client, *artifact));

  // Another PTX compiler is another key, and refuses the file.
  fs::create_directories(dir.file("cuda/bin"));
  std::ofstream(dir.file("cuda/bin/ptxas")) << "ptxas";
  EXPECT_NE(cache.key(client, program, {})->record->find("plugin")->digest(), plugin.digest());

  const auto refused = load(client, *artifact);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::incompatible);
  EXPECT_THAT(refused.error().message(), HasSubstr("part."));

  // A library that was replaced is not known any more.
  fs::remove(dir.file("libcudnn.so.9"));
  fs::copy_file(PRECAST_FAKE_PLUGIN, dir.file("libcudnn.so.9"));
  EXPECT_EQ(cache.key(client, program, {})->bypass, Reason::libraries_unknown);
}

}  // namespace
}  // namespace precast::cache
