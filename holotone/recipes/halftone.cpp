#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <holotone/core/error.hpp>
#include <holotone/halftone/capacity_voronoi.hpp>
#include <holotone/halftone/floyd_steinberg.hpp>
#include <holotone/halftone/lloyd.hpp>
#include <holotone/halftone/sampling.hpp>
#include <holotone/halftone/tour.hpp>
#include <holotone/io/dots/dots.hpp>
#include <holotone/recipes/halftone.hpp>
#include <numbers>
#include <string_view>
#include <utility>

namespace holotone {
namespace {

constexpr std::string_view function_name = "make_halftone";

/// Maximum number of pixels per dot: finer pixels show nothing that dots can show.
constexpr double max_pixels_a_dot = 64;
constexpr double largest_page_side = 32768;
/// Jitter of dots that error diffusion places on a grid, so that no dot is in balance between others.
constexpr double start_jitter = 0.2;

/// Shape with `scale` times as many pixels along each side.
Shape<2> scaled_shape(const Shape<2>& shape, double scale) {
  const auto side = [&](std::int64_t pixels) {
    const double wanted = std::round(static_cast<double>(pixels) * scale);
    return static_cast<std::int64_t>(std::clamp(wanted, 1.0, largest_page_side));
  };
  return {side(shape[0]), side(shape[1])};
}

/// Scales dots to a page of another number of pixels.
void put_on_page(Dots& dots, double width, double height) {
  const double x = width / dots.width;
  const double y = height / dots.height;
  for (std::size_t i = 0; i < dots.position.size(); i += 2) {
    dots.position[i] = static_cast<float>(static_cast<double>(dots.position[i]) * x);
    dots.position[i + 1] = static_cast<float>(static_cast<double>(dots.position[i + 1]) * y);
  }
  dots.width = width;
  dots.height = height;
}

/// Passes on the progress, and the mean force of an iteration.
class ForceProgress final : public Progress {
 public:
  /// `scale`: pixels of the working page per pixel of the picture. `plan` may be null.
  ForceProgress(const HalftoneOptions& options, Progress& all, ElectrostaticPlan* plan, double scale)
      : options_(options), all_(all), plan_(plan), scale_(scale) {}
  bool update(std::string_view stage, std::int64_t done, std::int64_t total) override {
    if (options_.on_iteration) {
      std::optional<double> mean;
      if (plan_ != nullptr && done > 0) mean = scale_ * plan_->statistics().mean;
      options_.on_iteration(done, mean);
    }
    return all_.update(stage, done, total);
  }

 private:
  const HalftoneOptions& options_;
  Progress& all_;
  ElectrostaticPlan* plan_;
  double scale_;
};

class Maker {
 public:
  Maker(const std::vector<View<const float, 2>>& inks, HalftoneOptions options, const Queue& queue, Progress& progress,
        const HalftoneFrame& on_frame)
      : inks_(inks), options_(std::move(options)), queue_(queue), progress_(progress), on_frame_(on_frame) {
    require_inks();
    set_sizes();
    set_counts();
  }

  Halftone make() {
    switch (options_.method) {
      case HalftoneMethod::electrostatic:
      case HalftoneMethod::direct: by_forces(); break;
      case HalftoneMethod::floyd_steinberg:
        result_.bitmap = !options_.dots && !options_.radius_px;
        each_class([&](std::size_t c) { return diffused(c); });
        break;
      case HalftoneMethod::lloyd: each_class([&](std::size_t c) { return by_lloyd(c); }); break;
      case HalftoneMethod::capacity_voronoi: each_class([&](std::size_t c) { return by_capacity(c); }); break;
    }
    finish(result_.dots);
    if (options_.tour) {
      const Tour tour = visiting_order(result_.dots, {}, progress_);
      result_.dots = reordered(result_.dots, tour.order);
      result_.tour_start = tour.start_length;
      result_.tour = tour.length;
    }
    return std::move(result_);
  }

