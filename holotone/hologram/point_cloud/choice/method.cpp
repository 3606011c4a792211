#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <holotone/hologram/point_cloud/choice/method.hpp>
#include <holotone/hologram/point_cloud/choice/spectrum_layout.hpp>
#include <holotone/hologram/point_cloud/precision.hpp>
#include <limits>
#include <numbers>

namespace holotone::point_cloud {
namespace {

// CPU: one thread of a Zen 4 core with AVX-512 (bench/notes/cpu.md, "Reached": hologram/direct, recurrence and
// separable); more threads and other machines scale all prices alike. separable is the cheapest from the first point
// on.
constexpr std::array<MethodPrice, 3> cpu_prices = {
    {{PointMethod::direct, 2900, 287}, {PointMethod::recurrence, 2500, 270}, {PointMethod::separable, 1900, 60}}};
// CUDA: one H200. bench/method_prices.py fits prices to the rows hologram/price/* of bench/results/h200.json and says
// how far off these are: 16 points take direct and recurrence three times what they say, separable takes down to 0.5
// (1e-4) and 0.3 (1e-5) of it.
constexpr std::array<MethodPrice, 3> cuda_prices = {
    {{PointMethod::direct, 5, 0.59}, {PointMethod::recurrence, 5, 0.85}, {PointMethod::separable, 10.7, 0.0107}}};
// Four products, then pairs of fp16; then pairs in short batches.
constexpr std::array<MethodPrice, 3> cuda_fine_prices = {
    {{PointMethod::direct, 5, 0.59}, {PointMethod::recurrence, 5, 0.85}, {PointMethod::separable, 20, 0.06}}};
constexpr std::array<MethodPrice, 3> cuda_finest_prices = {
    {{PointMethod::direct, 5, 0.59}, {PointMethod::recurrence, 5, 0.85}, {PointMethod::separable, 20, 0.17}}};

// fast on the CPU, measured on two threads of one Zen 4 core, where a pair of separable takes 35 ps; scaled to the 60
// ps of one thread.
constexpr double separable_pair_ns = 0.060;
constexpr FastCosts cpu_fast_costs{.spread_point = 25.0 / 35 * 60,
                                   .spread_node = 0.25 / 35 * 60,
                                   .transform_sample = 2.5 / 35 * 60,
                                   .masked_pair = separable_pair_ns};
/// Cost of halving tiles at the band limit on the CPU, relative to the sum without a band limit: 3 to 10 measured, for
/// a scan of 30,000 to 437,645 points at 20 cm.
constexpr double band_limit_factor = 5;

/// Bounds for the reuse of a grid of fast: widening of its ranges, and least share of them that a cloud spans. An
/// object that moves a little keeps its matrices. One that has left them keeps moving: along the axes that it left it
/// gets more room, so that a turning object does not need new matrices in every frame.
constexpr float range_slack = 0.01F;
constexpr float moving_slack = 0.15F;
constexpr double kept_range = 0.7;
constexpr double common_range = 0.5;  ///< least share of the planned ranges that the next frame of an object fills

/// cuBLASLt takes 0.3 s to start and to be timed. Sums of seconds then take up to a tenth less time than with masked
/// products on chip (one H200, 10 million points on 2.5 gigapixels: 15.9 to 16.2 s, 17.4 to 17.8 on chip).
constexpr double min_timed_us = 1e6;
/// Estimate without products on chip, relative to that with them, up to which it is the faster one in such sums.
constexpr double max_off_chip = 1.1;

/// Phase error of Fresnel's wave that `auto` does not mind at tolerances from 1e-3 up.
constexpr double max_hidden_deviation_rad = 0.1;
/// Zones sqrt(lambda |d|) of a point's reach from which on `direct`, whose band limit is that of rays, is the exact
/// wave inside of its light (1e-5; 1 % at ten, 3 % at seven). Below, `auto` takes `fast` up to so many times its time,
/// or that of a short wait.
constexpr double min_ray_zones = 12;
constexpr double max_ray_ratio = 20;
constexpr double short_wait_s = 0.2;

/// Exact waves on the CPU (two cores): nanoseconds of a pair of direct, of one in a tile of 128 x 64 pixels that the
/// band limit weighs, and of a number of the spectrum's last FFT; and what a layout's nanoseconds are there. Fitted to
/// the 40 scenes of bench/method_sweep_bench.cpp, which they give to 30 % (four to 43 %).
constexpr double exact_pair_ns = 0.32;
constexpr double weighed_pair_ns = 4.4;
constexpr double spectrum_number_ns = 5.8;
constexpr double spectrum_layout_share = 0.67;
/// Picoseconds of a pair of direct on an H200 (100,000 points on 1080p: 0.90 s).
constexpr double exact_pair_ps = 4.4;

/// Largest phase difference between the two waves for a cloud that fills its box, over all pixels it may light.
double box_deviation_rad(const PointCloudOptions& options, const PointSummary& summary) {
  const double inverse[2] = {std::abs(static_cast<double>(summary.low[2])),
                             std::abs(static_cast<double>(summary.high[2]))};
  const double nearest = 1 / std::max(inverse[0], inverse[1]);
  const bool both_sides = summary.low[2] < 0 && summary.high[2] > 0;
  const double farthest = both_sides ? std::numeric_limits<double>::max() : 1 / std::min(inverse[0], inverse[1]);
  const double reach = options.band_limit ? limit_cosine(options) : std::numeric_limits<double>::max();
  double offset[2];
  for (const std::size_t axis : {0, 1}) {
    const double half = 0.5 * options.pitch_m * static_cast<double>(options.shape[1 - axis] - 1);
    offset[axis] = half + std::max(std::abs(summary.low[axis]), std::abs(summary.high[axis]));
  }
  double largest = 0;
  // It grows with d while the band limit ends the light, and falls with d where the panel does.
  for (const double at : {nearest, offset[0] / reach, offset[1] / reach}) {
    const double d = std::clamp(at, nearest, farthest);
    const double u = std::min(offset[0], reach * d);
    const double v = std::min(offset[1], reach * d);
    const double s = (u * u + v * v) / (d * d);
    const double root = 1 + std::sqrt(1 + s);
    largest = std::max(largest, two_pi * d / (2 * options.wavelength_m) * s * s / (root * root));
  }
  return largest;
}

bool lights_all(const PixelPoint& point, const Shape<2>& shape) {
  return point.row_begin == 0 && point.row_end == shape[0] && point.column_begin == 0 && point.column_end == shape[1];
}

/// True on the CPU for few points whose light is so small a part of the panel that direct sums are faster than
/// products, whose rows and columns are those of all the points that are summed together.
bool lights_little(std::span<const PixelPoint> points, const Shape<2>& shape) {
  constexpr std::size_t few = 3000;
  constexpr double share = 0.03;
  if (points.empty() || points.size() > few) return false;
  double lit = 0;
  for (const auto& point : points) {
    lit += static_cast<double>(point.column_end - point.column_begin) * (point.row_end - point.row_begin);
  }
  return lit < share * static_cast<double>(element_count(shape)) * static_cast<double>(points.size());
}

double nearest_distance_m(const PointSummary& summary) {
  return 1 / static_cast<double>(std::max(std::abs(summary.low[2]), std::abs(summary.high[2])));
}

/// True if rays describe the band limit of the nearest point's light.
bool has_ray_zones(const PointCloudOptions& options, double nearest_m) {
  return !options.band_limit || limit_cosine(options) * std::sqrt(nearest_m / options.wavelength_m) >= min_ray_zones;
}

/// Nanoseconds of a point's exact wave by direct on the CPU: its pairs, and those of tiles that the band limit weighs.
double direct_ns(const PixelPoint& point, const PointCloudOptions& options) {
  // Half of the square, in units of |d|, within which b is 1: of the box, or of the same area as the cone's circle.
  const double box = edge_begin * limit_cosine(options);
  const double cone = 0.5 * std::sqrt(std::numbers::pi) * cone_begin / std::sqrt(1 - cone_begin * cone_begin);
  const double tangent = options.band_limit ? std::min(box < 1 ? box / std::sqrt(1 - box * box) : cone, cone) : 1e30;
  const double half = tangent * std::abs(point_distance_m(options, point)) / options.pitch_m;
  double lit = 1;
  double full = 1;
  const auto count = [&](double begin, double end, double centre, double tile) {
    lit *= end - begin;
    const double first = centre - half > begin ? centre - half + 0.5 * tile : begin;
    const double last = centre + half < end ? centre + half - 0.5 * tile : end;
    full *= std::max(last - first, 0.0);
  };
  count(point.row_begin, point.row_end, point.row, 64);
  count(point.column_begin, point.column_end, point.column, 128);
  return exact_pair_ns * full + weighed_pair_ns * (lit - full);
}

bool similar_counts(const FastCloud& planned, const FastCloud& cloud) {
  return planned.count > 0 && cloud.count <= 2 * planned.count && 2 * cloud.count >= planned.count;
}

/// The axes of a summary in which a cloud's grid is one.
std::array<std::size_t, 3> summary_axes(const PointCloudOptions& options) {
  return {0, 1, options.wave == Wave::spherical ? std::size_t{3} : std::size_t{2}};
}

bool contains(const PointSummary& then, const PointSummary& now, std::size_t axis) {
  return now.low[axis] >= then.low[axis] && now.high[axis] <= then.high[axis];
}

bool holds(const PointSummary& then, const PointSummary& now, std::size_t axis) {
  return contains(then, now, axis) && now.high[axis] - now.low[axis] >= kept_range * (then.high[axis] - then.low[axis]);
}

bool holds(const FastCloud& planned, const FastCloud& cloud, const std::array<std::size_t, 3>& axes) {
  // Of exact waves the nearest point bounds the light, too.
  return similar_counts(planned, cloud) && (axes[2] == 2 || contains(planned.summary, cloud.summary, 2)) &&
         std::ranges::all_of(axes, [&](std::size_t axis) { return holds(planned.summary, cloud.summary, axis); });
}

/// True if a cloud may be the planned one in motion.
bool follows(const FastCloud& planned, const FastCloud& cloud) {
  if (!similar_counts(planned, cloud)) return false;
  const auto& now = cloud.summary;
  const auto& then = planned.summary;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const float common = std::min(now.high[axis], then.high[axis]) - std::max(now.low[axis], then.low[axis]);
    if (common < common_range * (then.high[axis] - then.low[axis])) return false;
  }
  return true;
}

/// Widens the ranges of a cloud to those that a grid is made for.
void widen(FastCloud& cloud, const FastCloud& planned) {
  const bool moves = follows(planned, cloud);
  for (std::size_t axis = 0; axis < cloud.summary.low.size(); ++axis) {
    auto& low = cloud.summary.low[axis];
    auto& high = cloud.summary.high[axis];
    if (moves && holds(planned.summary, cloud.summary, axis)) {
      low = planned.summary.low[axis];
      high = planned.summary.high[axis];
      continue;
    }
    const bool grows = moves && !contains(planned.summary, cloud.summary, axis);
    const float slack =
        (grows ? moving_slack : range_slack) * (high - low) + 1e-6F * std::max(std::abs(low), std::abs(high));
    low -= slack;
    high += slack;
  }
}

}  // namespace

