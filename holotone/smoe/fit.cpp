#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/smoe/fit.hpp>
#include <holotone/smoe/fit_steps.hpp>

namespace holotone {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* where = "SmoeFitter";
constexpr std::int64_t largest_side = 65536;
constexpr std::int64_t most_components = std::int64_t{1} << 24;
constexpr int align_steps = 5;
/// Lists of components are made for a picture this near that of all of them, until the last of the descent and in it.
constexpr double coarse_tolerance = 1.0 / 255;
constexpr double fine_tolerance = 0.25 / 255;
constexpr double coarse_until = 0.85;
constexpr std::int64_t select_interval = 20;
constexpr std::int64_t relocate_interval = 40;
constexpr double relocate_until = 0.7;
constexpr double most_relocated = 0.03;
/// Steps shrink exponentially to this share of the first ones; a fit that goes on begins with smaller ones.
constexpr double last_rate = 0.06;
constexpr double resume_rate = 0.3;
constexpr int last_solve = 30;
/// Between two reports.
constexpr double report_s = 0.02;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void require_image(View<const float, 3> image) {
  const auto& [ny, nx, channels] = image.shape();
  if (ny < 1 || nx < 1 || ny > largest_side || nx > largest_side || channels < 1 || channels > most_smoe_channels ||
      image.data() == nullptr) {
    throw_argument(where, "image",
                   fmt::format("sides of 1 to {} pixels, 1 to {} channels", largest_side, most_smoe_channels),
                   to_string<3>(image.shape()));
  }
  const auto values = image.host();
  const auto bad = std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad != values.end()) throw_argument(where, "image", "finite colours", fmt::format("{}", *bad));
}

void require_options(const SmoeFitOptions& options) {
  const auto require_count = [](std::string_view name, std::int64_t value, std::int64_t low, std::int64_t high) {
    if (value < low || value > high) {
      throw_argument(where, name, fmt::format("{} to {}", low, high), fmt::format("{}", value));
    }
  };
  require_count("components", options.components, 0, most_components);
  require_count("iterations", options.iterations, 0, 1000000);
  require_range(where, "psnr_db", options.psnr_db, 0, 200);
  require_range(where, "time_limit_s", options.time_limit_s, 0, 1e9);
  if (options.components == 0 && options.psnr_db == 0) {
    throw_argument(where, "components", "> 0 unless psnr_db is given", "0");
  }
}

void require_start(const SmoeModel& start, View<const float, 3> image) {
  require_model(where, start);
  const auto& [ny, nx, channels] = image.shape();
  const bool fits = start.dimensions == 2 && start.channels == channels && start.low[0] == 0 && start.low[1] == 0 &&
                    start.high[0] == static_cast<double>(nx) && start.high[1] == static_cast<double>(ny);
  if (fits) return;
  throw_argument(where, "start", fmt::format("a model of {} x {} pixels and {} channels", nx, ny, channels),
                 fmt::format("one of {} dimensions, {:g} x {:g}, {} channels", start.dimensions,
                             start.high[0] - start.low[0], start.high[1] - start.low[1], start.channels));
}

SmoeView whole(const Shape<2>& size) {
  SmoeView view;
  view.size = size;
  view.extent = {static_cast<double>(size[1]), static_cast<double>(size[0])};
  return view;
}

}  // namespace

struct SmoeFitter::State {
  State(View<const float, 3> image, const SmoeFitOptions& chosen)
      : target(image),
        options(chosen),
        values(static_cast<double>(image.size())),
        largest_width(static_cast<double>(std::max(image.shape()[0], image.shape()[1]))) {}

  smoe::TargetTiles target;
  SmoeFitOptions options;
  double values;  ///< numbers in the image
  double largest_width;
  smoe::Components components;
  std::vector<double> variance;  ///< EM: of colours around experts
  smoe::Descent descent;
  smoe::TilePairs pairs;
  std::vector<smoe::ComponentSums> sums;
  double squared_error = 0;
  std::int64_t aligned = 0;    ///< steps of EM done
  std::int64_t iteration = 0;  ///< in this round
  std::int64_t before = 0;     ///< in rounds of fewer components
  double first_rate = 1;
  double elapsed_s = 0;  ///< in runs before this one
  Clock::time_point begin;
  Clock::time_point reported;
  bool finished = false;

  [[nodiscard]] double psnr() const { return -10 * std::log10(squared_error / values); }
  [[nodiscard]] double elapsed() const { return elapsed_s + seconds_since(begin); }
  [[nodiscard]] bool reached() const { return options.psnr_db > 0 && squared_error > 0 && psnr() >= options.psnr_db; }
  /// How much of the round is over, 0 to 1.
  [[nodiscard]] double done() const {
    double share =
        options.iterations > 0 ? static_cast<double>(iteration) / static_cast<double>(options.iterations) : 1;
    if (options.time_limit_s > 0) {
      const double a_step = elapsed() / static_cast<double>(before + iteration + 1);
      const double end = std::min(last_solve * a_step, 0.3 * options.time_limit_s);
      share = std::max(share, elapsed() / (options.time_limit_s - end));
    }
    return std::min(share, 1.0);
  }

  void select(double tolerance) {
    SmoeRenderOptions how;
    how.tolerance = tolerance;
    pairs = smoe::pair_up(smoe::select_components(components, target.channels(), target.size(), how), target.size(),
                          std::ssize(components));
  }
  double measure(smoe::PixelSum what) {
    return squared_error = smoe::sum_pixels(what, components, {}, pairs, target, sums);
  }
  void report(Progress& progress) {
    if (seconds_since(reported) < report_s) return;
    reported = Clock::now();
    const std::string stage = squared_error > 0 ? fmt::format("fitting, {:.2f} dB", psnr()) : "fitting";
    progress.step(stage, static_cast<std::int64_t>(std::lround(1000 * done())), 1000);
  }

