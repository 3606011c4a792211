// Dots placed by importance, stratified and error-diffused sampling.
#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/random.hpp>
#include <holotone/halftone/dot_sampler_engine.hpp>
#include <holotone/halftone/floyd_steinberg.hpp>
#include <holotone/halftone/ink.hpp>
#include <holotone/halftone/sampling.hpp>
#include <limits>
#include <utility>

namespace holotone {
namespace {

/// Number of dots that one parallel task places.
constexpr std::int64_t dots_a_task = 4096;

Dots empty_page(std::string_view where, View<const float, 2> ink, std::int64_t count) {
  require_ink(where, ink);
  if (count < 0 || count > max_dots) {
    throw_argument(where, "count", fmt::format("from 0 to {} dots", max_dots), std::to_string(count));
  }
  Dots dots;
  dots.width = static_cast<double>(ink.shape()[1]);
  dots.height = static_cast<double>(ink.shape()[0]);
  dots.position.resize(2 * static_cast<std::size_t>(count));
  return dots;
}

/// Returns pixel + offset as a float32 in [pixel, pixel + 1). Rounding must not move a dot into the next pixel, which
/// may have no ink.
float inside(std::int64_t pixel, double offset) {
  const auto at = static_cast<float>(static_cast<double>(pixel) + offset);
  const auto end = static_cast<float>(pixel + 1);
  return at < end ? at : std::nextafter(end, 0.0F);
}

/// Puts dot j at a random place in pixel (row, col), with the draws `counter` and `counter` + 1.
void put_in_pixel(Dots& dots, std::size_t j, std::int64_t row, std::int64_t col, std::uint64_t seed,
                  std::uint64_t counter) {
  dots.position[2 * j] = inside(col, random_uniform64(seed, counter));
  dots.position[2 * j + 1] = inside(row, random_uniform64(seed, counter + 1));
}

/// Cumulative ink of the pixels in an order: sum[k] is that of the first k.
template <class PixelAt>
std::vector<double> cumulative(View<const float, 2> ink, const PixelAt& pixel_at) {
  std::vector<double> sum(static_cast<std::size_t>(ink.size()) + 1);
  for (std::size_t k = 0; k + 1 < sum.size(); ++k) sum[k + 1] = sum[k] + static_cast<double>(ink.data()[pixel_at(k)]);
  return sum;
}

/// Returns k with sum[k] <= target < sum[k + 1]; pixels without ink are never selected.
std::size_t find_pixel(const std::vector<double>& sum, double target) {
  const auto above = std::upper_bound(sum.begin() + 1, sum.end(), target);
  if (above != sum.end()) return static_cast<std::size_t>(above - sum.begin()) - 1;
  // Rounding moved the target to the very end: returns the last pixel with ink.
  return static_cast<std::size_t>(std::lower_bound(sum.begin(), sum.end(), sum.back()) - sum.begin()) - 1;
}

template <class Body>
void for_each_dot(std::int64_t count, const Body& body) {
  parallel_for(0, (count + dots_a_task - 1) / dots_a_task, [&](std::int64_t task) {
    const std::int64_t end = std::min(count, (task + 1) * dots_a_task);
    for (std::int64_t j = task * dots_a_task; j < end; ++j) body(static_cast<std::uint64_t>(j));
  });
}

}  // namespace

std::uint64_t hilbert_index(int order, std::uint32_t x, std::uint32_t y) {
  std::uint64_t index = 0;
  for (int bit = order - 1; bit >= 0; --bit) {
    const std::uint32_t right = (x >> bit) & 1U;
    const std::uint32_t low = (y >> bit) & 1U;
    index = 4 * index + ((3U * right) ^ low);
    if (low != 0) continue;
    if (right != 0) {
      const std::uint32_t mask = (std::uint32_t{1} << bit) - 1;
      x = mask - (x & mask);
      y = mask - (y & mask);
    }
    std::swap(x, y);
  }
  return index;
}

std::vector<std::uint32_t> dot_sampling::hilbert_order(const Shape<2>& shape) {
  const auto side = static_cast<std::uint64_t>(std::max(shape[0], shape[1]));
  const int order = static_cast<int>(std::bit_width(side - 1));
  std::vector<std::pair<std::uint64_t, std::uint32_t>> keyed(static_cast<std::size_t>(shape[0] * shape[1]));
  parallel_for(0, shape[0], [&](std::int64_t row) {
    for (std::int64_t col = 0; col < shape[1]; ++col) {
      const auto pixel = static_cast<std::size_t>(row * shape[1] + col);
      keyed[pixel] = {hilbert_index(order, static_cast<std::uint32_t>(col), static_cast<std::uint32_t>(row)),
                      static_cast<std::uint32_t>(pixel)};
    }
  });
  std::sort(keyed.begin(), keyed.end());
  std::vector<std::uint32_t> pixels(keyed.size());
  for (std::size_t k = 0; k < keyed.size(); ++k) pixels[k] = keyed[k].second;
  return pixels;
}

Dots importance_sampled_dots(View<const float, 2> ink, std::int64_t count, std::uint64_t seed) {
  Dots dots = empty_page("importance_sampled_dots", ink, count);
  const auto sum = cumulative(ink, [](std::size_t k) { return k; });
  for_each_dot(count, [&](std::uint64_t j) {
    const auto pixel = static_cast<std::int64_t>(find_pixel(sum, sum.back() * random_uniform64(seed, 3 * j)));
    put_in_pixel(dots, static_cast<std::size_t>(j), pixel / ink.shape()[1], pixel % ink.shape()[1], seed, 3 * j + 1);
  });
  return dots;
}

Dots stratified_dots(View<const float, 2> ink, std::int64_t count, std::uint64_t seed) {
  Dots dots = empty_page("stratified_dots", ink, count);
  if (ink.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw_argument("stratified_dots", "ink", "less than 2^32 pixels", std::to_string(ink.size()));
  }
  const auto order = dot_sampling::hilbert_order(ink.shape());
  const auto sum = cumulative(ink, [&](std::size_t k) { return order[k]; });
  for_each_dot(count, [&](std::uint64_t j) {
    const double share = (static_cast<double>(j) + random_uniform64(seed, 3 * j)) / static_cast<double>(count);
    const std::int64_t pixel = order[find_pixel(sum, sum.back() * share)];
    put_in_pixel(dots, static_cast<std::size_t>(j), pixel / ink.shape()[1], pixel % ink.shape()[1], seed, 3 * j + 1);
  });
  return dots;
}

Dots error_diffused_dots(View<const float, 2> ink, std::int64_t count, std::uint64_t seed, double jitter) {
  Dots dots = empty_page("error_diffused_dots", ink, count);
  require_range("error_diffused_dots", "jitter", jitter, 0, 1);
  const double scale = static_cast<double>(count) / total_ink(ink);
  std::vector<std::uint32_t> number(static_cast<std::size_t>(ink.size()));
  const std::int64_t columns = ink.shape()[1];
  std::int64_t missing = count;
  diffuse_errors(
      ink.shape(), [&](std::int64_t row, std::int64_t col) { return scale * static_cast<double>(ink(row, col)); },
      [&](std::int64_t row, std::int64_t col, double value) {
        if (!(ink(row, col) > 0)) return 0.0;
        const double whole = std::clamp(std::floor(value + 0.5), 0.0, static_cast<double>(missing));
        number[static_cast<std::size_t>(row * columns + col)] = static_cast<std::uint32_t>(whole);
        missing -= static_cast<std::int64_t>(whole);
        return whole;
      });
  // Dots carried to an end without ink go to the last pixels with ink and without a dot, then to the last pixels with
  // ink.
  for (const bool only_free : {true, false}) {
    for (std::int64_t pixel = ink.size() - 1; pixel >= 0 && missing > 0; --pixel) {
      auto& here = number[static_cast<std::size_t>(pixel)];
      if (!(ink.data()[pixel] > 0) || (only_free && here > 0)) continue;
      ++here;
      --missing;
    }
  }
  std::size_t j = 0;
  for (std::int64_t pixel = 0; pixel < ink.size(); ++pixel) {
    const auto here = number[static_cast<std::size_t>(pixel)];
    for (std::uint32_t k = 0; k < here; ++k, ++j) {
      put_in_pixel(dots, j, pixel / columns, pixel % columns, seed, 2 * j);
      if (here > 1) continue;
      for (std::size_t axis = 0; axis < 2; ++axis) {
        const auto corner = static_cast<double>(axis == 0 ? pixel % columns : pixel / columns);
        const double random = static_cast<double>(dots.position[2 * j + axis]) - corner - 0.5;
        dots.position[2 * j + axis] = static_cast<float>(corner + 0.5 + jitter * random);
      }
    }
  }
  return dots;
}

}  // namespace holotone
