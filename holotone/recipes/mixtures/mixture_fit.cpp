#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/recipes/mixtures/fitting_detail.hpp>
#include <holotone/smoe/store.hpp>

namespace holotone {
namespace {

using mixtures::FitJob;
using mixtures::min_pixels_a_component;
using mixtures::where;

/// Share of the time limit for the fit; the rest is for storing.
double share_of_fit(const MixtureFitOptions& options) {
  if (options.lossless) return 0.9;
  if (options.psnr_db) return 0.4;
  return options.max_bytes ? 0.5 : 0.6;
}

/// PSNR of colours at which their codes reach psnr_db: rounding to codes adds 1/12 of a squared step to the mean
/// squared error.
double psnr_before_codes(double psnr_db, int bits) {
  if (bits == 0) return psnr_db;
  const double step = 1 / (std::ldexp(1.0, bits) - 1);
  const double error = std::pow(10, -0.1 * psnr_db);
  const double left = error - step * step / 12;
  return left > 0.1 * error ? -10 * std::log10(left) : psnr_db + 10;
}

void require_options(const MixtureFitOptions& options) {
  const auto require_count = [](std::string_view name, std::int64_t value, const Bounds& bounds) {
    if (static_cast<double>(value) >= bounds.low && static_cast<double>(value) <= bounds.high) return;
    throw_argument(where, name, fmt::format("{:.0f} to {:.0f}", bounds.low, bounds.high), fmt::format("{}", value));
  };
  const auto require = [](std::string_view name, const std::optional<double>& value, const Bounds& bounds) {
    if (value) require_bounds(where, name, *value, bounds);
  };
  using Options = MixtureFitOptions;
  if (options.components) require_count("components", *options.components, bounds_of<&Options::components>);
  if (options.max_bytes) require_count("max_bytes", *options.max_bytes, bounds_of<&Options::max_bytes>);
  require_count("iterations", options.iterations, bounds_of<&Options::iterations>);
  require("psnr_db", options.psnr_db, bounds_of<&Options::psnr_db>);
  require("quality", options.quality, bounds_of<&Options::quality>);
  require("time_limit_s", options.time_limit_s, bounds_of<&Options::time_limit_s>);
  if (options.bits != 0 && options.bits != 8 && options.bits != 16) {
    throw_argument(where, "bits", "0, 8 or 16", fmt::format("{}", options.bits));
  }
  if (options.quality && (options.psnr_db || options.max_bytes)) {
    throw_argument(where, "quality", "none with psnr_db or max_bytes", fmt::format("{:g}", *options.quality));
  }
  if (options.lossless && options.max_bytes) {
    throw_argument(where, "lossless", "no max_bytes", fmt::format("{}", *options.max_bytes));
  }
}

/// Options of the fit: components from bytes and from the pixel count, and the PSNR target before storing.
SmoeFitOptions fit_options(std::span<const SmoeFitView> views, const SmoeModel* start,
                           const MixtureFitOptions& options) {
  SmoeFitOptions fit;
  fit.method = options.method;
  fit.iterations = options.iterations;
  fit.seed = options.seed;
  fit.linear = options.linear;
  if (options.components) {
    fit.components = *options.components;
  } else if (options.psnr_db) {
    fit.components = 0;
  }
  bool limited = false;
  if (options.max_bytes) {
    const auto& shape = views.front().image.shape();
    const int dimensions = 2 + static_cast<int>(views.front().at.size());
    const auto channels = static_cast<int>(shape[2]);
    const std::int64_t min_components = options.components.value_or(1);
    const auto least = smoe_min_bytes(min_components, dimensions, channels);
    if (*options.max_bytes < least) {
      throw_argument(
          where, "max_bytes",
          fmt::format("at least {} for {} component{}", least, min_components, min_components == 1 ? "" : "s"),
          fmt::format("{}", *options.max_bytes));
    }
    if (!options.components) {
      const auto useful = std::max<std::int64_t>(1, shape[0] * shape[1] / min_pixels_a_component);
      const auto wanted = smoe_components_for(*options.max_bytes, dimensions, channels);
      limited = wanted > useful;
      fit.components = std::min(wanted, useful);
    }
  } else if (start != nullptr && !options.components && !options.psnr_db) {
    fit.components = start->count();
  }
  if (options.psnr_db) {
    fit.psnr_db = psnr_before_codes(*options.psnr_db, options.bits) + (options.lossless ? 0 : mixtures::psnr_to_spare);
  }
  if (options.on_components && fit.components > 0) options.on_components(fit.components, limited);
  return fit;
}

MixtureFit fitted(std::span<const SmoeFitView> views, const SmoeModel* start, const MixtureFitOptions& options,
                  const Queue& queue, Progress& progress) {
  require_options(options);
  if (views.empty() || views.front().image.size() == 0) throw_argument(where, "views", "one picture or more", "none");
  FitJob job{views, start, options, fit_options(views, start, options), queue, progress};
  if (job.fit.components == 0) return mixtures::search_fit(job);
  if (job.limited()) job.fit.time_limit_s = std::max(share_of_fit(options) * job.left(), 1e-3);
  SmoeFitter fitter = start != nullptr ? SmoeFitter(views, *start, job.fit, queue) : SmoeFitter(views, job.fit, queue);
  if (job.limited() && options.on_estimate) options.on_estimate(mixtures::measuring_seconds(job, fitter.model()));
  fitter.run(progress);
  MixtureFit found = mixtures::stored_fit(job, fitter.model());
  found.fit_psnr_db = fitter.psnr_db();
  found.iterations = fitter.iterations();
  return found;
}

}  // namespace

MixtureFit fit_mixture(std::span<const SmoeFitView> views, const MixtureFitOptions& options, const Queue& queue,
                       Progress& progress) {
  return fitted(views, nullptr, options, queue, progress);
}

MixtureFit fit_mixture(std::span<const SmoeFitView> views, const SmoeModel& start, const MixtureFitOptions& options,
                       const Queue& queue, Progress& progress) {
  return fitted(views, &start, options, queue, progress);
}

}  // namespace holotone
