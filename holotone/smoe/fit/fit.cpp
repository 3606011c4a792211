// Fitting models to pictures: expectation-maximisation, gradient descent, moves of components.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/random.hpp>
#include <holotone/smoe/fit.hpp>
#include <holotone/smoe/fit/steps.hpp>
#include <numeric>
#include <set>

namespace holotone {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* where = "SmoeFitter";
// PSNR below: mean over kodim05 and 15 (and 23 where stated), with 5,000 components.

/// Steps of EM before the descent. PSNR after 300 steps, with 23: none 33.2, 5 33.89, 20 33.90 dB.
constexpr int align_steps = 5;
/// Fractions of the time limit: end of EM, and longest duration of the last solve.
constexpr double em_share = 0.7;
constexpr double solve_share = 0.3;
/// Tolerances of the component lists: coarse until the fraction `coarse_until` of the descent, then fine.
constexpr double coarse_tolerance = 1.0 / 255;
constexpr double fine_tolerance = 0.25 / 255;
constexpr double coarse_until = 0.85;
constexpr std::int64_t select_interval = 20;
constexpr std::int64_t select_interval_of_views = 60;
/// Steps between moves of components. PSNR after 1,500 steps: every 100 of at most 3 % of the components 33.57 dB.
/// After 1,000: every 40 of 3 % 33.65, of 6 % 33.81, of 10 % 33.77; every 80 of 10 % 33.78; every 20 of 2 % 33.70. No
/// moves: 0.1 dB below the first after 300.
constexpr std::int64_t relocate_interval = 40;
constexpr std::int64_t relocate_interval_of_views = 200;
/// Fraction of the steps with moves. Kodim05, 15, 19 and 23, until 0.7 and 0.3: 35.95 and 35.93 dB after 1,000 steps,
/// 36.20 both after 3,000, 36.29 and 36.31 after 10,000, 36.12 and 36.30 after 30,000. Small steps do not repair the
/// harm of moves.
constexpr double relocate_until = 0.3;
constexpr double relocate_until_of_views = 0.7;
constexpr double max_relocated = 0.06;
/// Rates decay exponentially to `last_rate` times the first; a continued fit begins at `resume_rate`.
constexpr double last_rate = 0.06;
constexpr double resume_rate = 0.3;
constexpr int last_solve = 30;
constexpr int last_solve_of_views = 10;
/// Largest number of views used by EM and moves of components.
constexpr std::size_t max_sampled = 9;
/// Least time between two reports.
constexpr double report_s = 0.02;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void require_options(const SmoeFitOptions& options) {
  const auto require_count = [](std::string_view name, std::int64_t value, const Bounds& bounds) {
    const auto low = static_cast<std::int64_t>(bounds.low);
    const auto high = static_cast<std::int64_t>(bounds.high);
    if (value < low || value > high) {
      throw_argument(where, name, fmt::format("{} to {}", low, high), fmt::format("{}", value));
    }
  };
  require_count("components", options.components, bounds_of<&SmoeFitOptions::components>);
  require_count("iterations", options.iterations, bounds_of<&SmoeFitOptions::iterations>);
  require_count("views_per_step", options.views_per_step, bounds_of<&SmoeFitOptions::views_per_step>);
  require_bounds(where, "psnr_db", options.psnr_db, bounds_of<&SmoeFitOptions::psnr_db>);
  require_bounds(where, "time_limit_s", options.time_limit_s, bounds_of<&SmoeFitOptions::time_limit_s>);
  if (options.components == 0 && options.psnr_db == 0) {
    throw_argument(where, "components", "> 0 unless psnr_db is given", "0");
  }
}

std::size_t find_middle(std::span<const SmoeFitView> views) {
  const auto distance = [](const SmoeFitView& view) {
    return std::hypot(smoe::to_view_point(view)[0], smoe::to_view_point(view)[1]);
  };
  const auto nearest = std::min_element(views.begin(), views.end(),
                                        [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  return static_cast<std::size_t>(nearest - views.begin());
}

/// Ranges of u and v in equal units; assumes that the grid's steps are equal in both.
smoe::ViewPoint find_extent(std::span<const SmoeFitView> views) {
  smoe::ViewPoint extent{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    std::set<double> places;
    for (const auto& view : views) places.insert(smoe::to_view_point(view)[axis]);
    extent[axis] = static_cast<double>(places.size() - 1);
  }
  const double most = std::max({extent[0], extent[1], 1.0});
  return {extent[0] / most, extent[1] / most};
}

smoe::FitComponents first_components(std::span<const SmoeFitView> views, const SmoeFitOptions& options) {
  constexpr std::int64_t pixels_a_component = 4096;  // initially, if `components` is 0
  const std::size_t middle = find_middle(views);
  const auto& image = views[middle].image;
  const auto pixels = image.shape()[0] * image.shape()[1];
  const auto count =
      options.components > 0 ? options.components : std::max<std::int64_t>(1, pixels / pixels_a_component);
  auto components = smoe::start_components(image, count, options.seed);
  if (views.size() > 1) {
    // Views far enough from the middle to show a parallax, from all over the grid.
    std::vector<std::size_t> far;
    for (std::size_t i = 0; i < views.size(); ++i) {
      const auto at = smoe::to_view_point(views[i]);
      if (std::max(std::abs(at[0]), std::abs(at[1])) >= 0.3) far.push_back(i);
    }
    std::vector<View<const float, 3>> others;
    std::vector<smoe::ViewPoint> places;
    const std::size_t most = std::min(2 * max_sampled, far.size());
    for (std::size_t i = 0; i < most; ++i) {
      const auto& view = views[far[i * far.size() / most]];
      others.push_back(view.image);
      places.push_back(smoe::to_view_point(view));
    }
    smoe::find_shears(components, image, smoe::to_view_point(views[middle]), others, places, find_extent(views));
  }
  return components;
}

}  // namespace

struct SmoeFitter::State {
  State(std::span<const SmoeFitView> images, const SmoeFitOptions& chosen, const Queue& queue,
        smoe::FitComponents first)
      : options(chosen),
        engine(smoe::fit_engine(where, images, queue)),
        components(std::move(first)),
        selected(images.size(), none),
        all(images.size()),
        order(images.size()) {
    std::iota(all.begin(), all.end(), std::size_t{0});
    const std::size_t most = std::min(max_sampled, images.size());
    for (std::size_t i = 0; i < most; ++i) sampled.push_back(i * images.size() / most);
  }

  SmoeFitOptions options;
  smoe::FitEnginePointer engine;
  smoe::FitComponents components;
  bool behind = false;                 ///< `components` are older than the engine's
  std::vector<std::int64_t> selected;  ///< iteration of each view's lists; none: invalid
  std::vector<std::size_t> all;
  std::vector<std::size_t> sampled;
  std::vector<std::size_t> order;  ///< order of views in this round
  std::int64_t looks = 0;          ///< views used by steps so far
  std::vector<double> variance;    ///< EM: of colours around experts
  std::int64_t aligned = 0;        ///< steps of EM done
  std::int64_t iteration = 0;      ///< iterations with this number of components
  std::int64_t before = 0;         ///< iterations with fewer components
  double first_rate = 1;
  double elapsed_s = 0;   ///< duration of earlier runs
  double prepared_s = 0;  ///< duration of the constructor
  Clock::time_point begin;
  Clock::time_point reported;
  bool finished = false;

  static constexpr std::int64_t none = -1;

  [[nodiscard]] const Shape<2>& size() const { return engine->size(); }
  [[nodiscard]] double psnr() const {
    double error = 0;
    std::int64_t values = 0;
    for (const double of_view : engine->errors()) {
      if (of_view < 0) continue;
      error += of_view;
      values += size()[0] * size()[1] * engine->channels();
    }
    return -10 * std::log10(error / static_cast<double>(std::max<std::int64_t>(values, 1)));
  }
  [[nodiscard]] double running() const { return elapsed_s + seconds_since(begin); }
  [[nodiscard]] double elapsed() const { return prepared_s + running(); }
  [[nodiscard]] bool reached() const {
    return options.psnr_db > 0 && engine->errors().front() >= 0 && psnr() >= options.psnr_db;
  }
  [[nodiscard]] int solve_steps() const { return all.size() > 1 ? last_solve_of_views : last_solve; }
  /// Progress with this number of components, 0 to 1.
  [[nodiscard]] double done() const {
    double share =
        options.iterations > 0 ? static_cast<double>(iteration) / static_cast<double>(options.iterations) : 1;
    if (options.time_limit_s > 0) {
      const double a_step = running() / static_cast<double>(before + iteration + 1);
      const double looked = static_cast<double>(all.size()) / static_cast<double>(batch_size());
      const double end = std::min(solve_steps() * looked * a_step, solve_share * options.time_limit_s);
      share = std::max(share, elapsed() / (options.time_limit_s - end));
    }
    return std::min(share, 1.0);
  }
  [[nodiscard]] bool late() const { return options.time_limit_s > 0 && elapsed() > em_share * options.time_limit_s; }
  [[nodiscard]] std::size_t batch_size() const {
    return std::min(all.size(), static_cast<std::size_t>(options.views_per_step));
  }

  void select(std::span<const std::size_t> some, double tolerance) {
    for (const auto view : some) {
      engine->select(view, tolerance);
      selected[view] = iteration;
    }
  }
  void change_lists() { std::fill(selected.begin(), selected.end(), none); }
  /// Copies the components from the engine if they are outdated.
  void catch_up() {
    if (behind) engine->get(components);
    behind = false;
  }
  void report(Progress& progress) {
    if (seconds_since(reported) < report_s) return;
    reported = Clock::now();
    const double near = psnr();
    const std::string stage = std::isfinite(near) ? fmt::format("fitting, {:.2f} dB", near) : "fitting";
    progress.step(stage, static_cast<std::int64_t>(std::lround(1000 * done())), 1000);
  }

  std::vector<std::size_t> next_batch();
  void align(Progress& progress, std::int64_t steps);
  void maximise(Progress& progress);
  void relocate(double tolerance);
  void descend(Progress& progress);
  bool grow();
  void resize(std::int64_t count);
  void finish(Progress& progress);
};

std::vector<std::size_t> SmoeFitter::State::next_batch() {
  std::vector<std::size_t> batch;
  while (batch.size() < batch_size()) {
    const auto at = static_cast<std::size_t>(looks) % all.size();
    if (at == 0) {
      const auto round = static_cast<std::uint64_t>(looks) / all.size();
      const auto draw = [&](std::size_t i) { return random_bits(options.seed + round, i); };
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return draw(a) < draw(b); });
    }
    ++looks;
    if (std::find(batch.begin(), batch.end(), order[at]) == batch.end()) batch.push_back(order[at]);
  }
  return batch;
}

