#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/viewing/lens_view.hpp>
#include <utility>

namespace holotone {
namespace {

constexpr const char* key = "focal_length_m";

/// Samples of one axis around a position. The intensity has the period of a diffraction order, `count` samples.
struct Between {
  std::int64_t first = 0;
  std::int64_t second = 0;
  float part = 0;  ///< of the second

  Between(double position, std::int64_t count) {
    const double whole = std::floor(position);
    part = static_cast<float>(position - whole);
    first = (static_cast<std::int64_t>(whole) % count + count) % count;
    second = (first + 1) % count;
  }
};

void require_possible(const ViewingOptions& options, const std::string& path) {
  constexpr std::string_view where = "open_hologram";
  if (options.aperture) throw_argument(where, "aperture", "a hologram without the focal_length_m of a lens", path);
  if (options.method == PropagationMethod::angular_spectrum) {
    throw_argument(where, "method", "auto or fresnel for the focal plane of a lens", "angular-spectrum");
  }
}

}  // namespace

double focal_length_of(const HologramLight& light) { return *checked_number(light.path, light.metadata, key); }

LensView::LensView(const HologramViewOptions& options, std::vector<HologramLight> lights)
    : HologramView(options.viewing), lights_(std::move(lights)) {
  const std::string path = lights_.front().path;
  require_possible(options_, path);
  const double focal_length_m = focal_length_of(lights_.front());
  double wavelength_m = lights_.front().grid.wavelength_m;
  std::vector<double> factors;
  for (auto& light : lights_) {
    if (checked_number(light.path, light.metadata, key) != focal_length_m) {
      throw_io(light.path, fmt::format("the {} of {}", key, path), "another or none");
    }
    if (!light.metadata.contains("distance_m")) set_metadata(light.metadata, "distance_m", 0.0);
    wavelength_m = std::min(wavelength_m, light.grid.wavelength_m);
    const double factor = expose(light, lights_.size() == 3);
    factors.push_back(factor);
    channels_.push_back({FourierLensPlan({light.grid, focal_length_m}), factor});
  }
  unit_ = common_unit(factors);
  describe(lights_.front());
  const std::int64_t side = std::max(grid_.nx, grid_.ny);
  grid_.pitch_m = wavelength_m * focal_length_m / (grid_.pitch_m * static_cast<double>(side));
  grid_.nx = side;
  grid_.ny = side;
}

/// Bilinear interpolation to the pixels of all channels. Their square is one order of the shortest wavelength.
Array<float, 2> LensView::squared_pixels(const Channel& channel, const Array<float, 2>& intensity) const {
  const auto& [grid, focal_length_m] = channel.plan.options();
  const double order_m = grid.wavelength_m * focal_length_m / grid.pitch_m;
  const auto places = [&](std::int64_t count, std::int64_t target) {
    const double step = grid_.pitch_m * static_cast<double>(count) / order_m;
    std::vector<Between> all;
    for (std::int64_t i = 0; i < target; ++i) {
      const double middle = static_cast<double>(i) - static_cast<double>(target - 1) / 2;
      // Rounding must not turn a sample into a mean of two.
      const double position = std::round((middle * step + static_cast<double>(count - 1) / 2) * 1e9) / 1e9;
      all.emplace_back(position, count);
    }
    return all;
  };
  const auto rows = places(grid.ny, grid_.ny);
  const auto columns = places(grid.nx, grid_.nx);
  Array<float, 2> result(grid_.shape());
  const auto factor = static_cast<float>(channel.factor / unit_);
  parallel_for(0, grid_.ny, [&](std::int64_t row) {
    const Between& y = rows[static_cast<std::size_t>(row)];
    for (std::int64_t column = 0; column < grid_.nx; ++column) {
      const Between& x = columns[static_cast<std::size_t>(column)];
      const auto along = [&](std::int64_t at) {
        return (1 - x.part) * intensity(at, x.first) + x.part * intensity(at, x.second);
      };
      result(row, column) = factor * ((1 - y.part) * along(y.first) + y.part * along(y.second));
    }
  });
  return result;
}

LightPicture LensView::picture(double distance_m, std::size_t /*frame*/, Progress& /*progress*/) {
  LightPicture picture;
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    const auto& field = lights_[c].field;
    Array<float, 2> intensity(field.shape());
    with_option_names(
        [&] { channels_[c].plan.execute_intensity(field.view(), intensity.view(), {.defocus_m = distance_m}); });
    picture.channels.push_back(squared_pixels(channels_[c], intensity));
  }
  return picture;
}

}  // namespace holotone
