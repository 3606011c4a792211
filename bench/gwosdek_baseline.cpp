#include <bench/baselines/gwosdek.hpp>
#include <bench/gwosdek_baseline.hpp>
#include <bench/sampled_forces.hpp>
#include <fmt/format.h>
#include <holotone/halftone/sampling.hpp>
#include <holotone/metrics/blurred_comparison.hpp>
#include <tests/cases/halftone.hpp>

namespace bench {
namespace {

using holotone::Array;
using holotone::Device;
using holotone::ImageForce;
using holotone::Queue;
using holotone::View;

/// Cells a dot of the map with which it misses (almost) no neighbour of random dots.
constexpr double wide_room = 16;

/// Table 1's picture and its dots.
struct Start {
  explicit Start(std::int64_t dots)
      : count(dots),
        ink(cases::halftone_ink(dots)),
        position(importance_sampled_dots(std::as_const(ink).view(), dots, 1).position) {}
  [[nodiscard]] View<const float, 2> dots() const { return {position.data(), {count, 2}}; }
  std::int64_t count;
  Array<float, 2> ink;
  std::vector<float> position;
};

/// The paper's step on a device.
class Baseline {
 public:
  Baseline(const Start& start, Device device, const GwosdekOptions& options)
      : queue_(Queue::create(device)),
        start_(start),
        dots_(copy_of(start.dots(), device)),
        step_(start.ink.shape(), start.count, queue_, options) {
    step_.set_ink(start.ink.view());
    place();
  }
  [[nodiscard]] double error(const SampledForces& expected) {
    Array<float, 2> forces({start_.count, 2}, queue_);
    step_.forces(forces.view());
    const auto host = forces.to(Device{});
    return expected.error(host.view())[0];
  }
  double step_ms(int rounds) {
    const double seconds = seconds_of(queue_, rounds, [&] { step_.step(); });
    place();
    return 1e3 * seconds;
  }
  GwosdekNeighbours neighbours() { return step_.neighbours(); }