void SmoeFitter::State::align(Progress& progress, std::int64_t steps) {
  for (; aligned < steps; ++aligned) {
    if (late()) break;
    report(progress);
    select(sampled, 0.1 * coarse_tolerance);
    (void)smoe::maximise_expectation(*engine, components, variance, sampled);
  }
  change_lists();
}

void SmoeFitter::State::maximise(Progress& progress) {
  constexpr std::int64_t between = 10;  // steps between two measurements of the PSNR
  while (done() < 1 && !reached() && !late()) {
    align(progress, std::min(aligned + between, options.iterations));
    iteration = aligned;
    select(all, coarse_tolerance);
    engine->sum(smoe::PixelSum::experts, all, {});
  }
}

void SmoeFitter::State::relocate(double tolerance) {
  select(sampled, tolerance);
  engine->sum(smoe::PixelSum::importance, sampled, {});
  catch_up();
  const auto moved = smoe::relocate(components, engine->sums(), max_relocated, engine->limits());
  engine->put(components);
  engine->forget(moved);
  change_lists();
}

void SmoeFitter::State::descend(Progress& progress) {
  const std::int64_t interval = all.size() > 1 ? relocate_interval_of_views : relocate_interval;
  const double until = all.size() > 1 ? relocate_until_of_views : relocate_until;
  const std::int64_t listed = all.size() > 1 ? select_interval_of_views : select_interval;
  for (; done() < 1; ++iteration) {
    report(progress);
    const double share = done();
    const double tolerance = share < coarse_until ? coarse_tolerance : fine_tolerance;
    if (iteration % interval == interval - 1 && share < until) relocate(tolerance);
    const auto batch = next_batch();
    for (const auto view : batch) {
      if (selected[view] == none || iteration - selected[view] >= listed) select({&view, 1}, tolerance);
    }
    engine->sum(smoe::PixelSum::gradient, batch, {});
    if (reached()) break;
    engine->descend(first_rate * std::pow(last_rate, share));
    behind = true;
  }
  catch_up();
}

