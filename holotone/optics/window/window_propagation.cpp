#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/no_backend.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/optics/window/window_propagation.hpp>

namespace holotone::window {
namespace {

struct Range {
  double low = 0;
  double high = 0;
};

/// Range of offsets from one span to the other, including the blurred edge.
Range offsets(const Span& source, const Span& target, double margin_m) {
  const double between = target.middle_m - source.middle_m;
  const double half = target.half_m + source.half_m + margin_m;
  return {between - half, between + half};
}

double min_modulus(const Range& range) { return range.low > 0 ? range.low : range.high < 0 ? -range.high : 0; }
double max_modulus(const Range& range) { return std::max(std::abs(range.low), std::abs(range.high)); }

/// A ray with component `along` one axis, the distance along z and a component of `across` along the other has
/// frequency along / (lambda r).
Band frequencies(const Route& route, const Range& along, const Range& across, const RouteAxis& axis) {
  const double near = min_modulus(across);
  const double far = max_modulus(across);
  const auto frequency = [&](double offset, double other) {
    return offset / (route.wavelength_m * std::hypot(offset, other, route.distance_m));
  };
  Band band{frequency(along.low, along.low < 0 ? near : far), frequency(along.high, along.high > 0 ? near : far)};
  if (route.distance_m < 0) band = {-band.high, -band.low};
  band.low = std::max(band.low, axis.band_middle - axis.band_half);
  band.high = std::min(band.high, axis.band_middle + axis.band_half);
  return band;
}

double edge_margin_m(const Route& route) { return (edge_middle + edge_tail) * route.blur_m; }

}  // namespace

void set_blur(Route& route) {
  const double d = std::abs(route.distance_m);
  double squared = d * d;
  double sines = 0;  // squared, of the steepest ray
  for (const auto& axis : route.axis) {
    const double offset = max_modulus(offsets(axis.source, axis.target, 0));
    squared += offset * offset;
    sines += std::pow(route.wavelength_m * (std::abs(axis.band_middle) + axis.band_half), 2);
  }
  double ray = std::sqrt(squared);
  if (sines < 1) ray = std::min(ray, d / std::sqrt(1 - sines));
  route.blur_m = std::sqrt(route.wavelength_m * ray * ray * ray) / d;
}

Band find_band(const Route& route, int axis) {
  const auto all = [&](int i) {
    const auto& one = route.axis[static_cast<std::size_t>(i)];
    return offsets(one.source, one.target, edge_margin_m(route));
  };
  return frequencies(route, all(axis), all(1 - axis), route.axis[static_cast<std::size_t>(axis)]);
}

void complete(Route& route, std::string_view where, std::string_view argument) {
  set_blur(route);
  for (int i = 0; i < 2; ++i) {
    auto& axis = route.axis[static_cast<std::size_t>(i)];
    const Band band = find_band(route, i);
    const double width = std::max(band.high - band.low, 0.0);
    const double tile_m = static_cast<double>(axis.tile) * axis.pitch_m;
    const double window_m = 2 * axis.target.half_m + tile_m + clear_of * route.blur_m;
    const double needed = std::ceil(window_m / axis.target_pitch_m);
    if (!(needed <= static_cast<double>(largest_picture_side))) {
      throw_argument(where, argument, fmt::format("what at most {} samples a side hold", largest_picture_side),
                     fmt::format("{:.0f}: a smaller pupil, panel or picture needs fewer", needed));
    }
    axis.period = fft_friendly_size(std::max<std::int64_t>(static_cast<std::int64_t>(needed), 16));
    // Upper bound of the rate at which a ray's frequency changes with its target: that along the axis.
    const double reach = 2 * (axis.target.half_m + edge_margin_m(route)) + tile_m;
    const double most = std::min(width, reach / (route.wavelength_m * std::abs(route.distance_m))) / axis.step() + 2;
    axis.bins = std::min(axis.period, static_cast<std::int64_t>(std::ceil(most)));
    axis.length = fft_friendly_size(axis.tile + axis.bins - 1);
  }
}

TileWay way_of(const Route& route, const Shape<2>& shape, const std::array<double, 2>& first_m) {
  TileWay way;
  way.inverse_wavelength_squared = 1 / (route.wavelength_m * route.wavelength_m);
  way.distance_m = route.distance_m;
  way.blur_m = route.blur_m;
  double gain = 1;
  std::array<Range, 2> along;
  std::array<Span, 2> tile;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& axis = route.axis[i];
    tile[i].half_m = 0.5 * static_cast<double>(shape[i]) * axis.pitch_m;
    tile[i].middle_m = first_m[i] + tile[i].half_m - 0.5 * axis.pitch_m;
    along[i] = offsets(tile[i], axis.target, edge_margin_m(route));
    gain *= axis.pitch_m * axis.step();
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& axis = route.axis[i];
    TileAxis& to = way.axis[i];
    const Band band = frequencies(route, along[i], along[1 - i], axis);
    to.count = shape[i];
    to.step = axis.step();
    to.period = axis.period;
    to.first = static_cast<std::int64_t>(std::ceil(band.low / to.step));
    const auto last = static_cast<std::int64_t>(std::floor(band.high / to.step));
    to.bins = std::clamp<std::int64_t>(last - to.first + 1, 0, axis.bins);
    to.rate = 0.5 * axis.pitch_m * to.step;
    to.shift = axis.target_first_m - first_m[i];
    to.between = axis.target.middle_m - tile[i].middle_m;
    to.half = axis.target.half_m + tile[i].half_m;
  }
  way.gain = static_cast<float>(gain);
  return way;
}

