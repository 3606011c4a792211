#include <algorithm>
#include <cli/common/paths.hpp>
#include <cli/common/smoe_picture.hpp>
#include <cli/smoe/smoe_fit_store.hpp>
#include <cmath>
#include <holotone/smoe/store.hpp>

namespace holotone::cli {
namespace {

constexpr double default_quality = 60;
/// Quality beyond which finer steps have no visible effect.
constexpr double finest_quality = 80;
/// Tolerance of a file's PSNR above the target, dB; the search aims at a third of it.
constexpr double near_enough = 0.1;
constexpr double least_change = 0.3;
constexpr double hopeless = 1.1;
constexpr int most_trials = 7;
/// Share of the time left for one of several trials.
constexpr double trial_share = 0.4;

double error_of(double psnr_db) { return std::pow(10, -0.1 * psnr_db); }

class Storing {
 public:
  Storing(const SmoeFitJob& job, const FitPictures& pictures, const SmoeModel& model, double seconds_left)
      : job_(job), pictures_(pictures), model_(model), seconds_(seconds_left), bar_(job.console) {
    if (job.time_s) measuring_s_ = measuring_seconds(pictures, model, job.device);
  }

  StoredFit exactly() {
    StoredFit result;
    result.model = model_;
    if (extension_of(job_.output) == ".smoe") {
      result.bytes = encode_smoe(model_, {.lossless = true, .steps = {}});
      result.model = decode_smoe(result.bytes, job_.output);
    }
    result.psnr_db = psnr_of_pictures(pictures_, result.model, job_.device);
    return result;
  }

  StoredFit with(std::int64_t most_bytes, double quality, double share_of_time) {
    SmoeStoreOptions options;
    options.most_bytes = most_bytes;
    options.quality = quality;
    if (job_.time_s) options.time_limit_s = std::max(share_of_time * left() - measuring_s_, 1e-3);
    StoredFit result;
    result.bytes = store_smoe(pictures_.views(), model_, options, job_.device, bar_).bytes;
    result.model = decode_smoe(result.bytes, job_.output);
    result.psnr_db = psnr_of_pictures(pictures_, result.model, job_.device);
    return result;
  }

  /// The smallest file found within the tolerance; a file of default quality if there is none.
  StoredFit by_psnr() {
    const double error = error_of(*job_.psnr_db + near_enough / 3);
    const double of_fit = error_of(psnr_of_pictures(pictures_, model_, job_.device));
    // The descent between roundings adds little PSNR to a fit below the target.
    if (of_fit > hopeless * error) return with(0, default_quality, 1);
    std::optional<StoredFit> best;
    std::optional<StoredFit> nearest;
    double low = 0;
    double high = best_smoe_quality;
    double quality = job_.time_s ? 55 : 40;
    for (int trial = 0; trial < most_trials && high - low > least_change; ++trial) {
      const Stopwatch watch;
      StoredFit one = with(0, quality, trial_share);
      // Rounding error falls to a quarter per 10 of quality; the descent meanwhile removes at least part of it.
      const double floor = std::min(of_fit, 0.7 * std::min(error, error_of(one.psnr_db)));
      const double next = quality + 5 * std::log2((error_of(one.psnr_db) - floor) / (error - floor));
      const bool reaches = one.psnr_db >= *job_.psnr_db;
      const bool done = reaches && one.psnr_db < *job_.psnr_db + near_enough;
      (reaches ? high : low) = quality;
      if (reaches) {
        if (!best || one.bytes.size() < best->bytes.size()) best = std::move(one);
      } else {
        nearest = std::move(one);
      }
      if (done || (low >= finest_quality && !best)) break;
      if (job_.time_s && watch.seconds() > left()) break;
      const double most = high < best_smoe_quality ? high : std::max(finest_quality, low);
      quality = next > low && next < most ? next : high < best_smoe_quality ? 0.5 * (low + high) : finest_quality;
    }
    if (best) return std::move(*best);
    if (low < finest_quality || (job_.time_s && left() < 0)) return std::move(*nearest);  // no time left
    return with(0, default_quality, 1);
  }

 private:
  [[nodiscard]] double left() const { return seconds_ - watch_.seconds(); }

  const SmoeFitJob& job_;
  const FitPictures& pictures_;
  const SmoeModel& model_;
  double seconds_;
  double measuring_s_ = 0;  ///< time to measure a stored model, with a time limit
  Stopwatch watch_;
  ProgressBar bar_;
};

}  // namespace

double measuring_seconds(const FitPictures& pictures, const SmoeModel& model, Device device) {
  const std::size_t middle = pictures.images.size() / 2;
  const auto& shape = pictures.images[middle].shape();
  const Stopwatch watch;
  SmoeRenderer renderer(model, device);
  (void)rendered(renderer, {{shape[0], shape[1]}, {}, {}, pictures.at[middle]}, device);
  return watch.seconds() * static_cast<double>(pictures.images.size());
}

StoredFit stored_fit(const SmoeFitJob& job, const FitPictures& pictures, const SmoeModel& model, double seconds_left) {
  Storing storing(job, pictures, model, seconds_left);
  if (job.lossless) return storing.exactly();
  if (job.psnr_db) {
    auto found = storing.by_psnr();
    if (!job.bytes || std::ssize(found.bytes) <= *job.bytes) return found;
  }
  return storing.with(job.bytes.value_or(0), job.quality.value_or(default_quality), 0.95);
}

}  // namespace holotone::cli
