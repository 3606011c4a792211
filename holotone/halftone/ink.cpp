// Ink of pictures: tone, separation, resampling, dot sizes and counts.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/colour.hpp>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/halftone/ink.hpp>
#include <limits>
#include <numbers>
#include <vector>

namespace holotone {
namespace {

// Weights in luminance; green has the rest.
constexpr double red_weight = 0.2126;
constexpr double blue_weight = 0.0722;

/// Calls body(row) for all rows, on all threads if there are enough pixels to share.
template <class Body>
void for_each_row(const Shape<2>& shape, const Body& body) {
  constexpr std::int64_t pixels_worth_sharing = 1 << 15;
  if (shape[0] * shape[1] >= pixels_worth_sharing) {
    parallel_for(0, shape[0], body);
  } else {
    for (std::int64_t row = 0; row < shape[0]; ++row) body(row);
  }
}

void check_pixels(const View<const float, 3>& pixels, const InkOptions& options) {
  constexpr std::string_view where = "ink_from_pixels";
  require_device(where, "pixels", Device{}, pixels.device());
  const auto& shape = pixels.shape();
  if (pixels.empty() || shape[2] < 1 || shape[2] > 4) {
    throw_argument(where, "pixels", "at least 1 x 1 pixels of 1 to 4 channels",
                   fmt::format("{} x {} of {}", shape[1], shape[0], shape[2]));
  }
  require_bounds(where, "gamma", options.gamma, bounds_of<&InkOptions::gamma>);
  if (options.mask.data() == nullptr) return;
  require_device(where, "mask", Device{}, options.mask.device());
  if (options.mask.shape() != Shape<2>{shape[0], shape[1]}) {
    throw_argument(where, "mask", fmt::format("the picture's {} x {} pixels", shape[1], shape[0]),
                   fmt::format("{} x {}", options.mask.shape()[1], options.mask.shape()[0]));
  }
}

/// Returns a value of the picture or its mask in 0..1. Other values are clamped if `clip`, else they are errors.
double checked(double value, bool clip, std::string_view what, std::int64_t row, std::int64_t col) {
  const bool finite = std::isfinite(value);
  if (finite && value >= 0 && value <= 1) return value;
  if (finite && clip) return std::clamp(value, 0.0, 1.0);
  throw_argument("ink_from_pixels", fmt::format("{} in row {}, column {}", what, row, col),
                 finite ? "from 0 to 1" : "a finite number", fmt::format("{}", value));
}

/// srgb_to_linear of every 16-bit code, among which are the 8-bit ones.
const std::vector<double>& decoded_codes() {
  static const auto codes = [] {
    std::vector<double> table(65536);
    for (std::size_t k = 0; k < table.size(); ++k) table[k] = srgb_to_linear(static_cast<double>(k) / 65535);
    return table;
  }();
  return codes;
}

/// Linear light of a value; from the table if the value is a code, as in all files of 8 or 16 bits.
double linear_light(double value, PixelTone tone) {
  if (tone == PixelTone::linear) return value;
  const auto code = static_cast<std::size_t>(value * 65535 + 0.5);
  const bool exact = static_cast<double>(static_cast<float>(code) / 65535.0F) == value;
  return exact ? decoded_codes()[code] : srgb_to_linear(value);
}

/// Reads the values of pixels, checked and in linear light.
class PixelReader {
 public:
  PixelReader(View<const float, 3> pixels, const InkOptions& options)
      : pixels_(pixels), options_(options), clip_(options.out_of_range == OutOfRange::clip) {}

  /// 1 - R, 1 - G and 1 - B over white: exactly 0 where a channel is white.
  [[nodiscard]] std::array<double, 3> darkness(std::int64_t row, std::int64_t col) const {
    const std::int64_t channels = pixels_.shape()[2];
    const auto dark = [&](std::int64_t c) {
      return 1 -
             linear_light(checked(static_cast<double>(pixels_(row, col, c)), clip_, "pixel", row, col), options_.tone);
    };
    const double first = dark(0);
    std::array<double, 3> result = {first, first, first};
    if (channels >= 3) result = {first, dark(1), dark(2)};
    if (channels % 2 == 1) return result;
    const auto alpha = static_cast<double>(pixels_(row, col, channels - 1));
    for (double& value : result) value *= checked(alpha, clip_, "alpha", row, col);
    return result;
  }
  /// Darkness after gamma and inversion.
  [[nodiscard]] double toned(double dark) const {
    if (options_.gamma != 1) dark = 1 - std::pow(1 - dark, 1 / options_.gamma);
    return options_.invert ? 1 - dark : dark;
  }
  [[nodiscard]] double mask(std::int64_t row, std::int64_t col) const {
    if (options_.mask.data() == nullptr) return 1;
    return checked(static_cast<double>(options_.mask(row, col)), clip_, "mask", row, col);
  }

