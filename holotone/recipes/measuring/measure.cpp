#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/halftone/ink.hpp>
#include <holotone/metrics/region.hpp>
#include <holotone/recipes/measure.hpp>
#include <span>
#include <utility>

namespace holotone {
namespace {

constexpr std::string_view where = "measure_dots";

void require_options(const DotMeasureOptions& options) {
  using Options = DotMeasureOptions;
  require_bounds(where, "interior", options.interior, bounds_of<&Options::interior>);
  require_bounds(where, "segments", static_cast<double>(options.segments), bounds_of<&Options::segments>);
  require_bounds(where, "frequency", options.frequency, bounds_of<&Options::frequency>);
  require_bounds(where, "margin", options.margin, bounds_of<&Options::margin>);
  if (!(options.charge >= 0 && std::isfinite(options.charge))) {
    throw_argument(where, "charge", "0 or more pixels", fmt::format("{:g}", options.charge));
  }
}

std::int64_t default_segments(std::int64_t dots) {
  constexpr std::int64_t few = 1000;
  constexpr std::int64_t max_a_piece = 1'000'000;
  if (dots < few) return 1;
  return std::max<std::int64_t>(10, (dots + max_a_piece - 1) / max_a_piece);
}

void measure_spectrum(const Dots& dots, const DotMeasureOptions& job, const Region& region, DotMeasures& measured,
                      Progress& progress) {
  SpectrumOptions options;
  options.region = region;
  options.segments = job.segments > 0 ? job.segments : default_segments(measured.inside);
  options.largest_frequency = job.frequency * principal_frequency(measured.density);
  options.window = job.window;
  const SpectrumSize size = spectrum_size(options);
  measured.pieces = size.pieces;
  if (size.annuli == 0) return;  // the interior is too narrow
  if (job.on_spectrum) job.on_spectrum(size);
  SpectrumPlan plan(options);
  plan.add(positions_of(dots), progress);
  measured.spectrum = plan.spectrum();
  progress.step("averaging the spectrum", 0, 1);
  measured.radial = radial_spectrum(measured.spectrum);
  measured.summary = summarise(*measured.radial, measured.spectrum);
  if (measured.summary.annuli == 0) measured.summary = summarise(*measured.radial, measured.spectrum, 8);
}

/// Positions in image pixels.
std::vector<float> on_image(const Dots& dots, const DotMeasures& measured) {
  std::vector<float> position = dots.position;
  if (measured.scale_x == 1 && measured.scale_y == 1) return position;
  for (std::size_t i = 0; i < position.size(); ++i) {
    const double scale = i % 2 == 0 ? measured.scale_x : measured.scale_y;
    const auto most = static_cast<double>(measured.image[i % 2 == 0 ? 1 : 0]);
    double value = static_cast<double>(position[i]) * scale;
    // Rounding must not move a dot off the page's edge.
    if (value > most && value < most * (1 + 1e-6)) value = most;
    position[i] = static_cast<float>(value);
  }
  return position;
}

/// Charge of each dot: proportional to its area if radii are given.
std::vector<float> charges_of(const DotMeasureOptions& job, const Dots& dots, DotMeasures& measured) {
  const Region page = interior(dots);
  double sum = 0;
  std::int64_t count = 0;
  std::vector<float> weight(static_cast<std::size_t>(dots.count()), 1);
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if (!dots.radius.empty()) weight[i] = dots.radius[i] * dots.radius[i];
    if (!page.holds(static_cast<double>(dots.position[2 * i]), static_cast<double>(dots.position[2 * i + 1]))) continue;
    sum += static_cast<double>(weight[i]);
    ++count;
  }
  if (!(sum > 0)) {
    std::fill(weight.begin(), weight.end(), 1.0F);
    sum = static_cast<double>(count);
  }
  measured.charge = job.charge > 0 ? job.charge : measured.ink / static_cast<double>(count);
  const double scale = measured.charge * static_cast<double>(count) / sum;
  for (auto& value : weight) value = static_cast<float>(static_cast<double>(value) * scale);
  return weight;
}

/// The paper's blurs in pixels up to a dot spacing of 5 pixels. At a larger spacing these would resolve single dots:
/// they are scaled with the spacing. No blur is below one pixel, the finest detail of the image.
std::vector<double> default_sigmas(DotMeasures& measured) {
  constexpr double max_spacing = 5;    // pixels
  constexpr double paper_spacing = 2;  // pixels: at this spacing the two lists are equal
  std::vector<double> sigmas = BlurOptions().sigma;
  if (measured.spacing <= max_spacing) return sigmas;
  // Limit: a blur far wider than the image carries no information.
  const double widest = static_cast<double>(std::max(measured.image[0], measured.image[1])) / 4;
  const double factor = std::clamp(widest / sigmas.back(), 1.0, measured.spacing / paper_spacing);
  for (double& sigma : sigmas) sigma = std::round(1000 * sigma * factor) / 1000;
  measured.wider_blurs = true;
  return sigmas;
}

void measure_against(const Dots& dots, View<const float, 2> ink, const DotMeasureOptions& job, DotMeasures& measured,
                     Progress& progress) {
  measured.image = ink.shape();
  measured.ink = total_ink(ink);
  measured.scale_x = static_cast<double>(ink.shape()[1]) / dots.width;
  measured.scale_y = static_cast<double>(ink.shape()[0]) / dots.height;
  const auto position = on_image(dots, measured);
  const auto charge = charges_of(job, dots, measured);
  measured.spacing =
      std::sqrt(static_cast<double>(ink.size()) / static_cast<double>(dots.count() - count_off_page(dots)));
  BlurOptions options;
  options.sigma = job.sigma.empty() ? default_sigmas(measured) : job.sigma;
  options.margin = job.margin;
  measured.blurred = compare_blurred({position.data(), {dots.count(), 2}}, ink, options,
                                     view_of(std::span<const float>(charge)), progress);
}

}  // namespace

