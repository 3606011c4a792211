#pragma once
#include <cli/smoe/smoe_fit_store.hpp>
#include <functional>
#include <holotone/smoe/fit.hpp>
#include <optional>
#include <string>

namespace holotone::cli {

/// A bar of a fit: which attempt it is, if it is one of several, the time left, the PSNR.
class FitBar final : public Progress {
 public:
  explicit FitBar(const ConsoleOptions& console, std::string attempt = {});
  bool update(std::string_view stage, std::int64_t done, std::int64_t total) override;

 private:
  ProgressBar bar_;
  std::string attempt_;
  std::int64_t furthest_ = 0;
};

/// A fit, stored.
struct FoundFit {
  StoredFit stored;
  double fit_psnr_db = 0;       ///< before it was stored
  std::int64_t iterations = 0;  ///< of all attempts
  std::string ended;            ///< why a PSNR was not reached and what helps
};

/// The smallest file found for --psnr where the number of components is open. Counts are tried with an eighth of the
/// steps each, by the slope of PSNR over their logarithm, until one is about as near as a fit has to be before it is
/// stored; that one is fitted with all steps and stored, more components are taken if it falls short, then fewer while
/// files become smaller, at most twice. Without a limit all of it takes about the time of one fit for the short ones
/// and of one fit and its storing for each of mostly two or three counts. With one, counts begin higher and grow while
/// there is time. `start`: a model to start from, or null.
FoundFit search_fit(const SmoeFitJob& job, const FitPictures& pictures, const SmoeModel* start, double seconds_left);

}  // namespace holotone::cli
