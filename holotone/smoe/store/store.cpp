// Storing of models: steps, rounding, and the file of the wanted size.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/smoe/store.hpp>
#include <holotone/smoe/store/store_detail.hpp>
#include <numeric>
#include <optional>

namespace holotone {
namespace smoe {
namespace {

constexpr std::size_t max_sampled = 9;

}  // namespace

StoreScene::StoreScene(const char* where, std::span<const SmoeFitView> images, const Queue& queue)
    : engine(fit_engine(where, images, queue)),
      all(images.size()),
      size(engine->size()),
      dimensions(engine->dimensions()),
      channels(engine->channels()),
      limits(engine->limits()),
      loose{limits.least / 4, limits.largest * 4, limits.aspect * 4} {
  for (const auto& image : images) places.push_back(to_view_point(image));
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::size_t count = std::min(max_sampled, all.size());
  for (std::size_t i = 0; i < count; ++i) sampled.push_back(i * all.size() / count);
}

}  // namespace smoe

namespace {

constexpr const char* where = "store_smoe";
/// Fraction of max_bytes that ends the search; files are smaller if the finest experts need less.
constexpr double enough = 0.99;
constexpr int max_trials = 6;
/// Approximate ratio of the bytes after rate-distortion optimized rounding to those of plain rounding.
constexpr double smaller_by_choice = 0.95;
/// Qualities closer than this count as equal.
constexpr double min_change = 0.05;
/// Lowest quality of gates, for small files; largest difference of experts' quality from that of gates.
constexpr double coarsest = -24;
constexpr double widest = 15;
/// Largest mean bits of a number in such files: smoe_min_bytes.
constexpr double min_bits = 1.5;
/// Fraction of the remaining time for the descent; the rest is for the steps after it.
constexpr double descent_share = 0.55;

class Storing {
 public:
  Storing(std::span<const SmoeFitView> views, const SmoeModel& model, const SmoeStoreOptions& options,
          const Queue& queue, Progress& progress)
      : scene_(where, views, queue),
        model_(model),
        options_(options),
        progress_(progress),
        balanced_(smoe::balanced_steps(scene_, model)) {}

  SmoeEncoded run() {
    if (options_.max_bytes > 0) return within_bytes();
    return {encoded(gates_at(options_.quality), options_.quality, options_.quality), options_.quality};
  }

 private:
  [[nodiscard]] SmoeSteps steps(double gates, double experts) const {
    return smoe::steps_at(balanced_, model_, gates, experts);
  }
  void report() {
    constexpr double between_s = 0.02;
    const auto now = std::chrono::steady_clock::now();
    ++done_;
    if (std::chrono::duration<double>(now - reported_).count() < between_s) return;
    reported_ = now;
    const std::int64_t total = options_.steps + 130;  // solving, and some roundings of experts
    progress_.step("storing", std::min(done_, total), total);
  }
  [[nodiscard]] double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  SmoeModel gates_at(double quality) {
    std::function<bool(double)> is_late;
    if (options_.time_limit_s > 0) {
      const double now = elapsed();
      const double given = descent_share * std::max(options_.time_limit_s - now, 0.0);
      is_late = [this, now, given](double share) { return elapsed() > now + share * given; };
    }
    return smoe::rounded_gates(
        scene_, model_, steps(quality, quality), options_.steps, [this] { report(); }, is_late);
  }
  std::vector<std::byte> encoded(const SmoeModel& gates, double quality, double experts) {
    // Ends early only without max_bytes: numbers not optimized for rate might exceed max_bytes at every quality.
    const bool hurries = options_.time_limit_s > 0 && options_.max_bytes == 0;
    const auto is_late = [this, hurries] { return hurries && elapsed() > options_.time_limit_s; };
    auto coded = smoe::rounded_experts(
        scene_, gates, steps(quality, experts), [this] { report(); }, is_late);
    return smoe::file_bytes(coded);
  }

  /// Quality at which plain rounding of the model gives about the bytes allowed before rate-distortion optimization.
  [[nodiscard]] double likely_quality() const {
    const auto fits = [&](double quality) {
      const auto bytes = encode_smoe(model_, {.lossless = false, .steps = steps(quality, quality)}).size();
      return static_cast<double>(bytes) <= static_cast<double>(options_.max_bytes) / smaller_by_choice;
    };
    const bool fine = fits(0);
    double low = fine ? 0 : coarsest;
    double high = fine ? best_smoe_quality : 0;
    while (high - low > 0.25) {
      const double middle = 0.5 * (low + high);
      (fits(middle) ? low : high) = middle;
    }
    return low;
  }