 private:
  View<const float, 3> pixels_;
  const InkOptions& options_;
  bool clip_;
};

void require_sizes(std::string_view where, const DotSizes& sizes) {
  if (sizes.low > 0 && sizes.low <= sizes.high && std::isfinite(sizes.high)) return;
  throw_argument(where, "sizes", "0 < low <= high", fmt::format("{} and {}", sizes.low, sizes.high));
}

/// Source pixels of one new pixel along an axis, and their shares.
struct Taps {
  std::int64_t first = 0;
  std::vector<double> share;
};

std::vector<Taps> axis_taps(std::int64_t from, std::int64_t to) {
  std::vector<Taps> taps(static_cast<std::size_t>(to));
  const double step = static_cast<double>(from) / static_cast<double>(to);
  for (std::int64_t i = 0; i < to; ++i) {
    Taps& tap = taps[static_cast<std::size_t>(i)];
    if (to >= from) {
      const double at = std::clamp((static_cast<double>(i) + 0.5) * step - 0.5, 0.0, static_cast<double>(from - 1));
      tap.first = std::min(static_cast<std::int64_t>(at), std::max<std::int64_t>(from - 2, 0));
      const double share = at - static_cast<double>(tap.first);
      tap.share = {1 - share};
      if (from > 1) tap.share.push_back(share);
      continue;
    }
    const double begin = static_cast<double>(i) * step;
    const double end = std::min(static_cast<double>(i + 1) * step, static_cast<double>(from));
    tap.first = static_cast<std::int64_t>(begin);
    for (std::int64_t k = tap.first; k < from && static_cast<double>(k) < end; ++k) {
      const double low = std::max(begin, static_cast<double>(k));
      const double high = std::min(end, static_cast<double>(k + 1));
      tap.share.push_back((high - low) / (end - begin));
    }
  }
  return taps;
}

}  // namespace

Array<float, 2> ink_from_pixels(View<const float, 3> pixels, const InkOptions& options) {
  check_pixels(pixels, options);
  Array<float, 2> ink({pixels.shape()[0], pixels.shape()[1]});
  const PixelReader reader(pixels, options);
  for_each_row(ink.shape(), [&](std::int64_t row) {
    for (std::int64_t col = 0; col < ink.shape()[1]; ++col) {
      const auto [red, green, blue] = reader.darkness(row, col);
      // Differences from green, so that a grey's darkness is exactly that of its channels.
      const double dark = green + red_weight * (red - green) + blue_weight * (blue - green);
      ink(row, col) = static_cast<float>(reader.toned(std::clamp(dark, 0.0, 1.0)) * reader.mask(row, col));
    }
  });
  return ink;
}

std::array<Array<float, 2>, 4> cmyk_inks(View<const float, 3> pixels, const Separation& separation,
                                         const InkOptions& options) {
  check_pixels(pixels, options);
  const Shape<2> shape{pixels.shape()[0], pixels.shape()[1]};
  std::array<Array<float, 2>, 4> inks = {Array<float, 2>(shape), Array<float, 2>(shape), Array<float, 2>(shape),
                                         Array<float, 2>(shape)};
  const PixelReader reader(pixels, options);
  for_each_row(shape, [&](std::int64_t row) {
    for (std::int64_t col = 0; col < shape[1]; ++col) {
      auto colour = reader.darkness(row, col);
      for (double& value : colour) value = reader.toned(value);
      const FourShares shares = separation(colour);
      const double mask = reader.mask(row, col);
      for (std::size_t c = 0; c < 4; ++c) {
        inks[c](row, col) = static_cast<float>(std::clamp(mask * shares[c], 0.0, 1.0));
      }
    }
  });
  return inks;
}

double total_ink(View<const float, 2> ink) {
  std::vector<double> rows(static_cast<std::size_t>(ink.shape()[0]));
  for_each_row(ink.shape(), [&](std::int64_t row) {
    double sum = 0;
    for (std::int64_t col = 0; col < ink.shape()[1]; ++col) sum += static_cast<double>(ink(row, col));
    rows[static_cast<std::size_t>(row)] = sum;
  });
  double sum = 0;
  for (const double row : rows) sum += row;
  return sum;
}

Array<float, 2> resampled_ink(View<const float, 2> ink, const Shape<2>& shape) {
  require_device("resampled_ink", "ink", Device{}, ink.device());
  if (ink.empty()) throw_argument("resampled_ink", "ink", "at least 1 x 1 pixels", "none");
  if (shape[0] < 1 || shape[1] < 1) {
    throw_argument("resampled_ink", "shape", "at least 1 x 1 pixels", fmt::format("{} x {}", shape[1], shape[0]));
  }
  const auto columns = axis_taps(ink.shape()[1], shape[1]);
  const auto rows = axis_taps(ink.shape()[0], shape[0]);
  Array<float, 2> across({ink.shape()[0], shape[1]});
  for_each_row(across.shape(), [&](std::int64_t row) {
    for (std::int64_t col = 0; col < shape[1]; ++col) {
      const Taps& tap = columns[static_cast<std::size_t>(col)];
      double sum = 0;
      std::int64_t k = tap.first;
      for (const double share : tap.share) sum += share * static_cast<double>(ink(row, k++));
      across(row, col) = static_cast<float>(sum);
    }
  });
  Array<float, 2> result(shape);
  for_each_row(shape, [&](std::int64_t row) {
    const Taps& tap = rows[static_cast<std::size_t>(row)];
    for (std::int64_t col = 0; col < shape[1]; ++col) {
      double sum = 0;
      std::int64_t k = tap.first;
      for (const double share : tap.share) sum += share * static_cast<double>(across(k++, col));
      result(row, col) = static_cast<float>(sum);
    }
  });
  return result;
}

std::int64_t dots_for_ink(View<const float, 2> ink, double radius) {
  if (!(radius > 0 && std::isfinite(radius))) {
    throw_argument("dots_for_ink", "radius", "> 0 pixels", fmt::format("{}", radius));
  }
  require_ink("dots_for_ink", ink);
  const double count = std::round(total_ink(ink) / (std::numbers::pi * radius * radius));
  if (!(count <= static_cast<double>(max_dots))) {
    throw_argument("dots_for_ink", "radius", fmt::format("one that makes at most {} dots", max_dots),
                   fmt::format("{}, which makes {:.3g}", radius, count));
  }
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(count));
}