 private:
  void require_inks() {
    constexpr std::size_t max_inks = 256;
    if (inks_.empty() || inks_.size() > max_inks) {
      throw_argument(function_name, "inks", fmt::format("1 to {}", max_inks), fmt::format("{}", inks_.size()));
    }
    const auto [ny, nx] = inks_.front().shape();
    for (const auto& ink : inks_) {
      if (ink.shape() == inks_.front().shape()) continue;
      throw_argument(function_name, "inks", fmt::format("{{{}, {}}} of all", ny, nx),
                     fmt::format("{{{}, {}}}", ink.shape()[0], ink.shape()[1]));
    }
    height_ = static_cast<double>(ny);
    width_ = static_cast<double>(nx);
    if (options_.method == HalftoneMethod::direct) options_.forces.sum = ForceSum::direct;
    if (!options_.radius_px) return;
    require_positive(function_name, "radius_px", options_.radius_px->low);
    require_range(function_name, "radius_px", options_.radius_px->high, options_.radius_px->low, largest_page_side);
  }

  void set_sizes() {
    if (options_.radius_px) sizes_ = *options_.radius_px;
    for (const auto& ink : inks_) {
      // Density for placing dots; for dots of equal size the ink itself, in any unit.
      densities_.push_back(sizes_.low < sizes_.high ? dot_density(ink, sizes_) : copy_of(ink, Device{}));
      density_views_.emplace_back(densities_.back().view());
    }
  }

  void set_counts() {
    double total = 0;
    for (const auto& density : density_views_) total += total_ink(density);
    double wanted = total;
    if (sizes_.low == sizes_.high) {
      const double radius = options_.radius_px ? sizes_.low : default_dot_radius;
      wanted = total / (std::numbers::pi * radius * radius);
    }
    if (options_.dots && options_.radius_px) result_.ink_share = static_cast<double>(*options_.dots) / wanted;
    if (options_.dots) wanted = static_cast<double>(*options_.dots);
    if (!(wanted <= static_cast<double>(max_dots))) {
      const std::string_view argument = options_.dots ? "dots" : options_.radius_px ? "radius_px" : "inks";
      throw_argument(function_name, argument, fmt::format("at most {} dots", max_dots), fmt::format("{:.3g}", wanted));
    }
    count_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::round(wanted)));
    if (options_.on_count) options_.on_count(count_);
    counts_ = dots_of_classes(density_views_, count_);
    if (options_.radius_px) {
      for (std::size_t c = 0; c < counts_.size(); ++c) {
        require_dots_fit("halftone", "dots", inks_[c], counts_[c], sizes_.low);
      }
    } else {
      sizes_.low = std::sqrt(total / (std::numbers::pi * static_cast<double>(count_)));
      sizes_.high = sizes_.low;
    }
    result_.radius = sizes_.low;
  }

  /// Places the dots of each class independently, one class after the other.
  template <class Place>
  void each_class(const Place& place) {
    Dots& all = result_.dots;
    for (std::size_t c = 0; c < inks_.size(); ++c) {
      progress_.step("placing dots", static_cast<std::int64_t>(c), std::ssize(inks_));
      if (counts_[c] == 0) continue;
      Dots dots = place(c);
      put_on_page(dots, width_, height_);
      all.position.insert(all.position.end(), dots.position.begin(), dots.position.end());
      all.colour_class.insert(all.colour_class.end(), dots.position.size() / 2, static_cast<std::uint8_t>(c));
    }
    all.width = width_;
    all.height = height_;
  }

  [[nodiscard]] Array<float, 2> at_most(const Array<float, 2>& ink, double pixels) const {
    const auto size = static_cast<double>(ink.size());
    const auto longest = static_cast<double>(std::max(ink.shape()[0], ink.shape()[1]));
    const double scale = std::min({1.0, std::sqrt(pixels / size), largest_page_side / longest});
    if (scale >= 1) return copy_of(ink.view(), Device{});
    return resampled_ink(ink.view(), scaled_shape(ink.shape(), scale));
  }

  /// Ink of a class on as many pixels as the dots need; the same shape for all classes.
  [[nodiscard]] Array<float, 2> working_ink(std::size_t c) const {
    return at_most(densities_[c], std::max(65536.0, max_pixels_a_dot * static_cast<double>(count_)));
  }