void SmoeFitter::State::resize(std::int64_t count) {
  engine->put(components);
  while (std::ssize(components) != count) {
    select(sampled, coarse_tolerance);
    engine->sum(smoe::PixelSum::importance, sampled, {});
    smoe::resize(components, engine->sums(), count, engine->limits());
    engine->put(components);
  }
  change_lists();
}

bool SmoeFitter::State::grow() {
  const auto most = std::max<std::int64_t>(1, size()[0] * size()[1] / 4);
  const auto count = std::ssize(components);
  if (options.components > 0 || reached() || count >= most) return false;
  if (options.time_limit_s > 0 && elapsed() >= options.time_limit_s) return false;
  // Twice the components gain about 2 dB.
  const double factor = std::clamp(std::exp2((options.psnr_db - psnr()) / 2), 1.1, 2.0);
  resize(std::min(most, static_cast<std::int64_t>(std::ceil(static_cast<double>(count) * factor))));
  before += iteration;
  iteration = 0;
  first_rate = resume_rate;
  return true;
}

void SmoeFitter::State::finish(Progress& progress) {
  select(all, fine_tolerance);
  const auto is_late = [&] { return options.time_limit_s > 0 && elapsed() > options.time_limit_s; };
  smoe::solve_experts(
      *engine, components, all, solve_steps(), [&] { report(progress); }, is_late);
  engine->sum(smoe::PixelSum::experts, all, {});
}

