#pragma once
// Not for users. What the parts of fit_mixture share.
#include <chrono>
#include <holotone/recipes/mixtures.hpp>

namespace holotone::mixtures {

inline constexpr const char* where = "fit_mixture";

/// Margin of a fit's PSNR over that of the stored file, dB. Kilobytes for 37 and 34 dB of kodim23 and for 27 dB of
/// kodim05: 16.2, 9.8 and 26.6 with a margin of 0.5; 16.6, 9.2 and 27.4 with 1.2; 19.1, 8.9 and 31.3 with 2.
inline constexpr double psnr_to_spare = 1.2;

/// Minimum pixels per component; more components do not improve a picture.
inline constexpr std::int64_t min_pixels_a_component = 4;

/// Seconds since its construction.
class Watch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// A fit: its pictures, target and place.
struct FitJob {
  std::span<const SmoeFitView> views;
  const SmoeModel* start = nullptr;
  const MixtureFitOptions& options;
  SmoeFitOptions fit;  ///< `components` 0: a search
  Queue queue;
  Progress& progress;
  Watch watch{};

  [[nodiscard]] bool limited() const { return options.time_limit_s.has_value(); }
  [[nodiscard]] double left() const { return options.time_limit_s.value_or(0) - watch.seconds(); }
  [[nodiscard]] double psnr(const SmoeModel& model) const {
    return compare_mixture(model, views, options.bits, false, queue, progress).psnr_db;
  }
};

/// Estimated time to render all views of such a model, from rendering one.
double measuring_seconds(const FitJob& job, const SmoeModel& model);

/// Stores a fitted model as the job requires: lossless, at a quality, within a size, or in as few bytes as its PSNR
/// allows.
MixtureFit stored_fit(const FitJob& job, const SmoeModel& model);

/// The smallest file found for psnr_db if the number of components is open.
MixtureFit search_fit(const FitJob& job);

}  // namespace holotone::mixtures
