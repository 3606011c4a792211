#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/recipes/mixture_views.hpp>
#include <holotone/recipes/mixtures.hpp>

namespace holotone {
namespace {

/// Rows of an epipolar-plane image without a size.
constexpr std::int64_t epipolar_rows = 120;

/// Position of number i of `count` on its line, from 0 to 1.
double share_on_line(std::int64_t i, std::int64_t count) {
  return count == 1 ? 0.5 : static_cast<double>(i) / static_cast<double>(count - 1);
}

}  // namespace

SmoeView mixture_view(const SmoeModel& model, const MixtureViewOptions& options) {
  SmoeView view;
  view.at = view_position(model, options.at);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    view.corner[axis] = options.crop ? (*options.crop)[axis] : model.low[axis];
    view.extent[axis] = options.crop ? (*options.crop)[2 + axis] : model.high[axis] - model.low[axis];
  }
  if (options.epipolar_y) {
    view.corner[1] = *options.epipolar_y;
    view.extent[1] = 1;
  }
  view.size = options.size;
  if (element_count(options.size) != 0) return view;
  constexpr double largest_side = 65536;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (!(view.extent[axis] <= largest_side)) {
      throw_argument("mixture_view", "size", fmt::format("to be given for more than {:g} pixels a side", largest_side),
                     fmt::format("'{:g} x {:g} without it'", view.extent[0], view.extent[1]));
    }
    view.size[1 - axis] = static_cast<std::int64_t>(std::max(view.extent[axis] + 0.5, 1.0));
  }
  if (options.epipolar_y) view.size[0] = epipolar_rows;
  return view;
}

Array<float, 3> render_mixture(SmoeRenderer& renderer, const SmoeView& view,
                               const std::optional<SmoeAperture>& aperture, Device device, Progress& progress) {
  const Shape<3> shape{view.size[0], view.size[1], renderer.model().channels};
  if (aperture) {
    Array<float, 3> image(shape);
    render_aperture(renderer, view, *aperture, image.view(), device, progress);
    return image;
  }
  Array<float, 3> image(shape, device);
  renderer.render(view, image.view(), progress);
  if (device == Device{}) return image;
  return image.to(Device{});
}

Array<float, 3> epipolar_image(SmoeRenderer& renderer, const SmoeView& view, double first, double last, Device device,
                               Progress& progress) {
  if (view.at.empty()) throw_argument("epipolar_image", "view", "a view of a light field", "one without a position");
  const auto [ny, nx] = view.size;
  const std::int64_t channels = renderer.model().channels;
  Array<float, 3> image({ny, nx, channels});
  constexpr std::int64_t at_once = 32;
  for (std::int64_t begin = 0; begin < ny; begin += at_once) {
    progress.step("rendering", begin, ny);
    std::vector<SmoeView> rows(static_cast<std::size_t>(std::min(at_once, ny - begin)), view);
    for (std::int64_t i = 0; i < std::ssize(rows); ++i) {
      rows[static_cast<std::size_t>(i)].size = {1, nx};
      rows[static_cast<std::size_t>(i)].at[0] = std::lerp(first, last, share_on_line(begin + i, ny));
    }
    Array<float, 4> colours({std::ssize(rows), 1, nx, channels}, device);
    renderer.render(rows, colours.view());
    const auto host = colours.to(Device{});
    std::copy_n(host.data(), host.size(), image.data() + begin * nx * channels);
  }
  return image;
}

std::vector<std::vector<double>> positions_on_line(const std::vector<double>& first, const std::vector<double>& last,
                                                   std::int64_t count) {
  constexpr std::string_view where = "positions_on_line";
  if (count < 1) throw_argument(where, "count", "1 or more", fmt::format("{}", count));
  if (first.size() != last.size()) throw_argument(where, "last", "a position as `first`", "another number of them");
  std::vector<std::vector<double>> positions(static_cast<std::size_t>(count), first);
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::size_t axis = 0; axis < first.size(); ++axis) {
      positions[static_cast<std::size_t>(i)][axis] = std::lerp(first[axis], last[axis], share_on_line(i, count));
    }
  }
  return positions;
}

}  // namespace holotone