std::span<const MethodPrice> method_prices(Backend backend, double tolerance) {
  if (backend == Backend::cpu) return cpu_prices;
  if (tolerance >= float16_three_error) return cuda_prices;
  return tolerance >= long_batch_tolerance ? cuda_fine_prices : cuda_finest_prices;
}

std::vector<PointMethod> possible_methods(const PointCloudOptions& options, Backend backend) {
  constexpr std::string_view where = "PointCloudPlan";
  const auto method = options.method;
  const bool fast = options.tolerance >= point_cloud_fast_tolerance_floor;
  if (method == PointMethod::fast && !fast) {
    const auto expected = fmt::format("another one for tolerances below {}", point_cloud_fast_tolerance_floor);
    throw_unsupported(where, "method", expected, "fast");
  }
  const bool spherical = options.wave == Wave::spherical;
  if (spherical && method != PointMethod::automatic && !has_exact_wave(method, options, backend)) {
    const bool fast_here = method == PointMethod::fast && backend != Backend::opencl;
    throw_unsupported(where, "wave",
                      fmt::format("fresnel with {}{}", to_string(method), fast_here ? " without a band limit" : ""),
                      "spherical");
  }
  if (method != PointMethod::automatic) return {method};
  if (spherical) {
    // fast has the lower cost from a few points on, but a floor; direct has every tolerance and no band limit.
    if (has_exact_wave(PointMethod::fast, options, backend)) return {PointMethod::direct, PointMethod::fast};
    return {PointMethod::direct};
  }
  if (backend == Backend::opencl) return {PointMethod::direct};
  std::vector<PointMethod> possible{PointMethod::separable};
  if (fast) possible.push_back(PointMethod::fast);
  // On the CPU separable is cheaper from the first point on.
  if (backend == Backend::cuda) possible.insert(possible.end(), {PointMethod::direct, PointMethod::recurrence});
  return possible;
}