SmoeFitter::SmoeFitter(std::span<const SmoeFitView> views, const SmoeFitOptions& options, const Queue& queue) {
  const auto begin = Clock::now();
  smoe::require_views(where, views);
  require_options(options);
  state_ = std::make_unique<State>(views, options, queue, first_components(views, options));
  state_->variance.assign(state_->components.size(), smoe::first_variance);
  state_->prepared_s = seconds_since(begin);
}

SmoeFitter::SmoeFitter(std::span<const SmoeFitView> views, const SmoeModel& start, const SmoeFitOptions& options,
                       const Queue& queue) {
  const auto begin = Clock::now();
  smoe::require_views(where, views);
  require_options(options);
  smoe::require_start(where, start, views.front());
  const auto& shape = views.front().image.shape();
  state_ = std::make_unique<State>(views, options, queue,
                                   smoe::components_of(start, smoe::pixel_limits({shape[0], shape[1]})));
  State& state = *state_;
  if (options.components > 0) state.resize(options.components);
  state.aligned = options.method == SmoeFitMethod::gradient ? align_steps : 0;
  state.first_rate = resume_rate;
  state.variance.assign(state.components.size(), smoe::first_variance);
  state.prepared_s = seconds_since(begin);
}

SmoeFitter::SmoeFitter(View<const float, 3> image, const SmoeFitOptions& options, const Queue& queue)
    : SmoeFitter(std::vector<SmoeFitView>{{image, {}}}, options, queue) {}
SmoeFitter::SmoeFitter(View<const float, 3> image, const SmoeModel& start, const SmoeFitOptions& options,
                       const Queue& queue)
    : SmoeFitter(std::vector<SmoeFitView>{{image, {}}}, start, options, queue) {}

SmoeFitter::~SmoeFitter() = default;
SmoeFitter::SmoeFitter(SmoeFitter&&) noexcept = default;
SmoeFitter& SmoeFitter::operator=(SmoeFitter&&) noexcept = default;

void SmoeFitter::run(Progress& progress) {
  State& state = *state_;
  if (state.finished) return;
  state.begin = Clock::now();
  state.reported = {};
  state.catch_up();
  state.engine->put(state.components);
  state.change_lists();
  try {
    if (state.options.method == SmoeFitMethod::em) {
      state.maximise(progress);
    } else {
      state.align(progress, align_steps);
      do {
        state.descend(progress);
        state.finish(progress);
      } while (state.grow());
    }
    state.finished = true;
  } catch (...) {
    state.elapsed_s = state.running();
    throw;
  }
}

SmoeModel SmoeFitter::model() const {
  state_->catch_up();
  const auto& engine = *state_->engine;
  auto model = smoe::model_of(state_->components, engine.dimensions(), engine.channels(), engine.size());
  model.linear = state_->options.linear;
  return model;
}

double SmoeFitter::psnr_db() const { return state_->psnr(); }
std::int64_t SmoeFitter::iterations() const { return state_->before + state_->iteration; }

SmoeModel fit_smoe(View<const float, 3> image, const SmoeFitOptions& options, const Queue& queue, Progress& progress) {
  SmoeFitter fitter(image, options, queue);
  fitter.run(progress);
  return fitter.model();
}

}  // namespace holotone