DotMeasures measure_dots(const Dots& dots, View<const float, 2> ink, const DotMeasureOptions& options,
                         Progress& progress) {
  require_options(options);
  DotMeasures measured;
  const Region region = interior(dots, options.interior);
  const auto positions = positions_of(dots);
  measured.inside = std::ssize(positions_in(positions, region)) / 2;
  if (measured.inside == 0) {
    throw_argument(where, "interior", "a part of the page that holds a dot", fmt::format("'{}'", options.interior));
  }
  measured.density = static_cast<double>(measured.inside) / region.area();
  measure_spectrum(dots, options, region, measured, progress);
  if (measured.inside > 1) measured.pairs = pair_correlation(positions, {.region = region}, progress);
  measured.nearest = summarise_nearest(positions, nearest_distances(positions, progress), region);
  if (!ink.empty()) measure_against(dots, ink, options, measured, progress);
  return measured;
}

Array<std::uint8_t, 3> spectrum_codes(const Spectrum& spectrum) {
  constexpr std::int64_t side = 512;
  constexpr double low_db = -20;
  constexpr double high_db = 10;
  const auto [ny, nx] = spectrum.power.shape();
  const double largest =
      std::min(static_cast<double>(nx / 2) * spectrum.step_x, static_cast<double>(ny / 2) * spectrum.step_y);
  // Columns c0 <= c < c1 of the spectrum within pixel i; the nearest column if there is none.
  const auto span = [&](std::int64_t i, std::int64_t n, double step) {
    const auto at = [&](double edge) {
      return (edge / side * 2 - 1) * largest / step + static_cast<double>(n / 2) + 0.5;
    };
    const auto first =
        std::clamp(static_cast<std::int64_t>(std::floor(at(static_cast<double>(i)))), std::int64_t{0}, n - 1);
    const auto end = std::clamp(static_cast<std::int64_t>(std::floor(at(static_cast<double>(i + 1)))), first + 1, n);
    return std::pair{first, end};
  };
  Array<std::uint8_t, 3> codes({side, side, 1});
  for (std::int64_t i = 0; i < side; ++i) {
    const auto [row, row_end] = span(i, ny, spectrum.step_y);
    for (std::int64_t j = 0; j < side; ++j) {
      const auto [column, column_end] = span(j, nx, spectrum.step_x);
      double sum = 0;
      for (std::int64_t r = row; r < row_end; ++r) {
        for (std::int64_t c = column; c < column_end; ++c) sum += static_cast<double>(spectrum.power(r, c));
      }
      const double mean = sum / static_cast<double>((row_end - row) * (column_end - column));
      const double db = mean > 0 ? 10 * std::log10(mean) : low_db;
      codes(i, j, 0) =
          static_cast<std::uint8_t>(std::lround(255 * std::clamp((db - low_db) / (high_db - low_db), 0.0, 1.0)));
    }
  }
  return codes;
}

int count_classes(const Dots& dots) {
  std::array<bool, 256> seen{};
  for (const auto colour_class : dots.colour_class) seen[colour_class] = true;
  return static_cast<int>(std::count(seen.begin(), seen.end(), true));
}

Dots select_class(const Dots& dots, int colour_class) {
  Dots kept = dots;
  kept.position.clear();
  kept.radius.clear();
  kept.colour_class.clear();
  for (std::size_t i = 0; i < dots.colour_class.size(); ++i) {
    if (dots.colour_class[i] != colour_class) continue;
    kept.position.insert(kept.position.end(), {dots.position[2 * i], dots.position[2 * i + 1]});
    if (!dots.radius.empty()) kept.radius.push_back(dots.radius[i]);
  }
  return kept;
}

AssumedPage assume_page(Dots& dots, const Shape<2>& image) {
  AssumedPage page{.box = {INFINITY, INFINITY, -INFINITY, -INFINITY}};
  auto& [low_x, low_y, high_x, high_y] = page.box;
  for (std::size_t i = 0; i < dots.position.size(); i += 2) {
    const auto x = static_cast<double>(dots.position[i]);
    const auto y = static_cast<double>(dots.position[i + 1]);
    page.box = {std::min(low_x, x), std::min(low_y, y), std::max(high_x, x), std::max(high_y, y)};
  }
  const auto is_within = [&box = page.box](double width, double height) {
    return box[0] >= 0 && box[1] >= 0 && box[2] <= width && box[3] <= height;
  };
  if (is_within(1, 1)) {
    dots.width = dots.height = 1;
    return page;
  }
  if (element_count(image) > 0) {
    page.source = PageSource::image;
    dots.width = static_cast<double>(image[1]);
    dots.height = static_cast<double>(image[0]);
    page.holds = is_within(dots.width, dots.height);
    return page;
  }
  page.source = PageSource::box;
  for (std::size_t i = 0; i < dots.position.size(); ++i) {
    const double low = std::min(std::floor(i % 2 == 0 ? low_x : low_y), 0.0);
    dots.position[i] = static_cast<float>(static_cast<double>(dots.position[i]) - low);
  }
  dots.width = std::max(std::ceil(high_x) - std::min(std::floor(low_x), 0.0), 1.0);
  dots.height = std::max(std::ceil(high_y) - std::min(std::floor(low_y), 0.0), 1.0);
  return page;
}

}  // namespace holotone
