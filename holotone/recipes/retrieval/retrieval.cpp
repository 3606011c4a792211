#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/recipes/beam_target.hpp>
#include <holotone/recipes/retrieval.hpp>
#include <holotone/recipes/retrieval/panel_light.hpp>
#include <holotone/recipes/retrieval/target_picture.hpp>
#include <holotone/recipes/viewing/wanted_light.hpp>
#include <holotone/retrieval/transport/transport.hpp>
#include <numbers>

namespace holotone {
namespace {

constexpr std::string_view where = "retrieve_picture";

using Amplitudes = std::vector<View<const float, 2>>;

double energy(View<const float, 2> amplitude) {
  double sum = 0;
  for (const float value : amplitude.host()) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

/// A picture's pixels are lit above this share of its largest intensity.
constexpr float lit_intensity = 0.01F;

/// Shares of a region's light in the pixels that a picture lights, and their number.
struct LitPixels {
  std::int64_t count = 0;
  double share = 0;
};

LitPixels find_lit(const Array<float, 2>& amplitude, View<const float, 2> seen, const SignalRegion& region,
                   double largest) {
  const auto least = static_cast<float>(largest) * std::sqrt(lit_intensity);
  LitPixels lit;
  double all = 0;
  for (std::int64_t row = region.row; row < region.row + region.rows; ++row) {
    for (std::int64_t column = region.column; column < region.column + region.columns; ++column) {
      const auto light = static_cast<double>(seen(row, column));
      all += light;
      if (amplitude(row, column) <= least) continue;
      lit.share += light;
      ++lit.count;
    }
  }
  if (all > 0) lit.share /= all;
  return lit;
}

double largest_in(const Array<float, 2>& amplitude, const SignalRegion& region) {
  float largest = 0;
  for (std::int64_t row = region.row; row < region.row + region.rows; ++row) {
    const float* const first = &amplitude(row, region.column);
    largest = std::max(largest, *std::max_element(first, first + region.columns));
  }
  return static_cast<double>(largest);
}

/// Throws for amplitudes that do not belong to the planes. Returns their largest value.
float require_amplitudes(const Amplitudes& amplitudes, const PhaseRetrievalOptions& model) {
  if (amplitudes.empty() || model.planes.size() % amplitudes.size() != 0) {
    throw_argument(where, "amplitudes", fmt::format("one for each of {} planes, or of several", model.planes.size()),
                   fmt::format("{}", amplitudes.size()));
  }
  float largest = 0;
  for (const auto& amplitude : amplitudes) {
    if (amplitude.shape() != model.grid.shape()) {
      throw_argument(where, "amplitudes", to_string<2>(model.grid.shape()), to_string<2>(amplitude.shape()));
    }
    largest = std::max(largest, *std::ranges::max_element(amplitude.host()));
  }
  if (!(largest > 0)) throw_argument(where, "amplitudes", "a picture with some light", "a black one");
  return largest;
}

/// One retrieval: its plan, and what it reached so far.
class Retrieval {
 public:
  Retrieval(const Amplitudes& amplitudes, const PictureRetrievalOptions& options, const Queue& queue)
      : amplitudes_(amplitudes),
        options_(options),
        queue_(queue),
        largest_(require_amplitudes(amplitudes, options.model)),
        plan_(options.model, queue) {
    const std::size_t planes = options.model.planes.size();
    for (std::size_t plane = 0; plane < planes; ++plane) set_target(target(plane), plane);
    beam_ = beam_light(options);
    if (!beam_.empty()) plan_.set_source(beam_.to(queue_.device()).view());
    made_.planes = options.model.planes;
    made_.region = plan_.options().region;
    made_.rounding = chosen_rounding(options);
  }

  PictureRetrieval make(Progress& progress) {
    SolverOptions solver = options_.solver;
    solver.level_phase_rad.clear();
    if (made_.rounding == CodeRounding::stages) solver.level_phase_rad = code_phases(options_.encoding);
    int steps = 0;
    solver.report = [&steps, report = options_.solver.report](int iteration, double psnr_db) {
      steps = iteration;
      if (report) report(iteration, psnr_db);
    };
    set_start();
    // The camera corrects what the model alone has reached.
    if (solver.camera && options_.simulates_first) optimize({.iterations = solver.iterations}, progress);
    if (!made_.stopped) optimize(solver, progress);
    made_.steps.iterations = steps;
    show_codes();
    compare();
    describe();
    return std::move(made_);
  }

 private:
  /// Scaled to a largest value of 1: squares of very dim or bright light leave the range of float32.
  [[nodiscard]] Array<float, 2> target(std::size_t plane) const {
    const auto& amplitude = amplitudes_[plane * amplitudes_.size() / options_.model.planes.size()];
    Array<float, 2> scaled(amplitude.shape());
    std::ranges::transform(amplitude.host(), scaled.data(), [this](float value) { return value / largest_; });
    return scaled;
  }

  void set_target(const Array<float, 2>& amplitude, std::size_t plane) {
    plan_.set_target(amplitude.to(queue_.device()).view(), plane);
  }

  void set_start() {
    const auto& model = plan_.options();
    const Shape<3> shape{model.frames, model.grid.ny, model.grid.nx};
    if (!options_.start_rad.empty()) {
      if (options_.start_rad.shape() != shape) {
        throw_argument(where, "start_rad", to_string<3>(shape), to_string<3>(options_.start_rad.shape()));
      }
      made_.phase_rad = copy_of(options_.start_rad, Device{});
      return;
    }
    made_.start = options_.start.value_or(StartPhase::smooth);
    const bool random = made_.start == StartPhase::random;
    if (made_.start == StartPhase::transport || may_transport(options_)) {
      if (start_by_transport(shape)) return;
    }
    made_.phase_rad = starting_phase(shape, random ? std::numbers::pi : 0.5, options_.seed);
    if (model.focal_length_m > 0 && !random) spread_over_region(made_.phase_rad.view(), model);
  }

  /// False if the panel cannot show it, and the options do not ask for it.
  bool start_by_transport(Shape<3> shape) {
    constexpr double highest_shown = 0.45;  // cycles a pixel
    constexpr double spread_rad = 0.25;     // breaks the symmetry of places with even light
    const auto& model = plan_.options();
    // More light in the picture than it is to have at last: the solver takes some away faster than it brings it.
    const double usual = model.focal_length_m > 0 ? 0.95 : 0.75;
    const double share = model.efficiency > 0 ? model.efficiency + 0.4 * (1 - model.efficiency) : usual;
    const auto found = transport_phase(model, target(0).view(), beam_.view(), share, queue_);
    const bool is_shown = model.focal_length_m > 0 || found.highest_frequency <= highest_shown;
    if (!is_shown && !options_.start) return false;
    made_.start = StartPhase::transport;
    made_.phase_rad = starting_phase(shape, spread_rad, options_.seed);
    const std::int64_t pixels = found.phase_rad.size();
    for (std::int64_t i = 0; i < made_.phase_rad.size(); ++i) {
      made_.phase_rad.data()[i] += found.phase_rad.data()[i % pixels];
    }
    return true;
  }

  void optimize(const SolverOptions& solver, Progress& progress) {
    const auto begin = std::chrono::steady_clock::now();
    auto phase_rad = copy_of<const float, 3>(made_.phase_rad.view(), queue_.device());
    try {
      made_.steps = plan_.optimize(phase_rad.view(), solver, progress);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::cancelled || !options_.keeps_best) throw;
      made_.stopped = true;
    }
    made_.phase_rad = phase_rad.to(Device{});
    made_.solve_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  /// Sets the codes, and the phases that they show without what they add.
  void show_codes() {
    const auto& grid = options_.model.grid;
    made_.codes = Array<std::uint16_t, 3>(made_.phase_rad.shape());
    shown_ = Array<float, 3>(made_.phase_rad.shape());
    for (std::int64_t t = 0; t < options_.model.frames; ++t) {
      const std::int64_t first = t * grid.ny * grid.nx;
      const auto shown = phase_codes({made_.phase_rad.data() + first, grid.shape()}, options_.encoding, grid);
      std::ranges::copy(shown.codes.host(), made_.codes.data() + first);
      std::ranges::copy(shown.shown_rad.host(), shown_.data() + first);
    }
  }

  void compare() {
    const auto& against = options_.against;
    const auto wanted = [&](std::size_t plane) { return against.empty() ? target(plane) : copy_of(against, Device{}); };
    if (!against.empty()) set_target(wanted(0), 0);
    const auto on_device = copy_of<const float, 3>(shown_.view(), queue_.device());
    made_.quality = plan_.quality(on_device.view());
    made_.vortices = plan_.vortices(on_device.view());
    const auto light = plan_.light(on_device.view());
    const auto [planes, positions, ny, nx] = light.shape();
    if (!options_.even.empty()) {
      made_.unevenness = find_unevenness({light.data(), {positions, ny, nx}}, options_.even);
    }
    const auto& region = made_.region;
    made_.difference = Array<std::uint8_t, 2>(planes == 1 ? Shape<2>{region.rows, region.columns} : Shape<2>{});
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      const auto amplitude = wanted(static_cast<std::size_t>(plane));
      const double largest = largest_in(amplitude, region);
      const auto lit = find_lit(amplitude, {light.data() + plane * positions * ny * nx, {ny, nx}}, region, largest);
      made_.lit_efficiency.push_back(lit.share * made_.quality[static_cast<std::size_t>(plane)].efficiency);
      if (plane == 0) made_.lit_pixels = lit.count;
      const WantedLight picture(amplitude.view(), region, largest);
      made_.seen.emplace_back();
      if (picture.is_dark()) continue;  // a plane of a stack
      PositionComparisons compared{};
      for (std::size_t p = 0; p < compared.size(); ++p) {
        const auto position = std::min(static_cast<std::int64_t>(p), positions - 1);  // the samples may be alone
        const View<const float, 2> seen(light.data() + (plane * positions + position) * ny * nx, {ny, nx});
        compared[p] = position < static_cast<std::int64_t>(p)
                          ? compared[0]
                          : picture.compare(seen, p, p == 0 ? made_.difference.view() : View<std::uint8_t, 2>());
      }
      made_.seen.back() = find_worst(compared);
    }
  }

  void describe() {
    const double brightest = static_cast<double>(largest_) * static_cast<double>(largest_);
    made_.object_energy = brightest * energy(target(0).view()) / std::max(1e-6, made_.quality.front().efficiency);
    auto whole = options_;
    whole.model.region = made_.region;
    made_.metadata = retrieval_metadata(whole, made_.start);
  }

  const Amplitudes& amplitudes_;
  const PictureRetrievalOptions& options_;
  Queue queue_;
  float largest_;
  PhaseRetrievalPlan plan_;
  Array<Complex, 2> beam_;
  Array<float, 3> shown_;
  PictureRetrieval made_;
};

}  // namespace

PictureRetrieval retrieve_amplitudes(const std::vector<View<const float, 2>>& amplitudes,
                                     const PictureRetrievalOptions& options, const Queue& queue, Progress& progress) {
  require_retrieval(options);
  return Retrieval(amplitudes, options, queue).make(progress);
}

PictureRetrieval retrieve_picture(View<const float, 2> intensity, const PictureRetrievalOptions& options,
                                  const Queue& queue, Progress& progress) {
  require_retrieval(options);
  PictureRetrievalOptions placed = options;
  auto& model = placed.model;
  const Shape<2> pixels = model.grid.shape();
  const Shape<2> sides = model.focal_length_m > 0 ? sides_behind_lens(intensity.shape(), pixels) : intensity.shape();
  const bool anywhere = model.region.rows == 0 || model.region.columns == 0;
  model.region = anywhere ? region_in_middle(pixels, sides, options.part) : region_within(model.region, sides);
  const auto amplitude = amplitude_in(intensity, model.grid, model.region);
  return retrieve_amplitudes({amplitude.view()}, placed, queue, progress);
}

}  // namespace holotone
