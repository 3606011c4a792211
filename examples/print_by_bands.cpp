// A print larger than memory: the hologram of three points by bands of rows, on all devices, in a file that a stopped
// run resumes. Writes print.npy, 8-bit phase codes.
#include <cstdio>
#include <holotone/bands/bands_run.hpp>
#include <holotone/core/error.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <list>

int main() try {
  using namespace holotone;
  const PointCloudOptions options{.wavelength_m = 532e-9, .pitch_m = 1e-6, .shape = {1536, 2048}};
  constexpr std::int64_t rows_at_once = 256;
  const float position_m[3][3] = {{-2e-4F, 0, -0.02F}, {0, 1e-4F, -0.025F}, {2e-4F, 0, -0.03F}};
  const float amplitude[3] = {1, 1, 1};

  // A queue and a plan for each device of the fastest backend. Whichever is free takes the next band.
  std::vector<Queue> queues;
  std::list<PointCloudPlan> plans;
  const auto all = devices();
  for (const Device device : all) {
    if (device.backend != all.back().backend) continue;
    queues.push_back(Queue::create(device));
    plans.emplace_back(options, queues.back(), rows_at_once)
        .set_points({.position_m = View<const float, 2>(&position_m[0][0], {3, 3}),
                     .amplitude = View<const float, 1>(amplitude, {3})});
  }

  // The key says what the rows depend on: a run of the same key resumes the rows of one that was stopped.
  BandsRun<std::uint8_t> run({.output = "print.npy",
                              .shape = options.shape,
                              .key = "three points, 532 nm, 1 um, " + to_string(queues.front().device()),
                              .rows_at_once = rows_at_once,
                              .stage = "summing points"},
                             {}, Progress::none());
  run.write(queues, [&](std::size_t device, std::int64_t first_row, View<std::uint8_t, 2> codes, Progress& progress) {
    std::next(plans.begin(), static_cast<std::ptrdiff_t>(device))
        ->execute({first_row, codes.shape()[0]}, {.phase = codes}, progress);
  });
  run.finish();
  std::printf("print.npy: %lld rows resumed, %.3g megapixels a second on %zu devices\n",
              static_cast<long long>(run.resumed()),
              static_cast<double>(run.rates().pixels) / 1e6 / run.rates().seconds, queues.size());
  return 0;
} catch (const holotone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