bool has_exact_wave(PointMethod method, const PointCloudOptions& options, Backend backend) {
  if (method == PointMethod::direct) return true;
  return method == PointMethod::fast && backend != Backend::opencl && options.band_limit &&
         options.tolerance >= point_cloud_fast_tolerance_floor;
}

bool may_be_exact(const PointCloudOptions& options, Backend backend) {
  const auto method = options.method == PointMethod::automatic ? PointMethod::fast : options.method;
  return backend != Backend::opencl && has_exact_wave(method, options, backend);
}

Wave choose_wave(const PointCloudOptions& options, Backend backend, const PointSummary& summary) {
  if (options.wave != Wave::automatic) return options.wave;
  if (!may_be_exact(options, backend)) return Wave::fresnel;
  const double hidden_rad = max_hidden_deviation_rad * std::min(1.0, options.tolerance / 1e-3);
  if (box_deviation_rad(options, summary) > hidden_rad) return Wave::spherical;
  // Fresnel's hard edge may light no pixel at all.
  if (options.band_limit && limit_cosine(options) * nearest_distance_m(summary) < options.pitch_m)
    return Wave::spherical;
  // Where the limit cuts no light, Fresnel's needs no masked products and is faster.
  const FastCloud cloud = fast_cloud(options, {0, 0, options.shape}, 1, summary);
  return lights_whole_panel(cloud) ? Wave::fresnel : Wave::automatic;
}

