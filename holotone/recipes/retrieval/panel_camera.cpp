#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/optics/half_pixel.hpp>
#include <holotone/recipes/retrieval/panel_camera.hpp>
#include <holotone/recipes/retrieval/panel_light.hpp>
#include <utility>

namespace holotone {
namespace {

/// Positions of a picture with twice the samples along each axis.
void take_fine_picture(View<float, 3> light, const Array<float, 2>& picture) {
  const auto [positions, ny, nx] = light.shape();
  for (std::int64_t position = 0; position < positions; ++position) {
    const auto [down, right] = half_pixels[static_cast<std::size_t>(position)];
    for (std::int64_t row = 0; row < ny; ++row) {
      for (std::int64_t column = 0; column < nx; ++column) {
        light(position, row, column) = picture(2 * row + down, 2 * column + right);
      }
    }
  }
}

/// Adds the difference of a picture from the simulated light at the samples to that light at all positions. Between
/// the samples the camera is blind: a loss at the samples alone would leave the light there to chance.
void take_picture(View<float, 3> light, const Array<float, 2>& picture) {
  const auto [positions, ny, nx] = light.shape();
  const std::int64_t pixels = ny * nx;
  double agreement = 0;
  double square = 0;
  for (std::int64_t i = 0; i < pixels; ++i) {
    const double simulated = light.data()[i];
    if (simulated == 0) continue;  // outside the region
    const double measured = picture.data()[i];
    agreement += simulated * measured;
    square += measured * measured;
  }
  const auto gain = static_cast<float>(square > 0 ? agreement / square : 0);
  Array<float, 2> more({ny, nx});
  Array<float, 2> less({ny, nx});
  for (std::int64_t i = 0; i < pixels; ++i) {
    const float simulated = light.data()[i];
    const float change = simulated == 0 ? 0 : gain * picture.data()[i] - simulated;
    more.data()[i] = std::max(change, 0.0F);
    less.data()[i] = std::max(-change, 0.0F);
  }
  const auto added = at_half_pixels(more.view());
  const auto taken = at_half_pixels(less.view());
  for (std::size_t position = 0; position < static_cast<std::size_t>(positions); ++position) {
    float* const values = light.data() + static_cast<std::int64_t>(position) * pixels;
    for (std::int64_t i = 0; i < pixels; ++i) {
      values[i] = std::max(0.0F, values[i] + added[position].data()[i] - taken[position].data()[i]);
    }
  }
}

}  // namespace

Array<float, 2> camera_amplitude(const std::string& path, const Image& image, int colour) {
  const auto values = to_float(image);
  const auto& [ny, nx, channels] = values.shape();
  const std::int64_t colours = channels - (channels % 2 == 0 ? 1 : 0);  // the last of 2 and 4 is alpha
  Array<float, 2> amplitude({ny, nx});
  for (std::int64_t i = 0; i < ny * nx; ++i) {
    const float* const pixel = values.data() + i * channels;
    float sum = 0;
    if (colours == 3 && colour >= 0) {
      sum = pixel[colour];
    } else {
      for (std::int64_t c = 0; c < colours; ++c) sum += pixel[c] / static_cast<float>(colours);
    }
    if (!std::isfinite(sum) || sum < 0) throw_io(path, "finite light >= 0", fmt::format("{}", sum));
    amplitude.data()[i] = std::sqrt(sum);
  }
  return amplitude;
}

RetrievalCamera make_camera(PanelCamera take, const PictureRetrievalOptions& options, const std::string& name) {
  const FieldGrid grid = options.model.grid;
  const auto look = [take = std::move(take), encoding = options.encoding, grid, name](View<const float, 2> phase_rad) {
    const auto codes = encode(phase_wave(phase_rad).view(), encoding, grid);
    auto amplitude = take(codes.view());
    if (std::ranges::all_of(amplitude.host(), [](float value) { return value == 0; })) {
      throw_io(name, "a picture with some light", "a black one");
    }
    return amplitude;
  };
  const Shape<2> fine{2 * grid.ny, 2 * grid.nx};
  const auto first = starting_phase({1, grid.ny, grid.nx}, 0.5, options.seed);
  const auto shape = look({first.data(), grid.shape()}).shape();
  if (shape != fine && shape != grid.shape()) {
    throw_io(name, fmt::format("pictures of {} x {} or {} x {} pixels", grid.nx, grid.ny, fine[1], fine[0]),
             fmt::format("{} x {}", shape[1], shape[0]));
  }
  return [look, shape, fine, name](View<const float, 3> phase, View<float, 4> amplitude) {
    const auto [planes, positions, ny, nx] = amplitude.shape();
    const auto picture = look({phase.data(), {ny, nx}});
    if (picture.shape() != shape) {
      throw_io(name, fmt::format("{} x {} pixels as before", shape[1], shape[0]),
               fmt::format("{} x {}", picture.shape()[1], picture.shape()[0]));
    }
    const View<float, 3> light(amplitude.data(), {positions, ny, nx});
    if (shape == fine) {
      take_fine_picture(light, picture);
    } else {
      take_picture(light, picture);
    }
  };
}

}  // namespace holotone
