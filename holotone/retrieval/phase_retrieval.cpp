#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/no_backend.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/random.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/optics/reconstruction_engine.hpp>
#include <holotone/retrieval/problem.hpp>
#include <holotone/retrieval/vortices.hpp>
#include <numbers>

namespace holotone {
namespace {

using retrieval::RegionSums;

constexpr std::string_view name = "PhaseRetrievalPlan";
constexpr double turn = 2 * std::numbers::pi;

SignalRegion checked_region(const PhaseRetrievalOptions& options) {
  SignalRegion region = options.region;
  const auto [ny, nx] = options.grid.shape();
  if (region.rows == 0) region.rows = ny - region.row;
  if (region.columns == 0) region.columns = nx - region.column;
  const auto within = [](std::int64_t first, std::int64_t count, std::int64_t all) {
    return first >= 0 && count > 0 && first < all && count <= all - first;
  };
  if (!within(region.row, region.rows, ny) || !within(region.column, region.columns, nx)) {
    throw_argument(
        name, "region", fmt::format("a part of the picture of {} x {} pixels", nx, ny),
        fmt::format("{} x {} from column {}, row {}", region.columns, region.rows, region.column, region.row));
  }
  return region;
}

void require(bool holds, std::string_view argument, std::string_view expected, double got) {
  if (!holds) throw_argument(name, argument, expected, fmt::format("{}", got));
}

/// Levels in [0, 2 pi), sorted, each once.
std::vector<float> checked_levels(const std::vector<double>& phases) {
  if (phases.empty()) return {};
  require(phases.size() >= 2 && phases.size() <= 65536, "level_phase_rad", "2 to 65536 levels",
          static_cast<double>(phases.size()));
  std::vector<float> levels;
  for (const double phase : phases) {
    require(std::isfinite(phase), "level_phase_rad", "finite phases", phase);
    const double rest = std::fmod(phase, turn);  // exact, however large the phase
    const auto level = static_cast<float>(rest < 0 ? rest + turn : rest);
    levels.push_back(level < static_cast<float>(turn) ? level : 0);
  }
  std::ranges::sort(levels);
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  return levels;
}

void require_solver(const SolverOptions& solver, const PhaseRetrievalOptions& options) {
  const auto is = [&](RetrievalSolver wanted) { return solver.solver == wanted; };
  const bool projects = is(RetrievalSolver::gerchberg_saxton) || is(RetrievalSolver::weighted_gerchberg_saxton);
  require_bounds(name, "iterations", solver.iterations, bounds_of<&SolverOptions::iterations>);
  require_bounds(name, "pairs", solver.pairs, bounds_of<&SolverOptions::pairs>);
  require_bounds(name, "rate_rad", solver.rate_rad, bounds_of<&SolverOptions::rate_rad>);
  require_bounds(name, "relaxation", solver.relaxation, bounds_of<&SolverOptions::relaxation>);
  if (projects && options.loss == RetrievalLoss::intensity) {
    throw_argument(name, "loss", "amplitude with gs and wgs, which replace amplitudes", "intensity");
  }
  if (projects && !solver.level_phase_rad.empty()) {
    throw_argument(name, "level_phase_rad", "none with gs and wgs", "levels");
  }
  if (options.efficiency > 0 && solver.camera) throw_argument(name, "efficiency", "0 with a camera", "a share");
  if (is(RetrievalSolver::lbfgs) && solver.camera) {
    throw_argument(name, "camera", "adam, gs or wgs", "lbfgs");
  }
}

}  // namespace

PhaseRetrievalOptions retrieval::checked_options(const PhaseRetrievalOptions& options) {
  require_grid(name, options.grid);
  require_bounds(name, "planes", static_cast<double>(options.planes.size()), bounds_of<&PhaseRetrievalOptions::planes>);
  require_bounds(name, "frames", static_cast<double>(options.frames), bounds_of<&PhaseRetrievalOptions::frames>);
  for (const auto& plane : options.planes) {
    require(std::isfinite(plane.distance_m), "planes.distance_m", "a finite distance", plane.distance_m);
    require(std::isfinite(plane.weight) && plane.weight > 0, "planes.weight", "> 0", plane.weight);
    if (!plane.pupil) continue;
    if (options.focal_length_m > 0) throw_argument(name, "planes.pupil", "none with a lens", "a pupil");
    reconstruction::require_aperture(options.grid, *plane.pupil);
  }
  require(std::isfinite(options.focal_length_m) && options.focal_length_m >= 0, "focal_length_m",
          "> 0, or 0 without a lens", options.focal_length_m);
  const auto& response = options.response;
  require_bounds(name, "response.fill_factor", response.fill_factor, bounds_of<&PanelResponse::fill_factor>);
  require_bounds(name, "response.zero_order", response.zero_order, bounds_of<&PanelResponse::zero_order>);
  require_bounds(name, "efficiency", options.efficiency, bounds_of<&PhaseRetrievalOptions::efficiency>);
  if (options.efficiency > 0 && options.planes.size() > 1) {
    throw_argument(name, "efficiency", "one plane", fmt::format("{} planes", options.planes.size()));
  }
  if (options.efficiency > 0 && options.loss == RetrievalLoss::intensity) {
    throw_argument(name, "efficiency", "the loss amplitude", "intensity");
  }
  PhaseRetrievalOptions result = options;
  result.region = checked_region(options);
  return result;
}

struct PhaseRetrievalPlan::State {
  PhaseRetrievalOptions options;
  Queue queue;
  std::unique_ptr<retrieval::Engine> engine;
  std::vector<Array<float, 2>> targets;  ///< in host memory
  std::vector<double> peaks;             ///< largest amplitude of each target in the region; negative: no target yet

