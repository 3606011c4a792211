#pragma once
#include <cli/smoe/smoe_fit_store.hpp>
#include <functional>
#include <holotone/smoe/fit.hpp>
#include <optional>
#include <string>

namespace holotone::cli {

/// Progress bar of a fit: attempt number if there are several, remaining time, PSNR.
class FitBar final : public Progress {
 public:
  explicit FitBar(const ConsoleOptions& console, std::string attempt = {});
  bool update(std::string_view stage, std::int64_t done, std::int64_t total) override;

 private:
  ProgressBar bar_;
  std::string attempt_;
  std::int64_t furthest_ = 0;
};

/// A stored fit.
struct FoundFit {
  StoredFit stored;
  double fit_psnr_db = 0;       ///< before storing
  std::int64_t iterations = 0;  ///< sum over all attempts
  std::string ended;            ///< reason why a PSNR was not reached, and a remedy
  bool cut_short = false;       ///< the PSNR is reached, but no time was left to try fewer components
};

/// The smallest file found for --psnr if the number of components is open. Short fits with 1/8 of the steps try counts
/// until the PSNR is near the target before storing. Counts follow the slope of PSNR over their logarithm. A full fit
/// of the count found is stored. More components follow if it falls short, then fewer while files become smaller, at
/// most twice. Without a time limit the short fits cost about one full fit; each of mostly two or three counts costs a
/// fit and its storing. With a time limit, counts start higher and grow while time is left. `start`: initial model, or
/// null.
FoundFit search_fit(const SmoeFitJob& job, const FitPictures& pictures, const SmoeModel* start, double seconds_left);

}  // namespace holotone::cli
