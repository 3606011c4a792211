// A print larger than memory: the hologram of three points by bands of rows, on all devices, in a file that a stopped
// run resumes. Writes print.npy, the complex field, and prints its speed.
#include <cstdio>
#include <holotone/core/error.hpp>
#include <holotone/recipes/prints.hpp>

int main() try {
  using namespace holotone;
  PointCloud cloud;
  cloud.position = {{-2e-4F, 0, -0.02F}, {0, 1e-4F, -0.025F}, {2e-4F, 0, -0.03F}};
  cloud.amplitude = {1, 1, 1};
  const PointPrint print{.output = "print.npy",
                         .sum = {.wavelength_m = 532e-9, .pitch_m = 1e-6, .shape = {1536, 2048}}};

  // All devices of the fastest backend. Whichever is free takes the next band.
  PrintOptions options{.devices = {}, .rows_at_once = 256};
  const auto all = devices();
  for (const Device device : all) {
    if (device.backend == all.back().backend) options.devices.push_back(device);
  }
  const auto made = print_points(cloud, {print}, options).front();
  std::printf("%s: %lld bands, %lld rows resumed, %.3g megapixels a second on %zu devices\n", print.output.c_str(),
              static_cast<long long>(made.bands), static_cast<long long>(made.resumed_rows),
              static_cast<double>(made.rates.pixels) / 1e6 / made.seconds, options.devices.size());
  return 0;
} catch (const holotone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