  template <class T, std::size_t Rank>
  void require_shape(std::string_view argument, View<T, Rank> view, const Shape<Rank>& shape) const {
    require_device(name, argument, queue.device(), view.device());
    if (view.shape() != shape || view.empty()) {
      throw_argument(name, argument, to_string<Rank>(shape), to_string<Rank>(view.shape()));
    }
  }
  [[nodiscard]] Shape<3> phases() const { return {options.frames, options.grid.ny, options.grid.nx}; }
  [[nodiscard]] double peak() const { return *std::ranges::max_element(peaks); }
  void require_targets() const {
    for (std::size_t plane = 0; plane < peaks.size(); ++plane) {
      if (peaks[plane] < 0) {
        throw_argument(name, "target", "set_target before", fmt::format("no target of plane {}", plane));
      }
    }
    if (peak() == 0) throw_argument(name, "target", "light in the signal region of one plane", "zeros");
  }
  [[nodiscard]] retrieval::Problem problem(RetrievalCamera camera = {}) const {
    return {*engine, options, queue, std::move(camera)};
  }
};

PhaseRetrievalPlan::PhaseRetrievalPlan(const PhaseRetrievalOptions& options, Queue queue)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.options = retrieval::checked_options(options);
  s.queue = std::move(queue);
  s.peaks.assign(options.planes.size(), -1);
  s.targets.resize(options.planes.size());
  switch (s.queue.device().backend) {
    case Backend::cpu: s.engine = retrieval::engine_cpu(s.options); break;
    case Backend::cuda:
#if HOLOTONE_CUDA
      s.engine = retrieval::engine_cuda(s.options, s.queue);
      break;
#endif
    case Backend::opencl: throw_no_backend(name, s.queue.device());
  }
}

PhaseRetrievalPlan::~PhaseRetrievalPlan() = default;
PhaseRetrievalPlan::PhaseRetrievalPlan(PhaseRetrievalPlan&&) noexcept = default;
PhaseRetrievalPlan& PhaseRetrievalPlan::operator=(PhaseRetrievalPlan&&) noexcept = default;

const PhaseRetrievalOptions& PhaseRetrievalPlan::options() const { return state_->options; }

void PhaseRetrievalPlan::set_target(View<const float, 2> amplitude, std::size_t plane) {
  State& s = *state_;
  s.require_shape("amplitude", amplitude, s.options.grid.shape());
  if (plane >= s.peaks.size()) {
    throw_argument(name, "plane", fmt::format("0 to {}", s.peaks.size() - 1), fmt::format("{}", plane));
  }
  auto host = copy_of(amplitude, Device{});
  const auto& region = s.options.region;
  float peak = 0;
  for (std::int64_t row = 0; row < host.shape()[0]; ++row) {
    for (std::int64_t column = 0; column < host.shape()[1]; ++column) {
      const float value = host(row, column);
      if (!std::isfinite(value) || value < 0) {
        throw_argument(name, "amplitude", "finite values >= 0",
                       fmt::format("{} in column {}, row {}", value, column, row));
      }
      const bool inside = row >= region.row && row < region.row + region.rows && column >= region.column &&
                          column < region.column + region.columns;
      if (inside) peak = std::max(peak, value);
    }
  }
  if (peak == 0 && s.peaks.size() == 1) throw_argument(name, "amplitude", "light in the signal region", "zeros");
  s.engine->set_target(plane, host.data());
  s.targets[plane] = std::move(host);
  s.peaks[plane] = static_cast<double>(peak);
}

