#include <algorithm>
#include <cmath>
#include <complex>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/units.hpp>
#include <holotone/optics/contact_sheet.hpp>
#include <holotone/recipes/spot_picture.hpp>
#include <holotone/retrieval/spots/spot_waves.hpp>
#include <numbers>

namespace holotone {
namespace {

constexpr const char* where = "light_in_focal_plane";

/// One axis: conj(e) {panel, picture} and the shade of a pixel's aperture along it. `first`: of the picture, in cycles
/// a pixel of the panel, `step` from pixel to pixel.
struct Axis {
  Array<Complex, 2> wave;

  Axis(std::int64_t panel, std::int64_t picture, double first, double step, double side) : wave({panel, picture}) {
    for (std::int64_t i = 0; i < panel; ++i) {
      const double at = static_cast<double>(i) - 0.5 * static_cast<double>(panel - 1);
      for (std::int64_t k = 0; k < picture; ++k) {
        const double cycles = first + step * static_cast<double>(k);
        const double turns = at * cycles;
        wave(i, k) =
            Complex(std::polar(spots::sinc(side * cycles), -2 * std::numbers::pi * (turns - std::round(turns))));
      }
    }
  }
};

void add_scaled(Complex factor, const Complex* from, Complex* to, std::int64_t count) {
  const float re = factor.real();
  const float im = factor.imag();
  const auto* const in = reinterpret_cast<const float*>(from);
  auto* const out = reinterpret_cast<float*>(to);
  for (std::int64_t i = 0; i < count; ++i) {
    out[2 * i] += re * in[2 * i] - im * in[2 * i + 1];
    out[2 * i + 1] += re * in[2 * i + 1] + im * in[2 * i];
  }
}

/// 1, 2 or 5 times a power of ten, at most `most`.
double round_length(double most) {
  const double power = std::pow(10.0, std::floor(std::log10(most) + 1e-9));
  for (const double digit : {5.0, 2.0}) {
    if (digit * power <= most * (1 + 1e-9)) return digit * power;
  }
  return power;
}

}  // namespace

Array<float, 2> light_in_focal_plane(View<const float, 2> phase_rad, const SpotOptions& options,
                                     std::array<double, 2> centre_m, double pixel_m, Shape<2> picture_shape,
                                     View<const Complex, 2> light) {
  const auto& grid = options.grid;
  require_grid(where, grid);
  require_bounds(where, "focal_length_m", options.focal_length_m, bounds_of<&SpotOptions::focal_length_m>);
  if (!(pixel_m > 0 && std::isfinite(pixel_m))) throw_argument(where, "pixel_m", "> 0", fmt::format("{:g}", pixel_m));
  if (phase_rad.shape() != grid.shape()) {
    throw_argument(where, "phase_rad", to_string<2>(grid.shape()), to_string<2>(phase_rad.shape()));
  }
  if (light.data() != nullptr && light.shape() != grid.shape()) {
    throw_argument(where, "light", to_string<2>(grid.shape()), to_string<2>(light.shape()));
  }
  const std::int64_t rows = picture_shape[0];
  const std::int64_t columns = picture_shape[1];
  if (rows < 1 || columns < 1) throw_argument(where, "picture_shape", "at least 1 x 1", to_string<2>(picture_shape));
  const double per_m = grid.pitch_m / (grid.wavelength_m * options.focal_length_m);
  const double step = pixel_m * per_m;
  const double side = std::sqrt(options.response.fill_factor);
  const auto first = [&](double centre, std::int64_t count) {
    return centre * per_m - 0.5 * step * static_cast<double>(count - 1);
  };
  const Axis x(grid.nx, columns, first(centre_m[0], columns), step, side);
  // Rows of panel and picture run down, y up: two changes of sign.
  const Axis y(grid.ny, rows, first(-centre_m[1], rows), step, side);
  const auto unmodulated = Complex(std::polar(options.response.zero_order, options.zero_order_phase_rad));
  double lone = static_cast<double>(grid.nx) * static_cast<double>(grid.ny);  // of a spot that has all light
  if (light.data() != nullptr) {
    lone = 0;
    for (std::int64_t i = 0; i < light.size(); ++i) lone += static_cast<double>(std::abs(light.data()[i]));
  }
  const double scale = 1 / (lone * std::hypot(1, options.response.zero_order));
  Array<Complex, 2> across({grid.ny, columns});
  parallel_for(0, grid.ny, [&](std::int64_t row) {
    std::fill_n(&across(row, 0), columns, Complex());
    for (std::int64_t column = 0; column < grid.nx; ++column) {
      auto wave = std::polar(1.0F, phase_rad(row, column)) + unmodulated;
      if (light.data() != nullptr) wave *= light(row, column);
      add_scaled(wave, &x.wave(column, 0), &across(row, 0), columns);
    }
  });
  Array<float, 2> intensity(picture_shape);
  parallel_for(0, rows, [&](std::int64_t row) {
    std::vector<Complex> sum(static_cast<std::size_t>(columns));
    for (std::int64_t down = 0; down < grid.ny; ++down) {
      add_scaled(y.wave(down, row), &across(down, 0), sum.data(), columns);
    }
    for (std::int64_t column = 0; column < columns; ++column) {
      intensity(row, column) =
          static_cast<float>(scale * scale * static_cast<double>(std::norm(sum[static_cast<std::size_t>(column)])));
    }
  });
  return intensity;
}

namespace {

/// What a picture of spots shows of the focal plane.
struct DrawnPlane {
  double width_m = 0;  ///< of a spot, the smaller one
  std::array<double, 2> centre_m{};
  std::array<double, 2> extent_m{};
};

DrawnPlane drawn_plane(const SpotList& spots, const SpotOptions& options, View<const Complex, 2> light) {
  constexpr double max_widths = 1000;
  constexpr double margin_widths = 4;
  if (spots.position_m.empty()) throw_argument("draw_spots", "spots", "at least 1", "0");
  const auto width_m = spot_width_m(options, light);
  const double width = std::min(width_m[0], width_m[1]);
  DrawnPlane plane{width, {}, {}};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const auto along = [axis](const std::array<float, 3>& place) { return place[axis]; };
    const auto [low, high] = std::ranges::minmax(spots.position_m, {}, along);
    plane.centre_m[axis] = 0.5 * (static_cast<double>(low[axis]) + static_cast<double>(high[axis]));
    const double span_m = static_cast<double>(high[axis]) - static_cast<double>(low[axis]);
    if (span_m > max_widths * width) {
      throw_argument("draw_spots", "spots", fmt::format("within {:g} widths of {}", max_widths, format_length(width)),
                     format_length(span_m));
    }
    plane.extent_m[axis] = 1.1 * span_m + 2 * margin_widths * width_m[axis];
  }
  return plane;
}

}  // namespace

