// Kernels of error diffusion: the wavefront of given taps, and compilation of every kind. Needs no GPU.
#include <gtest/gtest.h>
#include <holotone/quantize/error_diffusion_pattern.hpp>
#if HOLOTONE_CUDA
#include <filesystem>
#include <fstream>
#include <holotone/quantize/error_diffusion_kernel_cuda.hpp>
#include <tests/support/on_each_device.hpp>
#include <unistd.h>
#endif

namespace holotone::diffusion {
namespace {

TEST(ErrorDiffusionKernel, RowsAreAsFarApartAsTapsAsk) {
  // Floyd-Steinberg in the order of sums.
  const std::vector<DiffusionTap> taps = {{1, 1}, {0, 1}, {-1, 1}, {1, 0}};
  const auto soon = WavefrontPattern::of(taps, 1);
  EXPECT_EQ(soon.lag, 2);
  ASSERT_EQ(soon.rows.size(), 1u);
  EXPECT_EQ(soon.rows[0].delay, 1);
  EXPECT_TRUE(soon.rows[0].early);
  const auto late = WavefrontPattern::of(taps, 2);
  EXPECT_EQ(late.lag, 3);
  EXPECT_EQ(late.rows[0].delay, 2);
  EXPECT_FALSE(late.rows[0].early);
  EXPECT_EQ(late.slots, 3);
  EXPECT_EQ(late.above, 1);
  EXPECT_EQ(late.ring, 1);
}

TEST(ErrorDiffusionKernel, EveryErrorIsThereWhenItIsUsed) {
  const std::vector<std::vector<DiffusionTap>> patterns = {
      {{0, 7}}, {{24, 0}, {1, 0}}, {{20, 4}, {-11, 4}, {0, 2}, {5, 1}, {2, 0}}, {{-24, 12}, {-9, 1}}};
  for (const auto& taps : patterns) {
    for (const int delay : {1, 2}) {
      const auto pattern = WavefrontPattern::of(taps, delay);
      for (const auto& tap : pattern.above_taps) {
        const auto& row = pattern.rows[static_cast<std::size_t>(tap.row)];
        const auto& values = taps[static_cast<std::size_t>(tap.weight)];
        EXPECT_GE(row.delay, row.early ? 1 : 2);
        // An error arrives `delay` steps after it was computed and is used `slot` steps later, at the pixel that
        // collects it.
        EXPECT_EQ(row.delay + tap.slot, values.dy * pattern.lag + values.dx);
        EXPECT_LT(tap.slot, pattern.slots);
        EXPECT_LE(row.delay, pattern.history * WavefrontPattern::block);
      }
    }
  }
}

#if HOLOTONE_CUDA

constexpr std::int64_t shared_bytes = 227 * 1024;  // per block on Hopper

Job make_job(std::vector<DiffusionTap> taps, Modulation modulation, int bits) {
  const std::size_t levels = std::size_t{1} << bits;
  const auto count = std::ssize(taps);
  Levels kernel_levels{
      modulation, static_cast<float>(levels), std::vector<float>(levels), std::vector<float>(levels), {}, {}, false, 1,
      0};
  DiffusionWeights weights{std::move(taps), Array<float, 2>({1, count})};
  return {{4096, 4096}, 256, {16, 16}, std::move(weights), std::move(kernel_levels), false, {16, 16}};
}

TEST(ErrorDiffusionKernel, EveryKindCompiles) {
  for (const auto modulation : {Modulation::phase, Modulation::amplitude}) {
    for (const bool table : {false, true}) {
      auto job = make_job({{1, 1}, {0, 1}, {-1, 1}, {1, 0}}, modulation, 3);
      if (table) job.levels.boundary = {0.5F};
      job.levels.line = table && modulation == Modulation::phase;
      job.set_side = table ? 64 : 0;
      for (const bool scaled : {false, true}) {
        const auto source = WavefrontKernel::of(job, shared_bytes).source(job, scaled, !scaled);
        EXPECT_GT(cuda::compile(source, 90).size(), 1000u);
      }
    }
  }
  const auto truncated = make_job({}, Modulation::phase, 8);
  EXPECT_GT(cuda::compile(WavefrontKernel::of(truncated, shared_bytes).source(truncated, false, true), 90).size(),
            1000u);
}

TEST(ErrorDiffusionKernel, SmallHogelsCannotCarry) {
  auto job = make_job({{20, 4}, {-11, 4}, {0, 2}, {5, 1}, {2, 0}}, Modulation::phase, 8);
  job.set_side = 64;
  const auto pattern = WavefrontKernel::of(job, shared_bytes).pattern;
  job.set_side = pattern.block + pattern.slots - 1;
  support::expect_error(ErrorCode::unsupported, "hogel_px: expected at least",
                        [&] { (void)WavefrontKernel::of(job, shared_bytes); });
}

TEST(ErrorDiffusionKernel, FitsIntoAnyDevicesMemory) {
  const auto job = make_job({{20, 4}, {-11, 4}, {0, 2}, {5, 1}, {2, 0}}, Modulation::phase, 8);
  for (const std::int64_t most : {227, 163, 99, 48}) {
    const auto kernel = WavefrontKernel::of(job, most * 1024);
    EXPECT_LE(kernel.shared_bytes(), most * 1024);
    EXPECT_GE(kernel.warps, 1);
  }
  EXPECT_GT(WavefrontKernel::of(job, shared_bytes).warps, WavefrontKernel::of(job, 48 * 1024).warps);
  support::expect_error(ErrorCode::unsupported, "shared memory", [&] { (void)WavefrontKernel::of(job, 4096); });
}

TEST(ErrorDiffusionKernel, MachineCodeIsKept) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("holotone_kernels_" + std::to_string(::getpid()));
  const auto job = make_job({{1, 0}}, Modulation::phase, 2);
  const auto source = WavefrontKernel::of(job, shared_bytes).source(job, false, true);
  const auto code = cuda::compile(source, 90, folder.string());
  ASSERT_FALSE(fs::is_empty(folder));
  const fs::path file = fs::directory_iterator(folder)->path();
  const auto made = fs::last_write_time(file);
  EXPECT_EQ(cuda::compile(source, 90, folder.string()), code);
  EXPECT_EQ(fs::last_write_time(file), made);  // read, not written again
  // A damaged file is recompiled.
  for (const bool cut : {true, false}) {
    if (cut) {
      fs::resize_file(file, 100);
    } else {
      std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(-1, std::ios::end).put('x');
    }
    EXPECT_EQ(cuda::compile(source, 90, folder.string()), code);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  fs::remove_all(folder);
  // A folder that cannot be created is no error.
  EXPECT_EQ(cuda::compile(source, 90, "/dev/null/none"), code);
  support::expect_error(ErrorCode::device, "identifier", [] {
    (void)cuda::compile({"bad", "int x = y;", {}, {}}, 90);
  });
}

#endif

}  // namespace
}  // namespace holotone::diffusion
