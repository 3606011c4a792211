#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/colour.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/smoe/aperture.hpp>

namespace holotone {
namespace {

/// The views of an aperture, row by row of its grid.
std::vector<SmoeView> make_views(const SmoeView& view, const SmoeAperture& aperture) {
  const int across = aperture.views_across;
  const int down = view.at.size() > 1 ? across : 1;
  // Centres of the cells of a grid over the aperture's square.
  const auto offset = [&](int i, int count) { return count == 1 ? 0 : ((i + 0.5) / count - 0.5) * aperture.diameter; };
  std::vector<SmoeView> views;
  for (int j = 0; j < down; ++j) {
    for (int i = 0; i < across; ++i) {
      const double du = offset(i, across);
      const double dv = offset(j, down);
      if (std::hypot(du, dv) > aperture.diameter / 2) continue;
      SmoeView one = view;
      one.at[0] += du;
      if (one.at.size() > 1) one.at[1] += dv;
      one.corner[0] += aperture.disparity_px * du;
      one.corner[1] += aperture.disparity_px * dv;
      views.push_back(std::move(one));
    }
  }
  return views;
}

/// Adds the light of pictures {n, ny, nx, channels} to `sum`.
void add_light(const Array<float, 4>& pictures, bool codes, View<float, 3> sum) {
  const std::int64_t channels = sum.shape()[2];
  const std::int64_t colours = channels == 2 || channels == 4 ? channels - 1 : channels;
  parallel_blocks(sum.size(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = 0; p < pictures.shape()[0]; ++p) {
      const float* const from = pictures.data() + p * sum.size();
      for (std::int64_t i = begin; i < end; ++i) {
        const bool converts = codes && i % channels < colours;
        sum.data()[i] +=
            converts ? static_cast<float>(srgb_to_linear(static_cast<double>(std::max(from[i], 0.0F)))) : from[i];
      }
    }
  });
}

}  // namespace

void render_aperture(SmoeRenderer& renderer, const SmoeView& view, const SmoeAperture& aperture, View<float, 3> image,
                     Device device, Progress& progress) {
  constexpr std::string_view where = "render_aperture";
  const SmoeModel& model = renderer.model();
  require_bounds(where, "aperture.diameter", aperture.diameter, bounds_of<&SmoeAperture::diameter>);
  require_bounds(where, "aperture.views_across", aperture.views_across, bounds_of<&SmoeAperture::views_across>);
  require_bounds(where, "aperture.disparity_px", aperture.disparity_px, bounds_of<&SmoeAperture::disparity_px>);
  if (model.dimensions < 3) {
    throw_argument(where, "model", "a light field", fmt::format("{} dimensions", model.dimensions));
  }
  require_view(where, "image", image, {view.size[0], view.size[1], model.channels}, Device{});
  SmoeView whole = view;
  if (whole.extent == std::array{0.0, 0.0}) {
    whole.corner = {model.low[0], model.low[1]};
    whole.extent = {model.high[0] - model.low[0], model.high[1] - model.low[1]};
  }
  if (whole.at.size() != static_cast<std::size_t>(model.dimensions - 2)) {
    throw_argument(where, "view.at", fmt::format("{} coordinates", model.dimensions - 2),
                   std::to_string(whole.at.size()));
  }
  const auto views = make_views(whole, aperture);
  constexpr std::size_t at_once = 8;
  std::fill_n(image.data(), image.size(), 0.0F);
  for (std::size_t first = 0; first < views.size(); first += at_once) {
    progress.step("rendering the aperture's views", static_cast<std::int64_t>(first), std::ssize(views));
    const std::span some(views.data() + first, std::min(at_once, views.size() - first));
    Array<float, 4> pictures({std::ssize(some), view.size[0], view.size[1], model.channels}, device);
    renderer.render(some, pictures.view());
    add_light(pictures.to(Device{}), !model.linear, image);
  }
  const auto count = static_cast<float>(views.size());
  const std::int64_t channels = model.channels;
  const std::int64_t colours = channels == 2 || channels == 4 ? channels - 1 : channels;
  parallel_blocks(image.size(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const float mean = image.data()[i] / count;
      const bool converts = !model.linear && i % channels < colours;
      image.data()[i] = converts ? static_cast<float>(linear_to_srgb(static_cast<double>(mean))) : mean;
    }
  });
}

}  // namespace holotone