void PhaseRetrievalPlan::set_source(View<const Complex, 2> light) {
  State& s = *state_;
  s.require_shape("light", light, s.options.grid.shape());
  const auto host = copy_of(light, Device{});
  bool lit = false;
  for (const Complex value : host.host()) {
    if (!std::isfinite(value.real()) || !std::isfinite(value.imag())) {
      throw_argument(name, "light", "finite values", fmt::format("{} + {} i", value.real(), value.imag()));
    }
    lit = lit || value != Complex{};
  }
  if (!lit) throw_argument(name, "light", "light on the panel", "zeros");
  s.engine->set_source(host.data());
}

double PhaseRetrievalPlan::gradient(View<const float, 3> phase_rad, View<float, 3> derivative) {
  State& s = *state_;
  s.require_shape("phase_rad", phase_rad, s.phases());
  s.require_shape("derivative", derivative, s.phases());
  s.require_targets();
  return s.problem().evaluate(phase_rad.data(), derivative.data());
}

RetrievalResult PhaseRetrievalPlan::optimize(View<float, 3> phase_rad, const SolverOptions& solver,
                                             Progress& progress) {
  State& s = *state_;
  s.require_shape("phase_rad", phase_rad, s.phases());
  s.require_targets();
  require_solver(solver, s.options);
  const auto levels = checked_levels(solver.level_phase_rad);
  auto problem = s.problem(solver.camera);
  return retrieval::solve(problem, phase_rad.data(), solver, levels, s.peak(), progress);
}

std::vector<RetrievalQuality> PhaseRetrievalPlan::quality(View<const float, 3> phase_rad) {
  State& s = *state_;
  s.require_shape("phase_rad", phase_rad, s.phases());
  s.require_targets();
  s.engine->propagate(phase_rad.data(), retrieval::max_positions);
  const double panel = s.engine->panel_light();
  const auto sums = s.engine->sums(RetrievalLoss::amplitude);
  const auto pixels = static_cast<double>(s.options.region.rows * s.options.region.columns);
  std::vector<RetrievalQuality> result(s.options.planes.size(), {0, INFINITY, 0});
  for (std::size_t p = 0; p < retrieval::max_positions; ++p) {
    std::vector<RegionSums> region_sums;
    for (std::size_t k = 0; k < result.size(); ++k) region_sums.push_back(sums[k * retrieval::max_positions + p]);
    const double scale = retrieval::common_scale(region_sums, s.options.planes);
    for (std::size_t k = 0; k < result.size(); ++k) {
      const double psnr = retrieval::psnr_db(s.peak(), pixels, region_sums[k].error(scale));
      if (p == 0) {
        result[k].psnr_db = psnr;
        result[k].efficiency = panel > 0 ? region_sums[k].energy / panel : 0;
      }
      result[k].psnr_worst_db = std::min(result[k].psnr_worst_db, psnr);
    }
  }
  return result;
}

std::vector<std::int64_t> PhaseRetrievalPlan::vortices(View<const float, 3> phase_rad) {
  State& s = *state_;
  s.require_shape("phase_rad", phase_rad, s.phases());
  s.require_targets();
  s.engine->propagate(phase_rad.data(), retrieval::max_positions);
  std::vector<std::int64_t> counts(s.peaks.size());
  for (std::size_t plane = 0; plane < counts.size(); ++plane) {
    const auto lit = retrieval::lit_pixels(s.targets[plane].view(), s.options.region, s.peaks[plane]);
    for (std::int64_t frame = 0; frame < s.options.frames; ++frame) {
      counts[plane] += retrieval::count_vortices(s.engine->waves(plane, frame), lit.view());
    }
  }
  return counts;
}

Array<float, 4> PhaseRetrievalPlan::light(View<const float, 3> phase_rad) {
  State& s = *state_;
  s.require_shape("phase_rad", phase_rad, s.phases());
  s.engine->propagate(phase_rad.data(), retrieval::max_positions);
  const auto& grid = s.options.grid;
  Array<float, 4> intensity({std::ssize(s.peaks), std::ssize(half_pixels), grid.ny, grid.nx});
  float* values = intensity.data();
  for (std::size_t plane = 0; plane < s.peaks.size(); ++plane) {
    for (std::size_t position = 0; position < retrieval::max_positions; ++position) {
      s.engine->amplitude(plane, position, values);
      values += grid.ny * grid.nx;
    }
  }
  for (float& value : intensity.host()) value *= value;
  return intensity;
}