FastCosts fast_cpu_costs() { return cpu_fast_costs; }

MethodChooser::MethodChooser(const PointCloudOptions& options, std::int64_t rows_at_once, Backend backend, bool on_chip)
    : options_(options), rows_at_once_(rows_at_once), backend_(backend) {
  const bool fast = options.method == PointMethod::fast || options.method == PointMethod::automatic;
  if (fast && backend == Backend::cuda && options.tolerance >= point_cloud_fast_tolerance_floor) {
    precision_ = fast_precision(options.tolerance);
    precision_.on_chip = on_chip;
  }
}

double MethodChooser::price_seconds(PointMethod method, std::int64_t points) const {
  const auto prices = method_prices(backend_, options_.tolerance);
  const auto price = std::ranges::find(prices, method, &MethodPrice::method);
  if (price == prices.end()) return 0;
  return 1e-12 * static_cast<double>(element_count(options_.shape)) *
         (price->fixed_ps + static_cast<double>(points) * price->pair_ps);
}

PointMethod MethodChooser::cheapest(std::int64_t points) const {
  const auto possible = possible_methods(options_, backend_);
  if (possible.size() == 1) return possible.front();
  const auto prices = method_prices(backend_, options_.tolerance);
  const auto cost = [&](const MethodPrice& price) { return price_seconds(price.method, points); };
  const auto best = std::min_element(prices.begin(), prices.end(), [&](const auto& a, const auto& b) {
                      return cost(a) < cost(b);
                    })->method;
  const bool fast_may_be = std::ranges::find(possible, PointMethod::fast) != possible.end();
  return best == PointMethod::separable && fast_may_be ? PointMethod::fast : best;
}

const MethodChoice& MethodChooser::choose(const EnginePoints& points) {
  if (options_.wave == Wave::spherical) {
    if (backend_ == Backend::cpu) {
      choose_spectrum(points.pixels);
    } else {
      choose_wave_grid(points);
    }
    return choice_;
  }
  auto method = cheapest(points.sources.amplitude.size());
  if (options_.method == PointMethod::automatic && lights_little(points.pixels, options_.shape)) {
    method = PointMethod::direct;
  }
  if (method != PointMethod::fast) {
    choice_.method = method;
    choice_.seconds = price_seconds(method, points.sources.amplitude.size());
    planned_ = {};
  } else if (backend_ == Backend::cpu) {
    choose_layout(points.pixels);
  } else {
    choose_grid(points);
  }
  return choice_;
}