  /// Error diffusion to pixels, in which a black pixel is a dot.
  [[nodiscard]] Dots error_diffusion(std::size_t c, double jitter) const {
    const auto& ink = densities_[c];
    // For faint ink, one black pixel per dot would need far more pixels than dots: then some pixels get several dots.
    const double max_pixels = std::max(4194304.0, 64.0 * static_cast<double>(counts_[c]));
    const double scale = std::sqrt(std::min(static_cast<double>(counts_[c]) / total_ink(ink.view()),
                                            max_pixels / static_cast<double>(ink.size())));
    const auto grid = resampled_ink(ink.view(), scaled_shape(ink.shape(), scale));
    const bool vanished = !(total_ink(grid.view()) > 0);
    return error_diffused_dots(vanished ? ink.view() : grid.view(), counts_[c], options_.seed + c, jitter);
  }

  [[nodiscard]] Dots diffused(std::size_t c) const {
    if (!result_.bitmap) return error_diffusion(c, 0);
    return dots_of_bitmap(floyd_steinberg(inks_[c]).view());
  }

  [[nodiscard]] Dots start_of(std::size_t c, const Array<float, 2>& ink) {
    result_.start = name_of(options_.start);
    Dots dots = options_.start == DotStart::importance
                    ? importance_sampled_dots(ink.view(), counts_[c], options_.seed + c)
                    : error_diffusion(c, start_jitter);
    put_on_page(dots, static_cast<double>(ink.shape()[1]), static_cast<double>(ink.shape()[0]));
    return dots;
  }

  Dots by_lloyd(std::size_t c) {
    const auto ink = working_ink(c);
    LloydOptions options;
    if (options_.iterations > 0) options.iterations = options_.iterations;
    options.seed = options_.seed;
    auto moved = lloyd_dots(ink.view(), start_of(c, ink), options, progress_);
    report_energy(c, moved.energy, moved.converged);
    return std::move(moved.dots);
  }

  Dots by_capacity(std::size_t c) {
    const auto ink = working_ink(c);
    CapacityVoronoiOptions options;
    if (options_.iterations > 0) options.sweeps = options_.iterations;
    options.seed = options_.seed + c;
    auto moved = capacity_voronoi_dots(ink.view(), counts_[c], options, progress_);
    report_energy(c, moved.energy, moved.converged);
    return std::move(moved.dots);
  }

  void report_energy(std::size_t c, const std::vector<double>& energy, bool converged) {
    auto& report = result_.report;
    report.converged = converged && (report.iterations == 0 || report.converged);
    report.iterations = std::max(report.iterations, static_cast<std::int64_t>(energy.size()));
    // In pixels of the picture, for any working size.
    const auto& shape = densities_[c].shape();
    const double area = static_cast<double>(element_count(shape)) / static_cast<double>(working_ink(c).size());
    result_.energy += energy.empty() ? 0 : energy.back() * area * area;
  }

  void by_forces() {
    if (inks_.size() == 1) {
      one_class();
      return;
    }
    std::vector<Array<float, 2>> inks;
    std::vector<View<const float, 2>> views;
    std::vector<Dots> starts;
    for (std::size_t c = 0; c < inks_.size(); ++c) {
      inks.push_back(working_ink(c));
      starts.emplace_back();
      if (counts_[c] > 0) starts.back() = start_of(c, inks.back());
    }
    views.reserve(inks.size());
    for (const auto& ink : inks) views.emplace_back(ink.view());
    ForceProgress progress(options_, progress_, nullptr, 1);
    const auto frame = [&](std::int64_t, const Dots& dots) { show_frame(dots); };
    auto moved = classes_halftone(views, starts, options_.weights, options_.forces, options_.descent, queue_, progress,
                                  on_frame_ ? frame : std::function<void(std::int64_t, const Dots&)>());
    result_.dots = std::move(moved.dots);
    result_.report = scaled(moved.report, force_scale(inks.front()));
  }

