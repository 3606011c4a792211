// Components of a model in one view; their order along a space-filling curve.
#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/smoe/model/small_matrix.hpp>
#include <holotone/smoe/render/image_components.hpp>
#include <utility>

namespace holotone::smoe {
namespace {

constexpr std::int64_t block = 4096;

}  // namespace

void require_slices(const SmoeModel& model) {
  const int d = model.dimensions;
  const auto numbers = count_numbers(model);
  const Vector anywhere{};  // all slices of a component have one covariance
  parallel_for(0, (model.count() + block - 1) / block, [&](std::int64_t part) {
    for (std::int64_t j = part * block; j < std::min(model.count(), (part + 1) * block); ++j) {
      PlaneShape shape;
      if (plane_shape(slice_component(numbers, d, j, anywhere.data(), d - 2), 1, 1, shape)) continue;
      throw_argument("SmoeRenderer", "model", "components that a view can be sliced from",
                     fmt::format("component {}, whose covariance is too narrow", j));
    }
  });
}

std::vector<std::uint32_t> order_along_curve(const SmoeModel& model) {
  const auto d = static_cast<std::size_t>(model.dimensions);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places(static_cast<std::size_t>(model.count()));
  for (std::size_t j = 0; j < places.size(); ++j) {
    std::uint32_t place = 0;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const double within =
          (static_cast<double>(model.centre[j * d + axis]) - model.low[axis]) / (model.high[axis] - model.low[axis]);
      const auto at = static_cast<std::uint32_t>(65535 * std::clamp(within, 0.0, 1.0));
      for (unsigned bit = 0; bit < 16; ++bit) place |= (at >> bit & 1U) << (2 * bit + axis);
    }
    places[j] = {place, static_cast<std::uint32_t>(j)};
  }
  std::sort(places.begin(), places.end());
  std::vector<std::uint32_t> order(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) order[i] = places[i].second;
  return order;
}

namespace {

/// Computes the components of a model of D dimensions; constant D lets all loops unroll.
template <int D>
void place_components(const SmoeModel& model, const SmoeView& view, std::span<const std::uint32_t> order,
                      std::vector<ImageComponent>& components) {
  const double step_x = view.extent[0] / static_cast<double>(view.size[1]);
  const double step_y = view.extent[1] / static_cast<double>(view.size[0]);
  const int q = model.channels;
  const auto numbers = count_numbers(model);
  parallel_for(0, (model.count() + block - 1) / block, [&](std::int64_t part) {
    for (std::int64_t i = part * block; i < std::min(model.count(), (part + 1) * block); ++i) {
      const std::int64_t j = order.empty() ? i : order[static_cast<std::size_t>(i)];
      const Slice slice = slice_component(numbers, D, j, view.at.data(), D - 2);
      PlaneShape shape;
      (void)plane_shape(slice, step_x, step_y, shape);  // cannot fail: checked by require_slices
      auto& target = components[static_cast<std::size_t>(i)];
      target.x = (slice.centre[0] - view.corner[0]) / step_x - 0.5;
      target.y = (slice.centre[1] - view.corner[1]) / step_y - 0.5;
      target.across = shape.across;
      target.skew = shape.skew;
      target.down = shape.down;
      target.peak = shape.peak;
      for (int channel = 0; channel < q; ++channel) {
        const auto at = static_cast<std::size_t>(channel);
        const float* const slope = model.slope.data() + (j * q + channel) * D;
        target.colour[at] = static_cast<float>(slice.colour[channel]);
        target.slope_x[at] = static_cast<float>(static_cast<double>(slope[0]) * step_x);
        target.slope_y[at] = static_cast<float>(static_cast<double>(slope[1]) * step_y);
      }
    }
  });
}

}  // namespace

std::vector<ImageComponent> image_components(const SmoeModel& model, const SmoeView& view,
                                             std::span<const std::uint32_t> order) {
  std::vector<ImageComponent> components(static_cast<std::size_t>(model.count()));
  switch (model.dimensions) {
    case 2: place_components<2>(model, view, order, components); break;
    case 3: place_components<3>(model, view, order, components); break;
    default: place_components<4>(model, view, order, components); break;
  }
  return components;
}

}  // namespace holotone::smoe