void MethodChooser::choose_layout(std::span<const PixelPoint> points) {
  choice_.method = PointMethod::separable;
  choice_.layout = choose_fast_layout(options_.shape, points, options_.tolerance, cpu_fast_costs);
  const auto pairs = static_cast<double>(element_count(options_.shape)) * static_cast<double>(points.size());
  choice_.seconds = 1e-9 * pairs * separable_pair_ns;
  if (choice_.layout.tile[0] == 0) return;  // no grid can hold these depths
  const bool whole = std::all_of(points.begin(), points.end(),
                                 [&](const PixelPoint& point) { return lights_all(point, options_.shape); });
  const double fast = choice_.layout.nanoseconds * (whole ? 1 : band_limit_factor);
  if (fast > pairs * separable_pair_ns) return;
  choice_.method = PointMethod::fast;
  choice_.seconds = 1e-9 * fast;
}

void MethodChooser::choose_spectrum(std::span<const PixelPoint> points) {
  choice_.method = PointMethod::direct;
  if (possible_methods(options_, backend_).back() == PointMethod::direct) return;
  double direct = 0;
  double nearest_m = std::numeric_limits<double>::max();
  for (const auto& point : points) {
    direct += direct_ns(point, options_);
    nearest_m = std::min(nearest_m, std::abs(point_distance_m(options_, point)));
  }
  choice_.seconds = 1e-9 * direct;
  const bool given = options_.method == PointMethod::fast;
  if (!has_ray_zones(options_, nearest_m)) direct = std::max(max_ray_ratio * direct, 1e9 * short_wait_s);
  const auto pixels = static_cast<double>(element_count(options_.shape));
  if (points.empty() || (!given && direct < spectrum_number_ns * pixels)) return;
  choice_.spectrum_block = choose_spectrum_block(options_, points);
  // The middle one stands for all blocks.
  const auto& block = choice_.spectrum_block;
  const PanelBlock middle{(options_.shape[0] - block[0]) / 2, (options_.shape[1] - block[1]) / 2, block};
  const auto lit = points_of_block(points, middle);
  const auto layout =
      choose_spectrum_layout(options_, middle, lit.points.empty() ? points : lit.points, cpu_fast_costs);
  const double numbers = static_cast<double>(layout.period[0]) * static_cast<double>(layout.period[1]);
  if (layout.tile[0] == 0 || numbers > max_spectrum_numbers) return;
  const double blocks = std::ceil(pixels / static_cast<double>(element_count(block)));
  const double fast = blocks * (spectrum_layout_share * layout.nanoseconds + spectrum_number_ns * numbers);
  if (!given && fast >= direct) return;
  choice_.method = PointMethod::fast;
  choice_.seconds = 1e-9 * fast;
}

void MethodChooser::choose_wave_grid(const EnginePoints& points) {
  const std::int64_t count = points.sources.amplitude.size();
  const auto pixels = static_cast<double>(element_count(options_.shape));
  choice_.method = PointMethod::direct;
  choice_.seconds = 1e-12 * pixels * static_cast<double>(count) * exact_pair_ps;
  choice_.fast = {};
  if (possible_methods(options_, backend_).back() == PointMethod::direct) return;
  const auto& summary = points.summary;
  const double nearest_m = nearest_distance_m(summary);
  double least = choice_.seconds;
  if (!has_ray_zones(options_, nearest_m)) least = std::max(max_ray_ratio * least, short_wait_s);
  if (options_.method == PointMethod::fast) least = std::numeric_limits<double>::max();
  const auto consider = [&](double seconds) {
    if (seconds >= least) return false;
    choice_.method = PointMethod::fast;
    choice_.seconds = least = seconds;
    return true;
  };
  consider(choose_wave_spectrum(count, summary));
  const auto block =
      fast_block_shape(options_.shape, rows_at_once_, may_be_coarse_sums(options_.tolerance, precision_.on_chip));
  if (block == Shape<2>{rows_at_once_, options_.shape[1]}) return;
  const auto cut = fast_blocks(options_, block, count, summary);
  const auto nodes = choose_exact_nodes(options_, cut.cloud, precision_);
  if (nodes.grid && consider(1e-6 * static_cast<double>(cut.lit_blocks) * nodes.microseconds)) {
    choice_.fast = nodes;
    ++choice_.fast_number;
  }
}