void require_drawable(const SpotList& spots, const SpotOptions& options, View<const Complex, 2> light) {
  (void)drawn_plane(spots, options, light);
}

Array<std::uint8_t, 2> draw_spots(const SpotList& spots, View<const float, 2> phase_rad, const SpotOptions& options,
                                  View<const Complex, 2> light) {
  constexpr std::int64_t side = 640;
  const auto [width, centre_m, extent_m] = drawn_plane(spots, options, light);
  const double longest_m = std::max(extent_m[0], extent_m[1]);
  // Two samples a width at least, or spots fall between them.
  const auto samples = std::max(side, static_cast<std::int64_t>(std::ceil(2 * longest_m / width)));
  const double pixel_m = longest_m / static_cast<double>(samples);
  const auto count = [&](double length_m, double unit_m) {
    return std::max<std::int64_t>(1, std::llround(length_m / unit_m));
  };
  const auto fine = light_in_focal_plane(phase_rad, options, centre_m, pixel_m,
                                         {count(extent_m[1], pixel_m), count(extent_m[0], pixel_m)}, light);
  const double shown_m = longest_m / static_cast<double>(side);
  auto picture = area_average(fine.view(), {count(extent_m[1], shown_m), count(extent_m[0], shown_m)});
  const auto [rows, columns] = picture.shape();
  const float white = std::max(0.7F * *std::ranges::max_element(picture.host()), 1e-30F);
  const double bar_m = round_length(0.3 * static_cast<double>(columns) * shown_m);
  const auto bar = std::max<std::int64_t>(1, std::llround(bar_m / shown_m));
  const std::int64_t edge = std::min<std::int64_t>(12, (columns - bar) / 2);
  for (std::int64_t row = std::max<std::int64_t>(0, rows - 12); row < std::max<std::int64_t>(1, rows - 8); ++row) {
    std::fill_n(&picture(row, edge), bar, white);
  }
  const std::array<View<const float, 2>, 1> one{picture.view()};
  return contact_sheet(one, {.columns = 1,
                             .tile_width = side,
                             .captions = {fmt::format("bar {}", format_length(bar_m))},
                             .tone = {.reference = white}});
}

}  // namespace holotone