  /// File with the finest experts that fit into max_bytes with these gates; none if no trial fits.
  std::optional<SmoeEncoded> fitting(const SmoeModel& gates, double quality, std::int64_t& min_bytes) {
    struct Trial {
      double experts;
      double size;
    };
    Trial low{quality - widest, -1};
    Trial high{std::min(best_smoe_quality, quality + widest), -1};
    const auto most = static_cast<double>(options_.max_bytes);
    const double goal = 0.5 * (1 + enough) * most;
    // Bytes per unit of quality for the experts' numbers, most of which are not 0.
    const double slope = 0.8 * static_cast<double>(model_.count() * (model_.dimensions + 1) * model_.channels) / 80;
    std::optional<SmoeEncoded> best;
    double experts = quality;
    for (int trial = 0; trial < max_trials && high.experts - low.experts >= min_change; ++trial) {
      const double before = elapsed();
      auto bytes = encoded(gates, quality, experts);
      const double took = elapsed() - before;
      const auto size = static_cast<double>(bytes.size());
      min_bytes = std::min(min_bytes, std::ssize(bytes));
      if (size <= most) {
        if (!best || bytes.size() > best->bytes.size()) best = SmoeEncoded{std::move(bytes), quality};
        if (size >= enough * most || (options_.time_limit_s > 0 && elapsed() + took > options_.time_limit_s)) break;
        low = {experts, size};
      } else {
        high = {experts, size};
      }
      const double next = low.size >= 0 && high.size >= 0
                              ? std::lerp(low.experts, high.experts, (goal - low.size) / (high.size - low.size))
                              : experts + (goal - size) / slope;
      experts = next > low.experts && next < high.experts ? next : 0.5 * (low.experts + high.experts);
    }
    return best;
  }

  SmoeEncoded within_bytes() {
    constexpr double back = 8;  // decrease of the quality if the gates leave no room
    std::int64_t min_bytes = INT64_MAX;
    for (double quality = likely_quality();; quality = std::max(coarsest, quality - back)) {
      auto found = fitting(gates_at(quality), quality, min_bytes);
      if (found) {
        found->quality = std::max(found->quality, 0.0);
        return std::move(*found);
      }
      if (quality > coarsest) continue;
      throw_argument(
          where, "max_bytes",
          fmt::format("at least {} for {} component{}", min_bytes, model_.count(), model_.count() == 1 ? "" : "s"),
          std::to_string(options_.max_bytes));
    }
  }

  smoe::StoreScene scene_;
  const SmoeModel& model_;
  SmoeStoreOptions options_;
  Progress& progress_;
  SmoeSteps balanced_;
  std::int64_t done_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point reported_;
};

}  // namespace

std::int64_t smoe_components_for(std::int64_t bytes, int dimensions, int channels) {
  constexpr const char* own_name = "smoe_components_for";
  constexpr double header_bytes = 140;
  const double bits_a_number = channels >= 3 ? 4 : 5.8;
  require_range(own_name, "dimensions", dimensions, 1, max_smoe_dimensions);
  require_range(own_name, "channels", channels, 1, max_smoe_channels);
  const smoe::CodedLayout layout{dimensions, channels};
  const double count = 8 * (static_cast<double>(bytes) - header_bytes) / (bits_a_number * layout.size());
  return static_cast<std::int64_t>(std::clamp(std::round(count), 1.0, static_cast<double>(max_smoe_components)));
}

std::int64_t smoe_min_bytes(std::int64_t components, int dimensions, int channels) {
  constexpr const char* own_name = "smoe_min_bytes";
  require_range(own_name, "components", static_cast<double>(components), 1, static_cast<double>(max_smoe_components));
  require_range(own_name, "dimensions", dimensions, 1, max_smoe_dimensions);
  require_range(own_name, "channels", channels, 1, max_smoe_channels);
  const smoe::CodedLayout layout{dimensions, channels};
  const double header = 80 + 20 * dimensions + layout.size();  // holotone/smoe/codec/FORMAT.md, its checksum too
  return static_cast<std::int64_t>(std::ceil(header + min_bits * static_cast<double>(components * layout.size()) / 8));
}

SmoeEncoded store_smoe(std::span<const SmoeFitView> views, const SmoeModel& model, const SmoeStoreOptions& options,
                       const Queue& queue, Progress& progress) {
  smoe::require_views(where, views);
  smoe::require_start(where, model, views.front());
  require_range(where, "quality", options.quality, 0, best_smoe_quality);
  require_range(where, "max_bytes", static_cast<double>(options.max_bytes), 0, 0x1p53);
  require_range(where, "steps", static_cast<double>(options.steps), 0, 1e6);
  require_range(where, "time_limit_s", options.time_limit_s, 0, 1e9);
  return Storing(views, model, options, queue, progress).run();
}

}  // namespace holotone