double radius_for_ink(View<const float, 2> ink, std::int64_t count) {
  if (count < 1) throw_argument("radius_for_ink", "count", "at least 1 dot", std::to_string(count));
  require_ink("radius_for_ink", ink);
  return std::sqrt(total_ink(ink) / (std::numbers::pi * static_cast<double>(count)));
}

void require_dots_fit(std::string_view where, std::string_view argument, View<const float, 2> ink, std::int64_t count,
                      double radius) {
  std::int64_t inked = 0;
  for (const float share : ink.host()) inked += share > 0 ? 1 : 0;
  const double dot = std::numbers::pi * radius * radius;
  if (static_cast<double>(count) * dot <= static_cast<double>(inked) * (1 + 1e-9)) return;
  throw_argument(where, argument,
                 fmt::format("at most {:.0f} dots of radius {:.4g} px, which cover all {} pixels that have ink",
                             std::floor(static_cast<double>(inked) / dot), radius, inked),
                 std::to_string(count));
}

double DotSizes::area(double ink) const { return std::numbers::pi * (low * low + (high * high - low * low) * ink); }

Array<float, 2> dot_density(View<const float, 2> ink, const DotSizes& sizes) {
  require_sizes("dot_density", sizes);
  Array<float, 2> density(ink.shape());
  for (std::int64_t i = 0; i < ink.size(); ++i) {
    const auto share = static_cast<double>(ink.data()[i]);
    density.data()[i] = static_cast<float>(share / sizes.area(share));
  }
  return density;
}

