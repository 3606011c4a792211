// Checks of an electrostatic plan, and the choice of its grid, window, cut-off and expected error.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <holotone/fft/fft.hpp>
#include <holotone/halftone/electrostatic/settings.hpp>
#include <limits>
#include <numbers>

namespace holotone::electrostatic {
namespace {

constexpr double pi = std::numbers::pi;
constexpr std::int64_t largest_extent = 32768;
constexpr std::int64_t max_dots = std::int64_t{1} << 30;
constexpr std::int64_t largest_grid = 8192;
constexpr std::int64_t min_grid = 256;  // of the longer axis: with fewer the period would be many pages
/// Share of the tolerance for the errors of split and window; the rest is for the ink's table and rounding.
constexpr double split_share = 0.9;
/// Share of the tolerance for the error of the image's spline; squares add up.
constexpr double ink_share = 0.35;
/// Range of the cut-off, in steps of the grid.
constexpr double shortest_cutoff = 1.2;
constexpr double longest_cutoff = 7;
/// Radius beyond which a pixel's spot is omitted from the grid, px (density there below 1e-4).
constexpr double spot_reach_px = 3.5 * spot_px;

/// Window and split in units of the grid's step.
struct Split {
  int width = 0;
  double window_beta = 0;
  ForceSplit force;
};

/// Squared net force over the density of uncorrelated dots: 2 pi log(page / nearest neighbour).
double net_force_squared(double dots) { return 2 * pi * std::max(1.0, 0.5 * std::log(dots)); }

/// Smallest cut-off below `most` with at most this squared error, by bisection; 0 if there is none.
double min_cutoff(const SplitError& error, const CloudTable& cloud, double budget, double most) {
  double low = shortest_cutoff;
  double high = std::min(longest_cutoff, most);
  if (high <= low || error(cloud, high) > budget) return 0;
  for (int i = 0; i < 7; ++i) {
    const double middle = 0.5 * (low + high);
    (error(cloud, middle) > budget ? low : high) = middle;
  }
  return high;
}

/// Candidate charge clouds by beta, 3 to 14.
const std::vector<std::pair<double, CloudTable>>& clouds() {
  static const auto all = [] {
    std::vector<std::pair<double, CloudTable>> made;
    for (double beta = 3; beta < 14.5; beta += 0.5) {
      made.emplace_back(beta, CloudTable(beta, 2.2 * longest_cutoff, 0.02));
    }
    return made;
  }();
  return all;
}

/// The cheapest split within the tolerance. One node of a window costs about 1, one neighbour within a square step 1.8
/// (measured on the GPU: spreading and interpolation 90 us at 25 nodes, neighbours 91 us within 3.75 steps).
Split choose_split(double tolerance, double dots, double nodes) {
  constexpr double neighbour_cost = 1.8;
  const double budget = std::pow(split_share * tolerance, 2) * net_force_squared(dots);
  Split best;
  double best_cost = std::numeric_limits<double>::infinity();
  for (int width = 3; width <= 10 && width * width < best_cost; ++width) {
    // Flatter windows jump at their ends: their transforms have tails that the error's three images do not include.
    for (int tenths = 17; tenths <= 24; ++tenths) {
      const double shape = 0.1 * tenths;
      const SplitError error(width, shape * width, nodes);
      for (const auto& [beta, cloud] : clouds()) {
        const double cheaper = std::sqrt(std::max(0.0, best_cost - width * width) / neighbour_cost);
        const double cutoff = min_cutoff(error, cloud, budget, cheaper);
        if (cutoff == 0) continue;
        best_cost = width * width + neighbour_cost * cutoff * cutoff;
        best = {width, shape * width, {beta, cutoff}};
      }
    }
  }
  return best;
}

/// One axis of the grid.
struct Axis {
  std::int64_t grid = 0;
  std::int64_t period = 0;
  double step = 0;
};

/// Number of nodes that rounding up takes: two margins, the page and one node at each end.
constexpr std::int64_t rounding_nodes = 6;

/// Minimum cut-off, px. The attraction is a spline through its values at the pixels' centres, while its far part is
/// summed exactly. They differ by the error of a spline with nodes one pixel apart for a field smoothed by a cloud. It
/// was measured on a contrasty picture with Gaussian clouds exp(-r^2 / xi^2) as 0.0108 n xi^-3.7 1/px for n dots per
/// square pixel.
double min_smooth_cutoff(const Setup& setup, double dots, double beta) {
  const double density = dots / static_cast<double>(element_count(setup.page));
  // A page of a few pixels consists only of edges, unlike the measured picture.
  const double edges = std::min(setup.page[0], setup.page[1]) < 8 ? 3 : 1;
  const double allowed = ink_share / edges * setup.options.tolerance * std::sqrt(density * net_force_squared(dots));
  const double xi = std::pow(0.0108 * density / allowed, 1 / 3.7);
  return xi *
         std::sqrt(beta / 2);  // in the middle of the band the cloud's transform is that of xi = cutoff sqrt(2 / beta)
}

std::int64_t window_margin(int width) { return (width + 1) / 2 + 1; }

/// Step of `grid` nodes on a page of `pixels`, px; infinite if too few nodes remain.
double compute_step(std::int64_t grid, double pixels, int width) {
  const auto inner = static_cast<double>(grid / 2 - taper_nodes - rounding_nodes - 2 * window_margin(width));
  return inner < 1 ? std::numeric_limits<double>::infinity() : (pixels + 2 * spot_reach_px) / inner;
}

/// Chooses a power of two of nodes, from min_grid to largest_grid: the fewest with a step of at most 1.45 `step`. The
/// step is thus above 0.72 `step`, unless min_grid nodes are enough, and at least `finest`.
Axis choose_power_of_two(std::int64_t pixels, double step, int width, double finest) {
  const auto extent = static_cast<double>(pixels);
  Axis axis;
  axis.grid = min_grid;
  while (axis.grid < largest_grid && compute_step(axis.grid, extent, width) > 1.45 * step) axis.grid *= 2;
  const double wanted = static_cast<double>(axis.grid) * std::max(compute_step(axis.grid, extent, width), finest);
  axis.period = fft_friendly_size(static_cast<std::int64_t>(std::ceil(wanted)));
  axis.step = static_cast<double>(axis.period) / static_cast<double>(axis.grid);
  return axis;
}

/// Chooses a number of nodes with a step of about `step`: a power of two, which transforms fastest, if its step is
/// close enough.
Axis choose_axis(std::int64_t pixels, double step, int width, std::int64_t least) {
  const auto extent = static_cast<double>(pixels);
  Axis axis;
  for (std::int64_t grid = std::max<std::int64_t>(least, 32); grid <= largest_grid && axis.grid == 0; grid *= 2) {
    if (compute_step(grid, extent, width) <= 1.3 * step) axis.grid = grid;
  }
  if (axis.grid == 0) axis.grid = largest_grid;
  if (compute_step(axis.grid, extent, width) < 0.8 * step && axis.grid > least) {
    const double nodes = (extent + 2 * spot_reach_px) / (1.05 * step);
    const auto wanted =
        2 * (static_cast<std::int64_t>(std::ceil(nodes)) + taper_nodes + rounding_nodes + 2 * window_margin(width));
    axis.grid = std::clamp(fft_friendly_size(wanted), std::min(least, axis.grid), axis.grid);
  }
  const double wanted = static_cast<double>(axis.grid) * compute_step(axis.grid, extent, width);
  axis.period = fft_friendly_size(static_cast<std::int64_t>(std::ceil(wanted)));
  axis.step = static_cast<double>(axis.period) / static_cast<double>(axis.grid);
  return axis;
}

void set_ewald(Setup& setup, Backend backend) {
  const auto dots = static_cast<double>(std::max<std::int64_t>(setup.maximum_dots, 2));
  const std::int64_t longer = std::max(setup.page[0], setup.page[1]);
  // The neighbours' cost is proportional to crowding step^2, the grid's to 1 / step^2.
  double wanted = 1.03 * setup.spacing_px / std::pow(setup.options.crowding, 0.25);
  const Split split =
      choose_split(setup.options.tolerance, dots, std::max(256.0, 2 * static_cast<double>(longer) / wanted));
  setup.window = {split.width, split.window_beta, 2};
  const double least = min_smooth_cutoff(setup, dots, split.force.beta);
  // The chosen step can be a fifth smaller than wanted.
  wanted = std::max(wanted, least / (0.8 * split.force.cutoff));
  const int major = setup.page[1] >= setup.page[0] ? 1 : 0;
  std::array<Axis, 2> axes;
  const bool cuda = backend == Backend::cuda;
  axes[static_cast<std::size_t>(major)] =
      cuda ? choose_power_of_two(longer, wanted, split.width, 0) : choose_axis(longer, wanted, split.width, min_grid);
  const double step = axes[static_cast<std::size_t>(major)].step;
  const std::int64_t shorter = std::min(setup.page[0], setup.page[1]);
  axes[static_cast<std::size_t>(1 - major)] =
      cuda ? choose_power_of_two(shorter, step, split.width, 0.8 * step) : choose_axis(shorter, step, split.width, 32);
  const double coarsest = std::max(axes[0].step, axes[1].step);
  const double finest = std::min(axes[0].step, axes[1].step);
  setup.margin = window_margin(split.width) + static_cast<std::int64_t>(std::ceil(spot_reach_px / finest));
  for (std::size_t axis = 0; axis < 2; ++axis) {
    setup.grid[axis] = axes[axis].grid;
    setup.period[axis] = axes[axis].period;
    const double end = static_cast<double>(setup.page[axis]) / axes[axis].step;
    setup.used[axis] = 2 * setup.margin + static_cast<std::int64_t>(std::ceil(end)) + 1;
  }
  setup.step_y = axes[0].step;
  setup.step_x = axes[1].step;
  setup.cutoff = std::max(least, split.force.cutoff * coarsest);
  setup.split_beta = split.force.beta;
  const double cutoff = setup.cutoff / coarsest;
  const SplitError error(split.width, split.window_beta,
                         static_cast<double>(setup.grid[static_cast<std::size_t>(major)]));
  setup.expected_error =
      std::sqrt(error(CloudTable(split.force.beta, 2.2 * cutoff, 0.02), cutoff) / net_force_squared(dots));
}

constexpr std::int64_t min_taylor_modes = 64;

void set_taylor(Setup& setup) {
  constexpr double border = 1.0 / 16;
  const int degree = setup.options.taylor_degree;
  setup.border = border;
  std::int64_t wanted = setup.options.taylor_modes;
  if (wanted == 0) {
    const double modes = std::sqrt(degree * static_cast<double>(setup.maximum_dots));
    wanted = std::max(min_taylor_modes, static_cast<std::int64_t>(std::ceil(modes)));
  }
  setup.modes = fft_friendly_size(wanted);
  setup.inner = setup.options.taylor_radius * degree / static_cast<double>(setup.modes);
  const double radius = 0.5 * std::hypot(static_cast<double>(setup.page[0]), static_cast<double>(setup.page[1]));
  setup.scale = (1 - border) / 4 / radius;
  setup.cutoff = setup.inner / setup.scale;
  setup.window = {2 * setup.options.window_cutoff, 0, 2};
}

void check(Shape<2> page, std::int64_t maximum_dots, const ElectrostaticOptions& options) {
  constexpr auto where = "ElectrostaticPlan";
  for (const auto extent : page) {
    if (extent < 1 || extent > largest_extent) {
      throw_argument(where, "page", fmt::format("extents from 1 to {}", largest_extent), to_string<2>(page));
    }
  }
  if (maximum_dots < 0 || maximum_dots > max_dots) {
    throw_argument(where, "maximum_dots", fmt::format("0 to {}", max_dots), fmt::format("{}", maximum_dots));
  }
  if (options.sum == ForceSum::ewald) {
    require_bounds(where, "tolerance", options.tolerance, bounds_of<&ElectrostaticOptions::tolerance>);
    require_bounds(where, "crowding", options.crowding, bounds_of<&ElectrostaticOptions::crowding>);
  }
  if (options.sum == ForceSum::taylor) {
    require_bounds(where, "window_cutoff", options.window_cutoff, bounds_of<&ElectrostaticOptions::window_cutoff>);
    require_bounds(where, "taylor_degree", options.taylor_degree, bounds_of<&ElectrostaticOptions::taylor_degree>);
    require_bounds(where, "taylor_radius", options.taylor_radius, bounds_of<&ElectrostaticOptions::taylor_radius>);
    if (options.taylor_modes != 0) {
      require_range(where, "taylor_modes", static_cast<double>(options.taylor_modes), min_taylor_modes, 8192);
    }
  }
}

}  // namespace

Setup make_setup(Shape<2> page, std::int64_t maximum_dots, const ElectrostaticOptions& options, Backend backend) {
  check(page, maximum_dots, options);
  Setup setup;
  setup.page = page;
  setup.maximum_dots = maximum_dots;
  setup.options = options;
  const auto area = static_cast<double>(element_count(page));
  setup.spacing_px = std::sqrt(area / static_cast<double>(std::max<std::int64_t>(maximum_dots, 1)));
  setup.same_place_force = 1 / (same_place_spacing * setup.spacing_px);
  switch (options.sum) {
    case ForceSum::ewald: set_ewald(setup, backend); break;
    case ForceSum::taylor: set_taylor(setup); break;
    case ForceSum::direct: break;
  }
  return setup;
}

}  // namespace holotone::electrostatic
