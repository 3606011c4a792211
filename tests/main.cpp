#include <cstdio>
#include <gtest/gtest.h>
#include <holotone/core/device.hpp>
#include <holotone/io/guarded/guarded.hpp>

// Lists the devices of the tests: a CUDA build without a GPU reports this here and skips its CUDA tests. A run of one
// test does not list them: opening OpenCL takes longer than most tests.
int main(int argc, char** argv) {
  if (const auto code = holotone::guarded_child(argc, argv)) return *code;
  testing::InitGoogleTest(&argc, argv);
  if (!GTEST_FLAG_GET(list_tests) && GTEST_FLAG_GET(filter) == "*") {
    for (const auto& device : holotone::devices()) {
      const auto info = holotone::describe(device);
      std::printf("device %s: %s, %d units, %s\n", holotone::to_string(device).c_str(), info.name.c_str(), info.units,
                  info.detail.c_str());
    }
  }
  return RUN_ALL_TESTS();
}