std::vector<float> dot_radii(const Dots& dots, View<const float, 2> ink, const DotSizes& sizes) {
  require_sizes("dot_radii", sizes);
  if (ink.empty()) throw_argument("dot_radii", "ink", "at least 1 x 1 pixels", "none");
  const auto [ny, nx] = ink.shape();
  std::vector<float> radii(dots.position.size() / 2);
  for (std::size_t j = 0; j < radii.size(); ++j) {
    const auto place = [](float at, double page, std::int64_t pixels) {
      const auto last = static_cast<double>(pixels - 1);
      return std::clamp(static_cast<double>(at) / page * static_cast<double>(pixels) - 0.5, 0.0, last);
    };
    const double x = place(dots.position[2 * j], dots.width, nx);
    const double y = place(dots.position[2 * j + 1], dots.height, ny);
    const auto col = std::min(static_cast<std::int64_t>(x), std::max<std::int64_t>(nx - 2, 0));
    const auto row = std::min(static_cast<std::int64_t>(y), std::max<std::int64_t>(ny - 2, 0));
    const auto value = [&, last_row = ny - 1, last_col = nx - 1](std::int64_t r, std::int64_t c) {
      return static_cast<double>(ink(std::min(r, last_row), std::min(c, last_col)));
    };
    const double u = x - static_cast<double>(col);
    const double v = y - static_cast<double>(row);
    const double share = (1 - v) * ((1 - u) * value(row, col) + u * value(row, col + 1)) +
                         v * ((1 - u) * value(row + 1, col) + u * value(row + 1, col + 1));
    radii[j] = static_cast<float>(std::sqrt(sizes.area(share) / std::numbers::pi));
  }
  return radii;
}

std::int64_t take_to_ink(Dots& dots, View<const float, 2> ink, int colour_class) {
  require_ink("take_to_ink", ink);
  const auto [rows, columns] = ink.shape();
  const double to_column = static_cast<double>(columns) / dots.width;
  const double to_row = static_cast<double>(rows) / dots.height;
  std::int64_t moved = 0;
  for (std::size_t j = 0; 2 * j < dots.position.size(); ++j) {
    if (!dots.colour_class.empty() && dots.colour_class[j] != colour_class) continue;
    const double x = static_cast<double>(dots.position[2 * j]) * to_column;
    const double y = static_cast<double>(dots.position[2 * j + 1]) * to_row;
    const auto column = std::clamp<std::int64_t>(static_cast<std::int64_t>(x), 0, columns - 1);
    const auto row = std::clamp<std::int64_t>(static_cast<std::int64_t>(y), 0, rows - 1);
    if (ink(row, column) > 0) continue;
    ++moved;
    // Searches squares of pixels around the dot's own, until none farther out can be nearer.
    double least = std::numeric_limits<double>::infinity();
    double best[2] = {x, y};
    for (std::int64_t ring = 1; ring < std::max(rows, columns) && static_cast<double>(ring - 1) < least; ++ring) {
      for (std::int64_t r = std::max<std::int64_t>(0, row - ring); r <= std::min(rows - 1, row + ring); ++r) {
        const std::int64_t step = std::abs(r - row) == ring ? 1 : 2 * ring;
        for (std::int64_t c = column - ring; c <= column + ring; c += step) {
          if (c < 0 || c >= columns || !(ink(r, c) > 0)) continue;
          constexpr double inside = 1e-3;  // float32 coordinates stay on the pixel
          const double nx = std::clamp(x, static_cast<double>(c) + inside, static_cast<double>(c + 1) - inside);
          const double ny = std::clamp(y, static_cast<double>(r) + inside, static_cast<double>(r + 1) - inside);
          const double distance = std::hypot(nx - x, ny - y);
          if (distance >= least) continue;
          least = distance;
          best[0] = nx;
          best[1] = ny;
        }
      }
    }
    dots.position[2 * j] = static_cast<float>(best[0] / to_column);
    dots.position[2 * j + 1] = static_cast<float>(best[1] / to_row);
  }
  return moved;
}

void require_ink(std::string_view where, View<const float, 2> ink) {
  require_device(where, "ink", Device{}, ink.device());
  if (ink.empty()) throw_argument(where, "ink", "at least 1 x 1 pixels", "none");
  bool any = false;
  for (std::int64_t i = 0; i < ink.size(); ++i) {
    const float share = ink.data()[i];
    if (!(share >= 0 && share <= 1)) {
      throw_argument(where, "ink", "from 0 to 1",
                     fmt::format("{} in row {}, column {}", share, i / ink.shape()[1], i % ink.shape()[1]));
    }
    any = any || share > 0;
  }
  if (!any) throw_argument(where, "ink", "a picture with ink", "one that has none: it is white everywhere");
}

}  // namespace holotone
