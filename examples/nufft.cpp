// A non-uniform FFT: points of a plane and their strengths to modes (type 1), modes to values at points (type 2), on
// the first GPU if there is one. One plan computes both. The sum at one mode is checked directly.
#include <cmath>
#include <complex>
#include <cstdio>
#include <holotone/core/error.hpp>
#include <holotone/nufft/nufft.hpp>
#include <numbers>

int main() try {
  using namespace holotone;
  using Complex = std::complex<float>;
  constexpr std::int64_t count = 5000;
  constexpr Shape<2> shape{64, 96};  // modes along y, along x

  Array<float, 2> points({count, 2});  // x, y in periods, modulo one
  Array<Complex, 1> strengths({count});
  for (std::int64_t j = 0; j < count; ++j) {
    const float turn = 0.618034F * static_cast<float>(j);
    points(j, 0) = 0.3F * std::cos(6.2831853F * turn) * std::sqrt(static_cast<float>(j) / count);
    points(j, 1) = 0.3F * std::sin(6.2831853F * turn) * std::sqrt(static_cast<float>(j) / count);
    strengths(j) = {1, 0.001F * static_cast<float>(j)};
  }

  const Queue queue = Queue::create(parse_device("auto"));
  NufftPlan<float, 2> plan(shape, queue, {.tolerance = 1e-4});
  const auto own_points = points.to(queue.device());
  const auto own_strengths = strengths.to(queue.device());
  Array<Complex, 2> modes(shape, queue);
  plan.set_points(own_points.view());
  plan.type1(own_strengths.view(), modes.view());

  const auto sums = modes.to(Device{});
  const int kx = 7;
  const int ky = -3;
  std::complex<double> expected = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    const double turns = kx * double{points(j, 0)} + ky * double{points(j, 1)};
    expected += std::complex<double>(strengths(j)) * std::polar(1.0, -2 * std::numbers::pi * turns);
  }
  const auto got = std::complex<double>(sums(ky + shape[0] / 2, kx + shape[1] / 2));
  std::printf("%s: F[%d, %d] = %.4f%+.4fi, by hand %.4f%+.4fi\n", to_string(queue.device()).c_str(), kx, ky, got.real(),
              got.imag(), expected.real(), expected.imag());

  // Type 2, with the gradient of the sum at each point.
  Array<Complex, 1> values({count}, queue);
  Array<Complex, 2> slopes({count, 2}, queue);
  plan.type2(modes.view(), values.view(), slopes.view());
  queue.synchronize();

  const auto info = plan.info();
  std::printf("windows of %d x %d nodes on a grid of %lld x %lld, error expected %.1e\n", info.width, info.width,
              static_cast<long long>(info.grid[0]), static_cast<long long>(info.grid[1]), info.expected_error);
  return std::abs(got - expected) < 1e-3 * std::sqrt(static_cast<double>(count)) * 5 ? 0 : 1;
} catch (const holotone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