  void align(Progress& progress, std::int64_t steps);
  void maximise(Progress& progress);
  void descend(Progress& progress);
  bool grow();
  void finish(Progress& progress);
};

void SmoeFitter::State::align(Progress& progress, std::int64_t steps) {
  for (; aligned < steps; ++aligned) {
    report(progress);
    select(0.1 * coarse_tolerance);
    (void)smoe::maximise_expectation(components, variance, pairs, target, largest_width);
  }
}

void SmoeFitter::State::maximise(Progress& progress) {
  constexpr std::int64_t between = 10;  // steps between two looks at the picture
  while (done() < 1 && !reached()) {
    align(progress, std::min(aligned + between, options.iterations));
    iteration = aligned;
    select(coarse_tolerance);
    measure(smoe::PixelSum::experts);
  }
  finished = true;
}

void SmoeFitter::State::descend(Progress& progress) {
  for (; done() < 1; ++iteration) {
    report(progress);
    const double share = done();
    const double tolerance = share < coarse_until ? coarse_tolerance : fine_tolerance;
    if (iteration % select_interval == 0) select(tolerance);
    if (iteration % relocate_interval == relocate_interval - 1 && share < relocate_until) {
      measure(smoe::PixelSum::importance);
      for (const auto j : smoe::relocate(components, sums, most_relocated)) descent.forget(j);
      select(tolerance);
    }
    measure(smoe::PixelSum::gradient);
    if (reached()) break;
    descent.step(components, sums, first_rate * std::pow(last_rate, share), largest_width);
  }
}

bool SmoeFitter::State::grow() {
  const auto pixels = target.size()[0] * target.size()[1];
  const auto most = std::max<std::int64_t>(1, pixels / 4);
  const auto count = std::ssize(components);
  if (options.components > 0 || reached() || count >= most) return false;
  if (options.time_limit_s > 0 && elapsed() >= options.time_limit_s) return false;
  // Twice the components are worth about 2 dB.
  const double factor = std::clamp(std::exp2((options.psnr_db - psnr()) / 2), 1.1, 2.0);
  select(coarse_tolerance);
  measure(smoe::PixelSum::importance);
  smoe::resize(components, sums,
               std::min(most, static_cast<std::int64_t>(std::ceil(static_cast<double>(count) * factor))));
  descent.resize(components.size());
  before += iteration;
  iteration = 0;
  first_rate = resume_rate;
  return true;
}

void SmoeFitter::State::finish(Progress& progress) {
  select(fine_tolerance);
  smoe::solve_experts(components, pairs, target, last_solve, [&] { report(progress); });
  measure(smoe::PixelSum::experts);
}

SmoeFitter::SmoeFitter(View<const float, 3> image, const SmoeFitOptions& options) {
  require_image(image);
  require_options(options);
  state_ = std::make_unique<State>(image, options);
  const auto pixels = image.shape()[0] * image.shape()[1];
  constexpr std::int64_t pixels_a_component = 256;  // to begin with where their number is open
  const auto count =
      options.components > 0 ? options.components : std::max<std::int64_t>(1, pixels / pixels_a_component);
  state_->components = smoe::start_components(image, count, options.seed);
  state_->variance.assign(state_->components.size(), smoe::first_variance);
  state_->descent.resize(state_->components.size(), static_cast<int>(image.shape()[2]));
}

SmoeFitter::SmoeFitter(View<const float, 3> image, const SmoeModel& start, const SmoeFitOptions& options) {
  require_image(image);
  require_options(options);
  require_start(start, image);
  state_ = std::make_unique<State>(image, options);
  State& own = *state_;
  own.components = smoe::image_components(start, whole(own.target.size()));
  for (auto& component : own.components) smoe::limit_widths(component, own.largest_width);
  own.aligned = options.method == SmoeFitMethod::gradient ? align_steps : 0;
  own.first_rate = resume_rate;
  while (options.components > 0 && std::ssize(own.components) != options.components) {
    own.select(coarse_tolerance);
    own.measure(smoe::PixelSum::importance);
    smoe::resize(own.components, own.sums, options.components);
  }
  own.variance.assign(own.components.size(), smoe::first_variance);
  own.descent.resize(own.components.size(), own.target.channels());
}

SmoeFitter::~SmoeFitter() = default;
SmoeFitter::SmoeFitter(SmoeFitter&&) noexcept = default;
SmoeFitter& SmoeFitter::operator=(SmoeFitter&&) noexcept = default;

void SmoeFitter::run(Progress& progress) {
  State& own = *state_;
  own.begin = Clock::now();
  own.reported = {};
  try {
    if (own.options.method == SmoeFitMethod::em) {
      if (!own.finished) own.maximise(progress);
    } else if (!own.finished) {
      own.align(progress, align_steps);
      do {
        own.descend(progress);
        own.finish(progress);
      } while (own.grow());
      own.finished = true;
    }
  } catch (...) {
    own.elapsed_s = own.elapsed();
    throw;
  }
  own.elapsed_s = own.elapsed();
}

SmoeModel SmoeFitter::model() const {
  auto model = smoe::model_of(state_->components, state_->target.channels(), state_->target.size());
  model.linear = state_->options.linear;
  return model;
}

double SmoeFitter::psnr_db() const { return state_->psnr(); }
std::int64_t SmoeFitter::iterations() const { return state_->before + state_->iteration; }

SmoeModel fit_smoe(View<const float, 3> image, const SmoeFitOptions& options, Progress& progress) {
  SmoeFitter fitter(image, options);
  fitter.run(progress);
  return fitter.model();
}

}  // namespace holotone