/// Chooses the grid of plane waves, or of far light, and returns its estimated seconds; infinite: there is none.
double MethodChooser::choose_wave_spectrum(std::int64_t count, const PointSummary& summary) {
  constexpr double none = std::numeric_limits<double>::infinity();
  const Shape<2> block = device_spectrum_block(options_, rows_at_once_, summary);
  if (block[0] == 0) return none;
  const bool whole = block == options_.shape;
  FastCloud cloud = fast_cloud(options_, {0, 0, options_.shape}, count, summary);
  double blocks = 1;
  if (!whole) {
    const auto cut = fast_blocks(options_, block, count, summary);
    cloud = cut.cloud;
    blocks = static_cast<double>(cut.lit_blocks);
  }
  if (options_.deterministic || block != choice_.spectrum_block || !holds(planned_, cloud, summary_axes(options_))) {
    const FastCloud exactly = cloud;
    widen(cloud, options_.deterministic ? FastCloud{} : planned_);
    planned_ = {};  // in case the following calls fail
    choice_.spectrum = choose_spectrum_grid(options_, cloud, precision_);
    if (choice_.spectrum.microseconds == 0) {  // room for motion may be too much
      cloud = exactly;
      choice_.spectrum = choose_spectrum_grid(options_, cloud, precision_);
    }
    choice_.far = whole && !options_.falloff
                      ? choose_far_grid(options_, cloud, precision_, choice_.spectrum.microseconds)
                      : FarGrid();
    choice_.spectrum_block = block;
    ++choice_.fast_number;
    planned_ = cloud;
  }
  if (choice_.spectrum.microseconds == 0) return none;  // no grid can hold these depths
  return 1e-6 * blocks * (choice_.far.microseconds > 0 ? choice_.far.microseconds : choice_.spectrum.microseconds);
}

void MethodChooser::choose_grid(const EnginePoints& points) {
  const Shape<2> shape =
      fast_block_shape(options_.shape, rows_at_once_, may_be_coarse_sums(options_.tolerance, precision_.on_chip));
  FastCloud cloud;
  double blocks = 1;
  if (shape == Shape<2>{rows_at_once_, options_.shape[1]}) {
    // All parts use the layout of the middle one.
    const std::int64_t first_row = (options_.shape[0] - shape[0]) / 2;
    cloud = fast_cloud(options_, {first_row, 0, shape}, points.sources.amplitude.size(), points.summary);
    cloud.center_y_span = static_cast<double>(options_.shape[0] - shape[0] - first_row);
  } else {
    const auto cut = fast_blocks(options_, shape, points.sources.amplitude.size(), points.summary);
    cloud = cut.cloud;
    blocks = static_cast<double>(cut.lit_blocks);
  }
  // Deterministic sums do not depend on the clouds before.
  if (!options_.deterministic && holds(planned_, cloud, summary_axes(options_))) return;
  widen(cloud, options_.deterministic ? FastCloud{} : planned_);
  planned_ = {};  // in case the following calls fail
  const double pairs = static_cast<double>(element_count(shape)) * static_cast<double>(points.sources.amplitude.size());
  const double max_us = fast_launches_us + 1e-3 * pairs * fast_pair_ns(options_.tolerance);
  choice_.fast = choose_fast_grid(cloud, precision_, max_us);
  choice_.timed = !options_.deterministic && blocks > 1 && choice_.fast.microseconds * blocks > min_timed_us;
  if (choice_.timed && precision_.on_chip) {
    FastPrecision off_chip = precision_;
    off_chip.on_chip = false;
    const auto other = choose_fast_grid(cloud, off_chip, max_us);
    if (other.grid && other.microseconds <= max_off_chip * choice_.fast.microseconds) choice_.fast = other;
  }
  choice_.method = choice_.fast.grid ? PointMethod::fast : PointMethod::separable;
  choice_.seconds = 1e-6 * blocks * (choice_.fast.grid ? choice_.fast.microseconds : max_us);
  ++choice_.fast_number;
  planned_ = cloud;
}

}  // namespace holotone::point_cloud
