// Checks of models, and slices through them.
#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/smoe/model/small_matrix.hpp>
#include <string>

namespace holotone {
namespace {

constexpr std::int64_t block = 4096;

void require_size(std::string_view where, std::string_view name, const std::vector<float>& values, std::int64_t size) {
  if (std::ssize(values) == size) return;
  throw_argument(where, name, fmt::format("{} numbers", size), fmt::format("{}", values.size()));
}

void require_finite(std::string_view where, std::string_view name, const std::vector<float>& values,
                    std::int64_t a_component) {
  const auto bad = std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad == values.end()) return;
  throw_argument(where, name, "finite numbers",
                 fmt::format("{} in component {}", *bad, (bad - values.begin()) / a_component));
}

void require_box(std::string_view where, const SmoeModel& model) {
  for (int axis = 0; axis < model.dimensions; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const double side = model.high[a] - model.low[a];
    const bool within = std::abs(model.low[a]) <= farthest_smoe && std::abs(model.high[a]) <= farthest_smoe;
    if (within && side >= 1 / farthest_smoe) continue;
    throw_argument(where, "low, high",
                   fmt::format("a box of sides of {:g} and more, within {:g}", 1 / farthest_smoe, farthest_smoe),
                   fmt::format("{:g} to {:g} on axis {}", model.low[a], model.high[a], axis));
  }
}

/// Calls body(component) for all components, on all threads.
template <class Body>
void over_components(std::int64_t count, const Body& body) {
  if (count <= block) {  // waking threads takes longer
    for (std::int64_t j = 0; j < count; ++j) body(j);
    return;
  }
  parallel_for(0, (count + block - 1) / block, [&](std::int64_t part) {
    for (std::int64_t j = part * block; j < std::min(count, (part + 1) * block); ++j) body(j);
  });
}

}  // namespace

void require_model(std::string_view where, const SmoeModel& model) {
  const int d = model.dimensions;
  const int q = model.channels;
  if (d < 1 || d > max_smoe_dimensions) {
    throw_argument(where, "dimensions", fmt::format("1 to {}", max_smoe_dimensions), std::to_string(d));
  }
  if (q < 1 || q > max_smoe_channels) {
    throw_argument(where, "channels", fmt::format("1 to {}", max_smoe_channels), std::to_string(q));
  }
  const std::int64_t count = model.count();
  if (count < 1 || count > max_smoe_components) {
    throw_argument(where, "log_weight", fmt::format("1 to {} components", max_smoe_components), std::to_string(count));
  }
  require_size(where, "centre", model.centre, count * d);
  require_size(where, "covariance", model.covariance, count * triangle_size(d));
  require_size(where, "colour", model.colour, count * q);
  require_size(where, "slope", model.slope, count * q * d);
  require_finite(where, "log_weight", model.log_weight, 1);
  require_finite(where, "centre", model.centre, d);
  require_finite(where, "covariance", model.covariance, triangle_size(d));
  require_finite(where, "colour", model.colour, q);
  require_finite(where, "slope", model.slope, q * d);
  require_box(where, model);
  over_components(count, [&](std::int64_t j) {
    if (smoe::cholesky(smoe::symmetric(model.covariance.data() + j * triangle_size(d), d), d)) return;
    throw_argument(where, "covariance", "positive definite", fmt::format("one that is not, in component {}", j));
  });
}

SmoeModel slice(const SmoeModel& model, std::span<const double> fixed) {
  require_model("slice", model);
  const int d = model.dimensions;
  const int b = static_cast<int>(fixed.size());
  const int a = d - b;
  if (b < 1 || a < 1) throw_argument("slice", "fixed", fmt::format("1 to {} coordinates", d - 1), std::to_string(b));
  for (const double value : fixed) {
    if (!std::isfinite(value)) throw_argument("slice", "fixed", "finite coordinates", fmt::format("{}", value));
  }
  const int q = model.channels;
  SmoeModel left;
  left.dimensions = a;
  left.channels = q;
  left.low = model.low;
  left.high = model.high;
  left.linear = model.linear;
  const auto count = static_cast<std::size_t>(model.count());
  left.log_weight.resize(count);
  left.centre.resize(count * static_cast<std::size_t>(a));
  left.covariance.resize(count * static_cast<std::size_t>(triangle_size(a)));
  left.colour.resize(count * static_cast<std::size_t>(q));
  left.slope.resize(count * static_cast<std::size_t>(q * a));
  const auto numbers = smoe::count_numbers(model);
  over_components(model.count(), [&](std::int64_t j) {
    const smoe::Slice slice = smoe::slice_component(numbers, d, j, fixed.data(), b);
    left.log_weight[static_cast<std::size_t>(j)] = static_cast<float>(slice.log_weight);
    float* covariance = left.covariance.data() + j * triangle_size(a);
    for (int row = 0; row < a; ++row) {
      left.centre[static_cast<std::size_t>(j * a + row)] = static_cast<float>(slice.centre[row]);
      for (int column = 0; column <= row; ++column) *covariance++ = static_cast<float>(slice.covariance[row][column]);
    }
    for (int c = 0; c < q; ++c) {
      left.colour[static_cast<std::size_t>(j * q + c)] = static_cast<float>(slice.colour[c]);
      for (int axis = 0; axis < a; ++axis) {
        left.slope[static_cast<std::size_t>((j * q + c) * a + axis)] =
            model.slope[static_cast<std::size_t>((j * q + c) * d + axis)];
      }
    }
  });
  return left;
}

}  // namespace holotone
