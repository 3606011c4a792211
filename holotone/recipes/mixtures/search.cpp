#include <algorithm>
#include <cmath>
#include <holotone/recipes/mixtures/fitting_detail.hpp>
#include <tuple>
#include <utility>

namespace holotone::mixtures {
namespace {

/// Initial pixels per component, without and with a time limit.
constexpr std::int64_t first_pixels_a_component = 4096;
constexpr std::int64_t first_pixels_in_time = 256;
/// Short fits: divisor of the steps, minimum steps, maximum number, and deficit to a full fit, dB.
constexpr std::int64_t short_share = 8;
constexpr std::int64_t min_short_steps = 40;
constexpr int max_short_fits = 7;
constexpr double short_by = 0.5;
constexpr double near_enough_db = 0.3;
constexpr double near_enough_factor = 1.25;
/// PSNR gain per doubling of components, dB: initial value, and bounds of the estimate.
constexpr double first_slope = 2;
constexpr double min_slope = 1;
constexpr double max_slope = 4;
constexpr double widest_step = 4;
constexpr double min_growth = 1.25;
constexpr double max_growth = 2;
/// Refinement of the best file: factor on its components, and maximum number.
constexpr double fewer = 0.75;
constexpr int max_refinements = 2;
/// A fit whose PSNR exceeds its target by this, dB, has too many components to be stored; maximum number of such fits.
constexpr double far_too_near = 1.5;
constexpr int max_descents = 2;
/// Shares of the time limit: each short fit; all short fits; each full fit, of the time left; minimum left for another
/// full fit.
constexpr double short_time = 0.1;
constexpr double all_short_time = 0.25;
constexpr double fit_time = 0.4;
constexpr double spare_in_time = 0.5;  ///< dB
constexpr double time_for_another = 0.35;

class Search {
 public:
  explicit Search(const FitJob& job)
      : job_(job),
        pixels_(job.views.front().image.shape()[0] * job.views.front().image.shape()[1]),
        max_components_(std::max<std::int64_t>(1, pixels_ / min_pixels_a_component)) {}

  MixtureFit run() {
    std::int64_t count = likely_count();
    std::optional<MixtureFit> best;
    std::int64_t below = 0;  // largest count that falls short
    int refinements = 0;
    int descents = 0;
    for (;;) {
      fit(count, job_.fit.iterations, limited() ? std::max(fit_time * left(), 1e-3) : 0);
      if (psnr_ < least()) {
        if (best) break;
        below = count;
        if (const auto more = more_than(count)) {
          count = *more;
          continue;
        }
        if (ample_) std::tie(fitted_, fit_psnr_) = *std::exchange(ample_, std::nullopt);
        return stored();
      }
      if (const auto less = less_than(count, below); less && !best && descents++ < max_descents) {
        ample_ = {*fitted_, fit_psnr_};
        count = *less;
        continue;
      }
      auto found = stored();
      if (found.psnr_db >= target()) {
        const bool smaller = !best || count_bytes(found) < count_bytes(*best);
        if (smaller) best = std::move(found);
        if (!smaller || refinements++ == max_refinements) break;
        if (!time_to_refine()) {
          best->cut_short = true;
          break;
        }
        const auto next = static_cast<std::int64_t>(std::floor(fewer * static_cast<double>(count)));
        if (next <= below || next < 1) break;
        count = next;
        continue;
      }
      if (best) break;
      below = count;
      const auto more = more_than(count);
      if (!more) return found;
      count = *more;
    }
    best->iterations = iterations_;
    return std::move(*best);
  }

 private:
  [[nodiscard]] double target() const { return job_.options.psnr_db.value_or(0); }
  [[nodiscard]] double limit() const { return job_.options.time_limit_s.value_or(0); }
  [[nodiscard]] bool limited() const { return job_.limited(); }
  [[nodiscard]] double left() const { return job_.left(); }
  [[nodiscard]] bool time_to_refine() const { return !limited() || left() > 0.5 * limit(); }
  /// Quantity to minimize: bytes, or components if every float is kept.
  [[nodiscard]] std::int64_t count_bytes(const MixtureFit& found) const {
    return job_.options.lossless ? found.model.count() : std::ssize(found.bytes);
  }

  /// PSNR of a fit whose file probably reaches the target.
  [[nodiscard]] double wanted() const { return least() + (job_.options.lossless ? 0 : psnr_to_spare); }
  /// Minimum PSNR for storing. Under a time limit the descent after rounding recovers less, hence a margin.
  [[nodiscard]] double least() const { return target() + (limited() && !job_.options.lossless ? spare_in_time : 0); }