RetrievalQuality worst_of(std::span<const RetrievalQuality> planes) {
  if (planes.empty()) throw_argument("worst_of", "planes", "at least one", "none");
  RetrievalQuality worst = planes.front();
  for (const auto& plane : planes) {
    worst.psnr_db = std::min(worst.psnr_db, plane.psnr_db);
    worst.psnr_worst_db = std::min(worst.psnr_worst_db, plane.psnr_worst_db);
    worst.efficiency = std::min(worst.efficiency, plane.efficiency);
  }
  return worst;
}

Array<float, 3> starting_phase(Shape<3> shape, double spread_rad, std::uint64_t seed) {
  if (!std::isfinite(spread_rad) || spread_rad < 0) {
    throw_argument("starting_phase", "spread_rad", "a finite angle >= 0", fmt::format("{}", spread_rad));
  }
  Array<float, 3> phase(shape);
  parallel_blocks(phase.size(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const double random = random_uniform64(seed, static_cast<std::uint64_t>(i));
      phase.data()[i] = static_cast<float>(spread_rad * (2 * random - 1));
    }
  });
  return phase;
}

void spread_over_region(View<float, 3> phase_rad, const PhaseRetrievalOptions& options) {
  const auto wanted = retrieval::checked_options(options);
  const auto [ny, nx] = wanted.grid.shape();
  if (phase_rad.shape() != Shape<3>{wanted.frames, ny, nx}) {
    throw_argument("spread_over_region", "phase_rad", to_string<3>({wanted.frames, ny, nx}),
                   to_string<3>(phase_rad.shape()));
  }
  // The local frequency at x is alpha x + beta / 2 cycles a pixel, and n times that a picture pixel from the middle.
  const auto along = [](std::int64_t n, std::int64_t first, std::int64_t count) {
    std::vector<double> phase(static_cast<std::size_t>(n));
    const double all = static_cast<double>(n);
    const double alpha = static_cast<double>(count) / (all * all);
    const double beta = (2 * static_cast<double>(first) + static_cast<double>(count) - all) / all;
    for (std::int64_t i = 0; i < n; ++i) {
      const double x = static_cast<double>(i) - 0.5 * static_cast<double>(n - 1);
      phase[static_cast<std::size_t>(i)] = std::numbers::pi * (alpha * x * x + beta * x);
    }
    return phase;
  };
  const auto down = along(ny, wanted.region.row, wanted.region.rows);
  const auto across = along(nx, wanted.region.column, wanted.region.columns);
  for (std::int64_t t = 0; t < wanted.frames; ++t) {
    for (std::int64_t y = 0; y < ny; ++y) {
      for (std::int64_t x = 0; x < nx; ++x) {
        const double lens = down[static_cast<std::size_t>(y)] + across[static_cast<std::size_t>(x)];
        phase_rad(t, y, x) += static_cast<float>(std::remainder(lens, turn));
      }
    }
  }
}

std::size_t retrieval_bytes(const PhaseRetrievalOptions& options, const SolverOptions& solver, Device device) {
  const auto wanted = retrieval::checked_options(options);
  require_solver(solver, wanted);
  const auto count = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  const bool on_gpu = device.backend != Backend::cpu;
  const std::size_t pixels = count(wanted.grid.nx) * count(wanted.grid.ny);
  const std::size_t padded =
      count(fft_friendly_size(2 * wanted.grid.nx)) * count(fft_friendly_size(2 * wanted.grid.ny));
  const std::size_t planes = wanted.planes.size();
  const std::size_t frames = count(wanted.frames);
  const std::size_t pictures = planes * retrieval::max_positions;
  // Two padded arrays and a quarter of each transfer function; with a lens three arrays of the panel.
  const std::size_t path =
      wanted.focal_length_m > 0 ? 3 * pixels * sizeof(Complex) : padded * (3 + planes) * sizeof(Complex);
  // A GPU has pictures of the whole panel, and the errors of a plane.
  const std::size_t picture = on_gpu ? pixels : count(wanted.region.rows * wanted.region.columns);
  const std::size_t errors = on_gpu ? (retrieval::max_positions + 2) * pixels * sizeof(Complex) : 0;
  const std::size_t light = pictures * picture * (frames * sizeof(Complex) + 3 * sizeof(float)) + errors;
  const bool remembers = solver.solver == RetrievalSolver::lbfgs;
  const std::size_t vectors = 4 + (remembers ? 2 * count(solver.pairs + 1) : 0);
  const std::size_t measured = solver.camera ? pictures * pixels * sizeof(float) : 0;
  return path + light + measured + vectors * frames * pixels * sizeof(float) + pixels * sizeof(Complex);
}

}  // namespace holotone
