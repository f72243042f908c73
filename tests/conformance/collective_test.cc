// Replicas and partitions that talk to each other, compiled and loaded again on other devices.
#include <functional>
#include <string>

#include "pjrt/internal.h"
#include "tests/conformance/fixture.h"

namespace precast::conformance {
namespace {

using Values = std::vector<float>;

// {{0, 1, ...}}: one group of all
std::string one_group(int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i == 0 ? "" : ", ") + std::to_string(i);
  return "dense<[[" + list + "]]> : tensor<1x" + std::to_string(count) + "xi64>";
}

std::string on_main(const std::string& result, const std::string& body) {
  return "module @collective {\n  func.func public @main(%a: tensor<4xf32>) -> " + result +
         " {\n    " + body + "\n    return %0 : " + result + "\n  }\n}\n";
}

std::string all_reduce(int count) {
  return on_main("tensor<4xf32>", R"(%0 = "stablehlo.all_reduce"(%a) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %sum = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) {replica_groups = )" + one_group(count) +
                                      "} : (tensor<4xf32>) -> tensor<4xf32>");
}

std::string all_gather(int count) {
  const std::string result = "tensor<" + std::to_string(4 * count) + "xf32>";
  return on_main(result,
                 R"(%0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = )" +
                     one_group(count) + "} : (tensor<4xf32>) -> " + result);
}

std::string reduce_scatter(int count) {
  const std::string result = "tensor<" + std::to_string(4 / count) + "xf32>";
  return on_main(result, R"(%0 = "stablehlo.reduce_scatter"(%a) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %sum = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) {scatter_dimension = 0 : i64, replica_groups = )" +
                             one_group(count) + "} : (tensor<4xf32>) -> " + result);
}

// From each replica to the next.
std::string permute(int count) {
  std::string pairs;
  for (int i = 0; i < count; ++i) {
    pairs +=
        (i == 0 ? "[" : ", [") + std::to_string(i) + ", " + std::to_string((i + 1) % count) + "]";
  }
  return on_main("tensor<4xf32>",
                 R"(%0 = "stablehlo.collective_permute"(%a) {source_target_pairs = dense<[)" +
                     pairs + "]> : tensor<" + std::to_string(count) +
                     "x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>");
}

// (f32[8]) sharded over the partitions -> its sum, everywhere: the partitioner adds the all-reduce.
std::string partitioned_sum(int count) {
  return R"(module @partitioned {
  func.func public @main(%a: tensor<8xf32> {mhlo.sharding = "{devices=[)" +
         std::to_string(count) + R"(]<=[)" + std::to_string(count) +
         R"(]}"}) -> (tensor<f32> {mhlo.sharding = "{replicated}"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
})";
}

class CollectiveConformance : public Conformance, public ::testing::WithParamInterface<int> {
 protected:
  static int count() { return GetParam(); }

  // Runs on `ids`, device d with the values 10 d, 10 d + 1 and so on, `width` of them.
  static std::vector<Values> results(const LoadedExecutable& executable,
                                     const std::vector<std::int64_t>& ids, int width) {
    std::vector<Buffer> buffers;
    std::vector<std::vector<const Buffer*>> inputs;
    for (std::size_t d = 0; d < ids.size(); ++d) {
      Values values;
      for (int i = 0; i < width; ++i)
        values.push_back(static_cast<float>(10 * d + static_cast<std::size_t>(i)));
      auto buffer = client().to_device(tensor<float>(ElementType::f32, {width}, values), ids[d]);
      EXPECT_TRUE(buffer) << buffer.error().to_string();
      if (!buffer) return {};
      buffers.push_back(std::move(*buffer));
    }
    for (const Buffer& buffer : buffers) inputs.push_back({&buffer});
    const auto outputs = executable.execute(inputs);
    EXPECT_TRUE(outputs) << outputs.error().to_string();
    std::vector<Values> all;
    for (std::size_t d = 0; outputs && d < outputs->size(); ++d) {
      const auto host = outputs->at(d).at(0).to_host();
      EXPECT_TRUE(host) << host.error().to_string();
      if (host) all.push_back(values_of<float>(*host));
    }
    return all;
  }

  // Compiles for the first devices, loads on the last ones backwards, and expects the same of both.
  static void check(const std::string& text, bool partitions, int width,
                    const std::function<Values(int)>& expected) {
    const std::vector<std::int64_t> ids = device_ids();
    if (static_cast<int>(ids.size()) < count()) GTEST_SKIP() << "the client has too few devices";
    const std::vector<std::int64_t> first(ids.begin(), ids.begin() + count());
    const std::vector<std::int64_t> last(ids.rbegin(), ids.rbegin() + count());
    const auto options = [&](const std::vector<std::int64_t>& place) {
      if (!partitions) return replicas_on(place);
      CompileOptions spmd;
      spmd.set_partitions(count());
      spmd.set_use_spmd(true);
      spmd.set_assignment(DeviceAssignment{1, count(), place});
      return spmd;
    };
    const auto executable = client().compile(program(text), options(first));
    PRECAST_ASSERT_OK(executable);
    std::vector<Values> wanted;
    for (int d = 0; d < count(); ++d) wanted.push_back(expected(d));
    EXPECT_EQ(results(*executable, first, width), wanted);
    const auto bytes = executable->serialize();
    PRECAST_ASSERT_OK(bytes);
    const auto loaded = pjrt::deserialize_and_load(client(), *bytes, options(last).serialized());
    PRECAST_ASSERT_OK(loaded);
    EXPECT_EQ(loaded->device_ids(), last);
    EXPECT_EQ(results(*loaded, last, width), wanted);
  }
};

TEST_P(CollectiveConformance, AllReduce) {
  PRECAST_SKIP_IF_LACKING("programs");
  check(all_reduce(count()), false, 4, [](int) {
    const auto n = static_cast<float>(count());
    const float tens = 10 * n * (n - 1) / 2;
    return Values{tens, tens + n, tens + 2 * n, tens + 3 * n};
  });
}

TEST_P(CollectiveConformance, AllGather) {
  PRECAST_SKIP_IF_LACKING("programs");
  check(all_gather(count()), false, 4, [](int) {
    Values all;
    for (int i = 0; i < 4 * count(); ++i) all.push_back(static_cast<float>(10 * (i / 4) + i % 4));
    return all;
  });
}

TEST_P(CollectiveConformance, ReduceScatter) {
  PRECAST_SKIP_IF_LACKING("programs");
  check(reduce_scatter(count()), false, 4, [](int d) {
    const int width = 4 / count();
    Values part;
    for (int i = d * width; i < (d + 1) * width; ++i) {
      part.push_back(static_cast<float>(10 * count() * (count() - 1) / 2 + i * count()));
    }
    return part;
  });
}

TEST_P(CollectiveConformance, CollectivePermute) {
  PRECAST_SKIP_IF_LACKING("programs");
  check(permute(count()), false, 4, [](int d) {
    const auto from = static_cast<float>(10 * ((d + count() - 1) % count()));
    return Values{from, from + 1, from + 2, from + 3};
  });
}

TEST_P(CollectiveConformance, PartitionsThatTheCompilerJoins) {
  PRECAST_SKIP_IF_LACKING("programs");
  check(partitioned_sum(count()), true, 8 / count(), [](int) {
    const int width = 8 / count();
    const int sum = 10 * width * count() * (count() - 1) / 2 + count() * width * (width - 1) / 2;
    return Values{static_cast<float>(sum)};
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, CollectiveConformance, ::testing::Values(2, 4));

}  // namespace
}  // namespace precast::conformance