  /// Fits `count` components and measures the PSNR of the pictures as codes.
  void fit(std::int64_t count, std::int64_t iterations, double time_s) {
    SmoeFitOptions options = job_.fit;
    options.components = count;
    options.iterations = iterations;
    options.psnr_db = 0;
    options.time_limit_s = time_s;
    SmoeFitter fitter = job_.start != nullptr ? SmoeFitter(job_.views, *job_.start, options, job_.queue)
                                              : SmoeFitter(job_.views, options, job_.queue);
    ++attempts_;
    if (job_.options.on_attempt) job_.options.on_attempt(attempts_, count);
    fitter.run(job_.progress);
    iterations_ += fitter.iterations();
    fit_psnr_ = fitter.psnr_db();
    fitted_ = fitter.model();
    psnr_ = job_.psnr(*fitted_);
    const double octaves =
        std::log2(static_cast<double>(count) / static_cast<double>(std::max<std::int64_t>(1, last_count_)));
    if (last_count_ > 0 && octaves != 0 && std::isfinite(psnr_ - last_psnr_)) {
      slope_ = std::clamp((psnr_ - last_psnr_) / octaves, min_slope, max_slope);
    }
    last_count_ = count;
    last_psnr_ = psnr_;
  }

  /// Estimates the number of components by short fits.
  std::int64_t likely_count() {
    const double goal = wanted() - short_by;
    const std::int64_t steps =
        std::min(job_.fit.iterations, std::max(min_short_steps, job_.fit.iterations / short_share));
    auto count = std::min(
        max_components_,
        job_.start != nullptr
            ? job_.start->count()
            : std::max<std::int64_t>(1, pixels_ / (limited() ? first_pixels_in_time : first_pixels_a_component)));
    std::int64_t low = 0;
    std::int64_t high = 0;
    for (int i = 0; i < max_short_fits; ++i) {
      fit(count, steps, limited() ? std::max(short_time * limit(), 1e-3) : 0);
      const bool enough = psnr_ >= goal;
      (enough ? high : low) = count;
      const double factor = std::clamp(std::exp2((goal - psnr_) / slope_), 1 / widest_step, widest_step);
      auto next = static_cast<std::int64_t>(std::lround(factor * static_cast<double>(count)));
      next =
          std::clamp<std::int64_t>(enough ? std::min(next, count - 1) : std::max(next, count + 1), 1, max_components_);
      if (low > 0 && high > 0 && (next <= low || next >= high)) {
        next = std::lround(std::sqrt(static_cast<double>(low) * static_cast<double>(high)));
      }
      const bool near = std::abs(psnr_ - goal) < near_enough_db;
      const bool between =
          low > 0 && high > 0 && static_cast<double>(high) <= near_enough_factor * static_cast<double>(low);
      if (near || between || next == count) return count;
      count = next;
      if (limited() && job_.watch.seconds() > all_short_time * limit()) break;
    }
    return count;
  }

  /// A larger count after a fit or its file fell short; none if no components or no time are left.
  [[nodiscard]] std::optional<std::int64_t> more_than(std::int64_t count) const {
    if (count >= max_components_ || (limited() && left() < time_for_another * limit())) return std::nullopt;
    const double factor = std::clamp(std::exp2((wanted() - psnr_) / slope_), min_growth, max_growth);
    return std::min(max_components_, static_cast<std::int64_t>(std::ceil(factor * static_cast<double>(count))));
  }

  /// A smaller count above `below` if a fit exceeds its target; none otherwise.
  [[nodiscard]] std::optional<std::int64_t> less_than(std::int64_t count, std::int64_t below) const {
    if (psnr_ < wanted() + far_too_near || (limited() && left() < time_for_another * limit())) return std::nullopt;
    const double factor = std::clamp(std::exp2((wanted() - psnr_) / slope_), 1 / widest_step, 1 / min_growth);
    const auto less = static_cast<std::int64_t>(std::lround(factor * static_cast<double>(count)));
    return less > below && less >= 1 ? std::optional(less) : std::nullopt;
  }

  MixtureFit stored() {
    MixtureFit found = stored_fit(job_, *fitted_);
    found.fit_psnr_db = fit_psnr_;
    found.iterations = iterations_;
    found.max_components = max_components_;
    found.end = fitted_->count() >= max_components_ ? MixtureFitEnd::components : MixtureFitEnd::time;
    return found;
  }

  const FitJob& job_;
  std::int64_t pixels_;
  std::int64_t max_components_;
  std::int64_t attempts_ = 0;
  std::int64_t iterations_ = 0;
  std::optional<SmoeModel> fitted_;
  std::optional<std::pair<SmoeModel, double>> ample_;  ///< a fit with too many components, and its PSNR
  double fit_psnr_ = 0;
  double psnr_ = 0;
  double slope_ = first_slope;
  std::int64_t last_count_ = 0;
  double last_psnr_ = 0;
};

}  // namespace

MixtureFit search_fit(const FitJob& job) { return Search(job).run(); }

}  // namespace holotone::mixtures