  void one_class() {
    const auto ink = working_ink(0);
    const Dots start = start_of(0, ink);
    ElectrostaticOptions options = options_.forces;
    options.crowding = crowding_of(ink);
    ElectrostaticPlan plan(ink.shape(), count_, queue_, options);
    plan.set_ink(copy_of(ink.view(), queue_.device()).view());
    Array<float, 2> places({count_, 2});
    std::copy(start.position.begin(), start.position.end(), places.data());
    Array<float, 2> on_device = copy_of(places.view(), queue_.device());
    plan.set_positions(on_device.view());
    const auto dots_now = [&] {
      plan.positions(on_device.view());
      const auto read = on_device.to(Device{});
      Dots dots;
      dots.width = start.width;
      dots.height = start.height;
      dots.position.assign(read.host().begin(), read.host().end());
      return dots;
    };
    ForceProgress progress(options_, progress_, &plan, force_scale(ink));
    const auto frame = [&](std::int64_t) { show_frame(dots_now()); };
    const auto report = electrostatic_halftone(plan, options_.descent, progress,
                                               on_frame_ ? frame : std::function<void(std::int64_t)>());
    result_.report = scaled(report, force_scale(ink));
    result_.plan = plan.info();
    if (options_.forces.near == NearField::map) result_.missed_neighbours = plan.missed_neighbours();
    result_.dots = dots_now();
  }

  [[nodiscard]] double force_scale(const Array<float, 2>& working) const {
    return static_cast<double>(working.shape()[1]) / width_;
  }
  /// Converts forces to 1/px of the picture.
  [[nodiscard]] static DescentReport scaled(DescentReport report, double scale) {
    report.force.mean *= scale;
    report.force.rms *= scale;
    return report;
  }

  /// mean of ink^2 / (mean of ink)^2
  [[nodiscard]] static double crowding_of(const Array<float, 2>& ink) {
    double sum = 0;
    double squares = 0;
    for (const float value : ink.host()) {
      sum += static_cast<double>(value);
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    return std::clamp(squares * static_cast<double>(ink.size()) / (sum * sum), 1.0, 1e6);
  }

  /// Converts dots of the working page to the dots of the result.
  void finish(Dots& dots) const {
    put_on_page(dots, width_, height_);
    dots.pixel_m = options_.pixel_m;
    // A few dots come to rest beyond an edge of the ink, where they are visible on bare paper.
    for (std::size_t c = 0; c < inks_.size(); ++c) {
      if (counts_[c] > 0) take_to_ink(dots, inks_[c], static_cast<int>(c));
    }
    if (inks_.size() == 1) dots.colour_class.clear();
    if (!(sizes_.low < sizes_.high)) return;
    dots.radius.resize(dots.position.size() / 2);
    for (std::size_t c = 0; c < inks_.size(); ++c) {
      const auto radii = dot_radii(dots, inks_[c], sizes_);
      for (std::size_t j = 0; j < radii.size(); ++j) {
        if (dots.colour_class.empty() || dots.colour_class[j] == c) dots.radius[j] = radii[j];
      }
    }
  }

  void show_frame(Dots dots) {
    finish(dots);
    Halftone frame = result_;
    frame.dots = std::move(dots);
    on_frame_(frame);
  }

  const std::vector<View<const float, 2>>& inks_;
  HalftoneOptions options_;
  const Queue& queue_;
  Progress& progress_;
  const HalftoneFrame& on_frame_;
  double width_ = 0;  ///< of the page
  double height_ = 0;
  DotSizes sizes_;
  std::vector<Array<float, 2>> densities_;
  std::vector<View<const float, 2>> density_views_;
  std::int64_t count_ = 0;
  std::vector<std::int64_t> counts_;
  Halftone result_;
};

}  // namespace

const char* to_string(HalftoneMethod method) noexcept { return name_of(method).data(); }

Halftone make_halftone(const std::vector<View<const float, 2>>& inks, const HalftoneOptions& options,
                       const Queue& queue, Progress& progress, const HalftoneFrame& on_frame) {
  return Maker(inks, options, queue, progress, on_frame).make();
}

}  // namespace holotone