Array<Complex, 1> chirp_spectrum(const RouteAxis& axis) {
  Array<Complex, 1> spectrum({axis.length});
  const double rate = 0.5 * axis.pitch_m * axis.step();
  const auto at = [&](std::int64_t j) {
    float sine = 0;
    float cosine = 0;
    sincos_turns(reduce_turns(kernel_turns(rate, j)), sine, cosine);
    return Complex(cosine, sine) / static_cast<float>(axis.length);
  };
  for (std::int64_t i = 0; i < axis.length; ++i) {
    spectrum(i) = i < axis.bins ? at(i) : i > axis.length - axis.tile ? at(i - axis.length) : Complex{};
  }
  const FftPlan fft({1, axis.length});
  fft.execute({spectrum.data(), {1, axis.length}}, FftDirection::forward);
  return spectrum;
}

EnginePointer make_engine(std::string_view where, const Route& route, const Queue& queue) {
#if HOLOTONE_OPENCL
  if (queue.device().backend == Backend::opencl) return engine_opencl(route, queue);
#endif
  return make_adjoint_engine(where, route, queue);
}

AdjointEnginePointer make_adjoint_engine(std::string_view where, const Route& route, const Queue& queue) {
  switch (queue.device().backend) {
    case Backend::cpu: return engine_cpu(route);
    case Backend::cuda:
#if HOLOTONE_CUDA
      return engine_cuda(route, queue);
#endif
    case Backend::opencl: break;
  }
  throw_no_backend(where, queue.device());
}

std::size_t engine_bytes(const Route& route, Device device) {
  const auto& [down, right] = route.axis;
  const auto product = [](std::int64_t a, std::int64_t b) { return static_cast<std::size_t>(a * b) * sizeof(Complex); };
  const std::size_t field = product(down.period, right.period);
  // cuFFT allocates as much again, for the tile in two plans; VkFFT at most as much.
  if (device.backend != Backend::cpu) return 2 * field + 3 * product(down.length, right.length);
  const std::int64_t lines = thread_count() * lines_at_once;
  return field + product(down.tile, right.bins) + product(lines, down.length + right.length);
}

}  // namespace holotone::window
