#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/optics/parallel_rows.hpp>
#include <holotone/optics/tone.hpp>
#include <vector>

namespace holotone {
namespace {

/// The parts of source pixels that one target pixel covers along an axis.
struct Cover {
  std::int64_t first = 0;
  std::vector<double> part;  ///< sums to 1
};

std::vector<Cover> cover_axis(std::int64_t source, std::int64_t target) {
  std::vector<Cover> all(static_cast<std::size_t>(target));
  const double ratio = static_cast<double>(source) / static_cast<double>(target);
  for (std::int64_t i = 0; i < target; ++i) {
    // In integers of 1/target of a source pixel, so that whole pixels are covered exactly.
    const std::int64_t begin = i * source;
    const std::int64_t end = begin + source;
    Cover& cover = all[static_cast<std::size_t>(i)];
    cover.first = begin / target;
    for (std::int64_t s = cover.first; s * target < end; ++s) {
      const std::int64_t covered = std::min(end, (s + 1) * target) - std::max(begin, s * target);
      cover.part.push_back(static_cast<double>(covered) / (static_cast<double>(target) * ratio));
    }
  }
  return all;
}

float covered_mean(const float* pixels, std::int64_t nx, const Cover& rows, const Cover& columns) {
  double sum = 0;
  for (std::size_t j = 0; j < rows.part.size(); ++j) {
    const float* const row = pixels + (rows.first + static_cast<std::int64_t>(j)) * nx + columns.first;
    double line = 0;
    for (std::size_t i = 0; i < columns.part.size(); ++i) line += columns.part[i] * static_cast<double>(row[i]);
    sum += rows.part[j] * line;
  }
  return static_cast<float>(sum);
}

}  // namespace

float percentile(std::span<const View<const float, 2>> images, double fraction) {
  require_range("percentile", "fraction", fraction, 0, 1);
  std::vector<float> values;
  for (const auto& image : images) {
    const auto pixels = image.host();
    std::copy_if(pixels.begin(), pixels.end(), std::back_inserter(values), [](float v) { return std::isfinite(v); });
  }
  if (values.empty()) throw_argument("percentile", "images", "at least one finite pixel", "none");
  const auto count = static_cast<double>(values.size());
  const auto rank = static_cast<std::ptrdiff_t>(std::clamp(std::ceil(fraction * count) - 1, 0.0, count - 1));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

float percentile(View<const float, 2> image, double fraction) {
  return percentile(std::span<const View<const float, 2>>(&image, 1), fraction);
}

float default_reference(std::span<const View<const float, 2>> images) {
  for (const double fraction : {0.999, 1.0}) {
    if (const float reference = percentile(images, fraction); reference > 0) return reference;
  }
  return 1;
}

float mean_plus_deviation(std::span<const View<const float, 2>> images) {
  double sum = 0;
  double squares = 0;
  std::int64_t count = 0;
  for (const auto& image : images) {
    for (const float value : image.host()) {
      if (!std::isfinite(value)) continue;
      sum += static_cast<double>(value);
      squares += static_cast<double>(value) * static_cast<double>(value);
      ++count;
    }
  }
  if (!(sum > 0)) return 1;
  const double mean = sum / static_cast<double>(count);
  const double variance = squares / static_cast<double>(count) - mean * mean;
  return static_cast<float>(mean + std::sqrt(std::max(variance, 0.0)));
}

Array<std::uint8_t, 2> tone_map(View<const float, 2> intensity, const ToneOptions& options) {
  require_positive("tone_map", "gamma", options.gamma);
  if (!(options.reference >= 0) || !std::isfinite(options.reference)) {
    throw_argument("tone_map", "reference", "a finite number >= 0", fmt::format("{}", options.reference));
  }
  const float reference = options.reference > 0
                              ? options.reference
                              : default_reference(std::span<const View<const float, 2>>(&intensity, 1));
  const auto pixels = intensity.host();
  Array<std::uint8_t, 2> codes(intensity.shape());
  const double inverse_gamma = 1 / options.gamma;
  const auto nx = intensity.shape()[1];
  parallel_rows(intensity.shape()[0], nx, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first * nx; i < last * nx; ++i) {
      const double ratio = static_cast<double>(pixels[static_cast<std::size_t>(i)]) / static_cast<double>(reference);
      const double light = ratio > 0 ? std::min(ratio, 1.0) : 0.0;  // NaN is black
      const double v = options.gamma == 1 ? light : std::pow(light, inverse_gamma);
      const double code = v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
      codes.data()[i] = static_cast<std::uint8_t>(std::lround(255 * code));
    }
  });
  return codes;
}

Array<float, 2> area_average(View<const float, 2> image, Shape<2> shape) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (shape[axis] < 1 || shape[axis] > image.shape()[axis]) {
      throw_argument("area_average", "shape", "extents from 1 to " + to_string<2>(image.shape()), to_string<2>(shape));
    }
  }
  const float* const pixels = image.host().data();
  const auto down = cover_axis(image.shape()[0], shape[0]);
  const auto across = cover_axis(image.shape()[1], shape[1]);
  Array<float, 2> result(shape);
  parallel_rows(shape[0], image.size() / shape[0], [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t y = first; y < last; ++y) {
      const Cover& rows = down[static_cast<std::size_t>(y)];
      for (std::int64_t x = 0; x < shape[1]; ++x) {
        result(y, x) = covered_mean(pixels, image.shape()[1], rows, across[static_cast<std::size_t>(x)]);
      }
    }
  });
  return result;
}

}  // namespace holotone
