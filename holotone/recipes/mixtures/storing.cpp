#include <algorithm>
#include <cmath>
#include <holotone/recipes/mixtures/fitting_detail.hpp>
#include <holotone/smoe/codec.hpp>
#include <holotone/smoe/render.hpp>
#include <holotone/smoe/store.hpp>

namespace holotone::mixtures {
namespace {

constexpr double default_quality = 60;
/// Quality beyond which finer steps have no visible effect.
constexpr double finest_quality = 80;
/// Tolerance of a file's PSNR above the target, dB; the search aims at a third of it.
constexpr double near_enough = 0.1;
constexpr double min_change = 0.3;
constexpr double hopeless = 1.1;
constexpr int max_trials = 7;
/// Share of the time left for one of several trials.
constexpr double trial_share = 0.4;

double mean_error(double psnr_db) { return std::pow(10, -0.1 * psnr_db); }

class Storing {
 public:
  Storing(const FitJob& job, const SmoeModel& model) : job_(job), model_(model) {
    if (job.limited()) measuring_s_ = measuring_seconds(job, model);
  }

  [[nodiscard]] MixtureFit exactly() const {
    MixtureFit result;
    result.bytes = encode_smoe(model_, {.lossless = true, .steps = {}});
    result.model = decode_smoe(result.bytes, where);
    result.psnr_db = job_.psnr(result.model);
    return result;
  }

  [[nodiscard]] MixtureFit with(std::int64_t max_bytes, double quality, double share_of_time) const {
    SmoeStoreOptions options;
    options.max_bytes = max_bytes;
    options.quality = quality;
    if (job_.limited()) options.time_limit_s = std::max(share_of_time * job_.left() - measuring_s_, 1e-3);
    MixtureFit result;
    result.bytes = store_smoe(job_.views, model_, options, job_.queue, job_.progress).bytes;
    result.model = decode_smoe(result.bytes, where);
    result.psnr_db = job_.psnr(result.model);
    return result;
  }

  /// The smallest file found within the tolerance; a file of default quality if there is none.
  [[nodiscard]] MixtureFit by_psnr() const {
    const double target = job_.options.psnr_db.value_or(0);
    const double error = mean_error(target + near_enough / 3);
    const double of_fit = mean_error(job_.psnr(model_));
    // The descent between roundings adds little PSNR to a fit below the target.
    if (of_fit > hopeless * error) return with(0, default_quality, 1);
    std::optional<MixtureFit> best;
    std::optional<MixtureFit> nearest;
    double low = 0;
    double high = best_smoe_quality;
    double quality = job_.limited() ? 55 : 40;
    for (int trial = 0; trial < max_trials && high - low > min_change; ++trial) {
      const Watch watch;
      MixtureFit one = with(0, quality, trial_share);
      // Rounding error falls to a quarter per 10 of quality; the descent meanwhile removes at least part of it.
      const double floor = std::min(of_fit, 0.7 * std::min(error, mean_error(one.psnr_db)));
      const double next = quality + 5 * std::log2((mean_error(one.psnr_db) - floor) / (error - floor));
      const bool reaches = one.psnr_db >= target;
      const bool done = reaches && one.psnr_db < target + near_enough;
      (reaches ? high : low) = quality;
      if (reaches) {
        if (!best || one.bytes.size() < best->bytes.size()) best = std::move(one);
      } else {
        nearest = std::move(one);
      }
      if (done || (low >= finest_quality && !best)) break;
      if (job_.limited() && watch.seconds() > job_.left()) break;
      const double most = high < best_smoe_quality ? high : std::max(finest_quality, low);
      quality = next > low && next < most ? next : high < best_smoe_quality ? 0.5 * (low + high) : finest_quality;
    }
    if (best) return std::move(*best);
    if (low < finest_quality || (job_.limited() && job_.left() < 0)) return std::move(*nearest);  // no time left
    return with(0, default_quality, 1);
  }

 private:
  const FitJob& job_;
  const SmoeModel& model_;
  double measuring_s_ = 0;  ///< time to measure a stored model, with a time limit
};

}  // namespace

double measuring_seconds(const FitJob& job, const SmoeModel& model) {
  const auto& view = job.views[job.views.size() / 2];
  const auto& shape = view.image.shape();
  const Watch watch;
  SmoeRenderer renderer(model, job.queue);
  Array<float, 3> image(shape, job.queue.device());
  renderer.render({{shape[0], shape[1]}, {}, {}, view.at}, image.view());
  (void)image.to(Device{});
  return watch.seconds() * static_cast<double>(job.views.size());
}

MixtureFit stored_fit(const FitJob& job, const SmoeModel& model) {
  const Storing storing(job, model);
  if (job.options.lossless) return storing.exactly();
  const auto max_bytes = job.options.max_bytes;
  if (job.options.psnr_db) {
    auto found = storing.by_psnr();
    if (!max_bytes || std::ssize(found.bytes) <= *max_bytes) return found;
  }
  return storing.with(max_bytes.value_or(0), job.options.quality.value_or(default_quality), 0.95);
}

}  // namespace holotone::mixtures