 private:
  void place() {
    step_.set_positions(std::as_const(dots_).view());
    queue_.synchronize();
  }
  Queue queue_;
  const Start& start_;
  Array<float, 2> dots_;
  GwosdekStep step_;
};

void measure(nlohmann::json& row, Device device) {
  const Start start(row["dots"].get<std::int64_t>());
  const SampledForces expected(start.ink.view(), start.dots(), ImageForce::points);
  const bool many = start.count > 50000;
  GwosdekOptions options;
  Baseline fast(start, device, options);
  row["their_fast_error"] = fast.error(expected);
  row["their_fast_ms"] = fast.step_ms(many ? 3 : 5);
  options.room = wide_room;
  row["their_fast_error_wide_map"] = Baseline(start, device, options).error(expected);
  options.radius_by_plane = true;
  row["their_fast_error_by_plane"] = Baseline(start, device, options).error(expected);
  row["their_fast_over_ewald"] = row["their_fast_ms"].get<double>() / row["ewald_ms"].get<double>();
  if (!row.contains("direct_ms")) return;
  options.sum = GwosdekSum::direct;
  Baseline direct(start, device, options);
  row["their_direct_error"] = direct.error(expected);
  row["their_direct_ms"] = direct.step_ms(many ? 1 : 3);
  row["their_direct_over_ewald"] = row["their_direct_ms"].get<double>() / row["ewald_ms"].get<double>();
  const auto neighbours = fast.neighbours();
  row["their_neighbours"] = neighbours.within;
  row["their_neighbours_missed"] = neighbours.within - neighbours.found;
  row["their_dots_without_cell"] = neighbours.without_cell;
}

}  // namespace

void print_gwosdek_baseline(const TableOptions& options, nlohmann::json& results) {
  fmt::print("\nThe paper's own step on {}, and the library's: milliseconds of an iteration\n\n",
             to_string(options.device));
  std::vector<std::vector<std::string>> rows = {{"dots", "their direct", "direct here", "their fast", "Ewald here",
                                                 "their direct / Ewald", "their fast / Ewald", "direct error",
                                                 "fast error", "map of 16 cells a dot", "and epsilon_I = p / n",
                                                 "neighbours missed", "without a cell"}};
  for (auto& row : results["table_1"]) {
    measure(row, options.device);
    const auto number = [&](const char* key) {
      return row.contains(key) ? three_digits(row[key].get<double>()) : std::string("-");
    };
    const auto error = [&](const char* key) {
      return row.contains(key) ? fmt::format("{:.1e}", row[key].get<double>()) : std::string("-");
    };
    std::string missed = "-";
    std::string without = "-";
    if (row.contains("their_neighbours")) {
      missed = fmt::format("{:.2g} %",
                           100 * row["their_neighbours_missed"].get<double>() / row["their_neighbours"].get<double>());
      without = fmt::format("{}", row["their_dots_without_cell"].get<std::int64_t>());
    }
    rows.push_back({fmt::format("{}", row["dots"].get<std::int64_t>()), number("their_direct_ms"), number("direct_ms"),
                    number("their_fast_ms"), number("ewald_ms"), number("their_direct_over_ewald"),
                    number("their_fast_over_ewald"), error("their_direct_error"), error("their_fast_error"),
                    error("their_fast_error_wide_map"), error("their_fast_error_by_plane"), missed, without});
  }
  print_table(rows);
  fmt::print(
      "\nErrors: of the net force at a random start, relative, against float64 sums with the paper's image force.\n"
      "Their map has a cell for each dot of the darkest place and misses neighbours there; with 16 cells a dot it "
      "misses\n"
      "few, and the rest is float32. The text has \"epsilon_I = p / n ~ p / N\": p / N here, for N modes cannot hold "
      "a\n"
      "kernel as narrow as p / n.\n");
}

void print_image_forces(const TableOptions& options, nlohmann::json& results) {
  constexpr std::int64_t iterations = 100;
  const std::int64_t count = options.small ? 1024 : 65536;
  const std::int64_t seeds = options.small ? 1 : 3;
  const auto ink = cases::halftone_ink(count);
  holotone::BlurOptions blur;
  blur.sigma = {1.5};
  blur.margin = 8;
  blur.structure = false;
  holotone::BlurredComparisonPlan comparison(ink.view(), blur);
  const auto device_ink = copy_of(ink.view(), options.device);
  fmt::print("\nImage force: blurred PSNR (1.5 px) of {} dots after {} iterations, mean of {} random starts\n\n", count,
             iterations, seeds);
  std::vector<std::vector<std::string>> rows = {{"image force", "edge correction", "dB"}};
  for (const auto& [name, image, correction] :
       {std::tuple("spots", ImageForce::spots, holotone::StepRule{}.edge_correction),
        {"points", ImageForce::points, holotone::StepRule{}.edge_correction},
        {"points", ImageForce::points, 0.0}}) {
    holotone::ElectrostaticOptions adapted;
    adapted.image = image;
    holotone::StepRule rule;
    rule.edge_correction = correction;
    double mean = 0;
    for (std::int64_t seed = 1; seed <= seeds; ++seed) {
      const auto start = importance_sampled_dots(ink.view(), count, static_cast<std::uint64_t>(seed));
      holotone::ElectrostaticPlan plan(ink.shape(), count, options.device, adapted);
      auto dots = copy_of(View<const float, 2>(start.position.data(), {count, 2}), options.device);
      plan.set_ink(device_ink.view());
      plan.set_positions(std::as_const(dots).view());
      for (std::int64_t i = 0; i < iterations; ++i) plan.step(rule);
      plan.positions(dots.view());
      plan.queue().synchronize();
      const auto host = dots.to(Device{});
      mean += comparison.execute(host.view()).front().psnr_db / static_cast<double>(seeds);
    }
    rows.push_back({name, fmt::format("{:g}", correction), fmt::format("{:.2f}", mean)});
    results["image_forces"].push_back({{"image", name}, {"edge_correction", correction}, {"psnr_db", mean}});
  }
  print_table(rows);
}

}  // namespace bench
