#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/no_backend.hpp>
#include <holotone/optics/parallel_rows.hpp>
#include <holotone/optics/tone.hpp>
#include <holotone/optics/tone_detail.hpp>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
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

/// Unsigned numbers in the order of the floats.
std::uint32_t ordered(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}
float from_ordered(std::uint32_t number) {
  return std::bit_cast<float>((number & 0x80000000U) != 0 ? number & 0x7FFFFFFFU : ~number);
}

constexpr std::size_t halves = 1 << 16;
using Counts = std::vector<std::int64_t>;

/// Counts of the finite pixels by the upper 16 bits of their ordered number, or by the lower ones of those whose upper
/// ones are `upper`.
Counts count_halves(std::span<const View<const float, 2>> images, std::optional<std::uint32_t> upper) {
  Counts total(halves, 0);
  std::mutex mutex;
  for (const auto& image : images) {
    const auto pixels = image.host();
    const std::size_t piece =
        std::max<std::size_t>(halves, 1 + pixels.size() / static_cast<std::size_t>(thread_count()));
    const auto pieces = static_cast<std::int64_t>((pixels.size() + piece - 1) / piece);
    parallel_for(0, pieces, [&](std::int64_t i) {
      Counts counts(halves, 0);
      const std::size_t first = static_cast<std::size_t>(i) * piece;
      for (const float value : pixels.subspan(first, std::min(piece, pixels.size() - first))) {
        if (!std::isfinite(value)) continue;
        const std::uint32_t number = ordered(value);
        if (!upper) {
          ++counts[number >> 16];
        } else if (number >> 16 == *upper) {
          ++counts[number & 0xFFFFU];
        }
      }
      const std::lock_guard lock(mutex);
      for (std::size_t n = 0; n < halves; ++n) total[n] += counts[n];
    });
  }
  return total;
}

/// The entry that holds the element of this rank; `rank` becomes its rank among the entry's.
std::uint32_t find_entry(const Counts& counts, std::int64_t& rank) {
  std::size_t i = 0;
  while (rank >= counts[i]) rank -= counts[i++];
  return static_cast<std::uint32_t>(i);
}

/// Code of an intensity. It does not decrease where the intensity grows.
int to_code(float intensity, double reference, const ToneOptions& options) {
  const double ratio = static_cast<double>(intensity) / reference;
  const double light = ratio > 0 ? std::min(ratio, 1.0) : 0.0;  // NaN is black
  if (options.decades > 0) {
    const double v = light > 0 ? 1 + std::log10(light) / options.decades : 0;
    return static_cast<int>(std::lround(255 * std::max(v, 0.0)));
  }
  const double v = options.gamma == 1 ? light : std::pow(light, 1 / options.gamma);
  const double code = v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
  return static_cast<int>(std::lround(255 * code));
}

/// to_code by comparisons with the least intensity of each code.
tone::Table table_of(double reference, const ToneOptions& options) {
  tone::Table table;
  table.guesses.resize(halves / 2);
  constexpr auto infinity = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity());
  std::uint32_t from = 0;
  for (int code = 1; code <= 255; ++code) {
    std::uint32_t low = from;  // bits of floats >= 0 have their order
    std::uint32_t high = infinity;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (to_code(std::bit_cast<float>(middle), reference, options) >= code) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    from = low;
    table.least[static_cast<std::size_t>(code - 1)] = std::bit_cast<float>(low);
  }
  std::uint8_t code = 0;
  for (std::uint32_t i = 0; i < table.guesses.size(); ++i) {
    const float lowest = std::bit_cast<float>(i << 16);
    while (code < 255 && lowest >= table.least[code]) ++code;
    table.guesses[i] = code;
  }
  return table;
}

std::uint8_t code_in(const tone::Table& table, float intensity) {
  if (!(intensity > 0)) return 0;
  std::uint8_t code = table.guesses[std::bit_cast<std::uint32_t>(intensity) >> 16];
  while (code < 255 && intensity >= table.least[code]) ++code;
  return code;
}

float percentile_cpu(std::span<const View<const float, 2>> images, double fraction) {
  const Counts upper_halves = count_halves(images, std::nullopt);
  const std::int64_t count = std::accumulate(upper_halves.begin(), upper_halves.end(), std::int64_t{0});
  if (count == 0) tone::reject_no_pixel();
  auto rank = tone::rank_of(fraction, count);
  const std::uint32_t upper = find_entry(upper_halves, rank);
  const Counts lower_halves = count_halves(images, upper);
  return from_ordered(upper << 16 | find_entry(lower_halves, rank));
}

void require_tones(const ToneOptions& options) {
  require_positive("tone_map", "gamma", options.gamma);
  if (!(options.decades >= 0 && options.decades <= 100)) {
    throw_argument("tone_map", "decades", "a number from 0 to 100", fmt::format("{}", options.decades));
  }
  if (!(options.reference >= 0) || !std::isfinite(options.reference)) {
    throw_argument("tone_map", "reference", "a finite number >= 0", fmt::format("{}", options.reference));
  }
}

}  // namespace

std::int64_t tone::rank_of(double fraction, std::int64_t count) {
  return static_cast<std::int64_t>(
      std::clamp(std::ceil(fraction * static_cast<double>(count)) - 1, 0.0, static_cast<double>(count - 1)));
}

void tone::reject_no_pixel() { throw_argument("percentile", "images", "at least one finite pixel", "none"); }

float percentile(std::span<const View<const float, 2>> images, double fraction, const Queue& queue) {
  require_range("percentile", "fraction", fraction, 0, 1);
  for (const auto& image : images) require_device("percentile", "images", queue.device(), image.device());
  switch (queue.device().backend) {
    case Backend::cpu: return percentile_cpu(images, fraction);
    case Backend::cuda:
#if HOLOTONE_CUDA
      return tone::percentile_cuda(images, fraction, queue);
#else
      break;
#endif
    case Backend::opencl: break;
  }
  throw_no_backend("percentile", queue.device());
}

float percentile(View<const float, 2> image, double fraction, const Queue& queue) {
  return percentile(std::span<const View<const float, 2>>(&image, 1), fraction, queue);
}

float default_reference(std::span<const View<const float, 2>> images, const Queue& queue) {
  for (const double fraction : {0.999, 1.0}) {
    if (const float reference = percentile(images, fraction, queue); reference > 0) return reference;
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

Array<std::uint8_t, 2> tone_map(View<const float, 2> intensity, const ToneOptions& options, const Queue& queue) {
  require_tones(options);
  require_device("tone_map", "intensity", queue.device(), intensity.device());
  const auto backend = queue.device().backend;
  if (backend == Backend::opencl) throw_no_backend("tone_map", queue.device());
  const float reference = options.reference > 0
                              ? options.reference
                              : default_reference(std::span<const View<const float, 2>>(&intensity, 1), queue);
  const auto table = table_of(static_cast<double>(reference), options);
  Array<std::uint8_t, 2> codes(intensity.shape(), queue);
#if HOLOTONE_CUDA
  if (backend == Backend::cuda) {
    if (codes.size() > 0) tone::codes_cuda(intensity, table, codes.view(), queue);
    return codes;
  }
#endif
  const float* const pixels = intensity.host().data();
  const auto nx = intensity.shape()[1];
  parallel_rows(intensity.shape()[0], nx, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first * nx; i < last * nx; ++i) codes.data()[i] = code_in(table, pixels[i]);
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
