#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/smoe/image_components.hpp>
#include <holotone/smoe/small_matrix.hpp>

namespace holotone::smoe {
namespace {

constexpr std::int64_t block = 4096;

}  // namespace

void require_slices(const SmoeModel& model) {
  const int d = model.dimensions;
  const auto numbers = numbers_of(model);
  const Vector anywhere{};  // the slices of a component have one covariance wherever they are
  parallel_for(0, (model.count() + block - 1) / block, [&](std::int64_t part) {
    for (std::int64_t j = part * block; j < std::min(model.count(), (part + 1) * block); ++j) {
      PlaneShape shape;
      if (plane_shape(slice_component(numbers, d, j, anywhere.data(), d - 2), 1, 1, shape)) continue;
      throw_argument("SmoeRenderer", "model", "components that a view can be sliced from",
                     fmt::format("component {}, whose covariance is too narrow", j));
    }
  });
}

std::vector<ImageComponent> image_components(const SmoeModel& model, const SmoeView& view) {
  const double step_x = view.extent[0] / static_cast<double>(view.size[1]);
  const double step_y = view.extent[1] / static_cast<double>(view.size[0]);
  const int d = model.dimensions;
  const int q = model.channels;
  const auto numbers = numbers_of(model);
  std::vector<ImageComponent> components(static_cast<std::size_t>(model.count()));
  parallel_for(0, (model.count() + block - 1) / block, [&](std::int64_t part) {
    for (std::int64_t j = part * block; j < std::min(model.count(), (part + 1) * block); ++j) {
      const Slice own = slice_component(numbers, d, j, view.at.data(), d - 2);
      PlaneShape shape;
      (void)plane_shape(own, step_x, step_y, shape);  // require_slices has tried it
      auto& target = components[static_cast<std::size_t>(j)];
      target.x = (own.centre[0] - view.corner[0]) / step_x - 0.5;
      target.y = (own.centre[1] - view.corner[1]) / step_y - 0.5;
      target.across = shape.across;
      target.skew = shape.skew;
      target.down = shape.down;
      target.peak = shape.peak;
      for (int channel = 0; channel < q; ++channel) {
        const auto at = static_cast<std::size_t>(channel);
        const float* const slope = model.slope.data() + (j * q + channel) * d;
        target.colour[at] = static_cast<float>(own.colour[channel]);
        target.slope_x[at] = static_cast<float>(static_cast<double>(slope[0]) * step_x);
        target.slope_y[at] = static_cast<float>(static_cast<double>(slope[1]) * step_y);
      }
    }
  });
  return components;
}

}  // namespace holotone::smoe
