// nufft/type1/{modes}/{points}/{tolerance}, type2, type2_gradient, set_points: complex float32 transforms of random
// points in two dimensions, modes x modes; *_clustered: nine points of ten in a square of a hundredth of the period.
// Checked at 64 modes or points against the float64 sum.
//
// Counters: points_per_s; rel_error; memory_floor_ms, the time of the least memory traffic at the device's measured
// copy speed. The traffic is sorted points (20 bytes), strengths or values, gradients, modes, and the oversampled grid
// written and read once. For set_points it is points read and sorted points written.
#include <bench/loop.hpp>
#include <bench/rows.hpp>
#include <benchmark/benchmark.h>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/parallel.hpp>
#include <holotone/core/random.hpp>
#include <holotone/nufft/nufft.hpp>
#include <map>
#include <memory>
#include <numbers>

namespace bench {
namespace {

using holotone::Array;
using holotone::Device;
using holotone::NufftPlan;
using holotone::Queue;
using Complex = std::complex<float>;
using Complex64 = std::complex<double>;

constexpr std::int64_t samples = 64;

enum class Stage { type1, type2, type2_gradient, set_points };

struct NufftRow {
  Stage stage;
  std::int64_t modes;
  std::int64_t points;
  double tolerance;
  bool clustered;
};

Complex64 turn(double turns) { return std::polar(1.0, 2 * std::numbers::pi * (turns - std::round(turns))); }

std::int64_t index_below(std::int64_t size, std::uint64_t seed, std::int64_t i) {
  return static_cast<std::int64_t>(holotone::random_uniform64(seed, static_cast<std::uint64_t>(i)) *
                                   static_cast<double>(size));
}

/// Points and strengths, modes, and the float64 sums at some modes and points.
struct Cloud {
  Cloud(std::int64_t modes_a_side, std::int64_t count, bool clustered)
      : side(modes_a_side), points({count, 2}), strengths({count}), modes({side, side}) {
    holotone::parallel_for(0, 64, [&](std::int64_t part) {
      for (std::int64_t j = count * part / 64; j < count * (part + 1) / 64; ++j) {
        const auto counter = static_cast<std::uint64_t>(j);
        const bool close = clustered && j % 10 != 0;
        for (std::uint64_t axis = 0; axis < 2; ++axis) {
          const double u = holotone::random_uniform64(1, 2 * counter + axis) - 0.5;
          points.data()[2 * counter + axis] = static_cast<float>(close ? 0.2 + 0.01 * u : u);
        }
        strengths.data()[j] = number(2, counter);
      }
    });
    for (std::int64_t i = 0; i < modes.size(); ++i) modes.data()[i] = number(3, static_cast<std::uint64_t>(i));
    holotone::parallel_for(0, samples, [&](std::int64_t i) {
      sum_mode(i);
      sum_point(i);
    });
  }

  [[nodiscard]] std::int64_t mode_index(std::int64_t i) const { return index_below(modes.size(), 4, i); }
  [[nodiscard]] std::int64_t point_index(std::int64_t i) const { return index_below(strengths.size(), 5, i); }

  std::int64_t side;
  Array<float, 2> points;
  Array<Complex, 1> strengths;
  Array<Complex, 2> modes;
  std::vector<Complex64> at_mode = std::vector<Complex64>(samples);
  std::vector<Complex64> at_point = std::vector<Complex64>(samples);
  std::vector<Complex64> slope = std::vector<Complex64>(2 * samples);

 private:
  static Complex number(std::uint64_t seed, std::uint64_t counter) {
    return {holotone::random_uniform(seed, 2 * counter) - 0.5F, holotone::random_uniform(seed, 2 * counter + 1) - 0.5F};
  }
  void sum_mode(std::int64_t i) {
    const auto kx = static_cast<double>(mode_index(i) % side - side / 2);
    const auto ky = static_cast<double>(mode_index(i) / side - side / 2);
    Complex64 sum = 0;
    for (std::int64_t j = 0; j < strengths.size(); ++j) {
      const float* const x = points.data() + 2 * j;
      sum += Complex64(strengths.data()[j]) * turn(-kx * double{x[0]} - ky * double{x[1]});
    }
    at_mode[static_cast<std::size_t>(i)] = sum;
  }
  void sum_point(std::int64_t i) {
    const float* const x = points.data() + 2 * point_index(i);
    std::vector<Complex64> across(static_cast<std::size_t>(side));
    for (std::int64_t k = 0; k < side; ++k)
      across[static_cast<std::size_t>(k)] = turn(static_cast<double>(k - side / 2) * double{x[0]});
    Complex64 sum = 0;
    Complex64 slopes[2] = {};
    for (std::int64_t row = 0; row < side; ++row) {
      const auto ky = static_cast<double>(row - side / 2);
      Complex64 line = 0;
      Complex64 sloped = 0;
      for (std::int64_t k = 0; k < side; ++k) {
        const Complex64 term = Complex64(modes.data()[row * side + k]) * across[static_cast<std::size_t>(k)];
        line += term;
        sloped += static_cast<double>(k - side / 2) * term;
      }
      const Complex64 down = turn(ky * double{x[1]});
      sum += line * down;
      slopes[0] += sloped * down;
      slopes[1] += ky * line * down;
    }
    const Complex64 turns(0, 2 * std::numbers::pi);
    at_point[static_cast<std::size_t>(i)] = sum;
    for (std::size_t axis = 0; axis < 2; ++axis) slope[2 * static_cast<std::size_t>(i) + axis] = turns * slopes[axis];
  }
};

/// The last cloud used: rows of one cloud are consecutive.
const Cloud& find_cloud(const NufftRow& row) {
  static std::unique_ptr<Cloud> last;
  static std::tuple<std::int64_t, std::int64_t, bool> key;
  const auto wanted = std::tuple(row.modes, row.points, row.clustered);
  if (!last || key != wanted) {
    last.reset();
    last = std::make_unique<Cloud>(row.modes, row.points, row.clustered);
    key = wanted;
  }
  return *last;
}

template <class Own>
double relative_error(const std::vector<Complex64>& expected, const Own& result) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += std::norm(Complex64(result(static_cast<std::int64_t>(i))) - expected[i]);
    norm += std::norm(expected[i]);
  }
  return std::sqrt(difference / norm);
}

/// Bytes read and written per second by a copy on the device.
double copy_speed(const Queue& queue) {
  static std::map<std::string, double> known;
  auto& speed = known[to_string(queue.device())];
  if (speed == 0) {
    const bool cpu = queue.device().backend == holotone::Backend::cpu;
    const std::size_t bytes = std::size_t{1} << (cpu ? 27 : 30);
    const holotone::Buffer from(bytes, queue);
    const holotone::Buffer to(bytes, queue);
    const double seconds =
        seconds_of(queue, 5, [&] { copy_bytes(to.data(), queue.device(), from.data(), queue.device(), bytes, queue); });
    speed = 2 * static_cast<double>(bytes) / seconds;
  }
  return speed;
}

/// A plan with its arrays on the device, for running one stage.
class NufftRun {
 public:
  NufftRun(const NufftRow& row, Device device)
      : row_(row),
        cloud_(find_cloud(row)),
        queue_(Queue::create(device)),
        plan_({row.modes, row.modes}, queue_, {.tolerance = row.tolerance}),
        points_(cloud_.points.shape(), queue_),
        strengths_(cloud_.strengths.shape(), queue_),
        modes_(cloud_.modes.shape(), queue_) {
    copy<float, 2>(points_.view(), cloud_.points.view(), queue_);
    copy<Complex, 1>(strengths_.view(), cloud_.strengths.view(), queue_);
    copy<Complex, 2>(modes_.view(), cloud_.modes.view(), queue_);
    if (row.stage == Stage::type2_gradient) gradient_ = Array<Complex, 2>({row.points, 2}, queue_);
    plan_.set_points(points_.view());
  }

  void run() {
    switch (row_.stage) {
      case Stage::type1: plan_.type1(strengths_.view(), modes_.view()); break;
      case Stage::type2: plan_.type2(modes_.view(), strengths_.view()); break;
      case Stage::type2_gradient: plan_.type2(modes_.view(), strengths_.view(), gradient_.view()); break;
      case Stage::set_points: plan_.set_points(points_.view()); break;
    }
  }

  /// Error of the stage's own result; of type 1 for set_points.
  double check() {
    run();
    if (row_.stage == Stage::type2 || row_.stage == Stage::type2_gradient) {
      const auto values = strengths_.to(Device{});
      const double error =
          relative_error(cloud_.at_point, [&](std::int64_t i) { return values.data()[cloud_.point_index(i)]; });
      if (row_.stage == Stage::type2) return error;
      const auto gradient = gradient_.to(Device{});
      return std::max(error, relative_error(cloud_.slope, [&](std::int64_t i) {
                        return gradient.data()[2 * cloud_.point_index(i / 2) + i % 2];
                      }));
    }
    if (row_.stage != Stage::type1) plan_.type1(strengths_.view(), modes_.view());
    const auto modes = modes_.to(Device{});
    return relative_error(cloud_.at_mode, [&](std::int64_t i) { return modes.data()[cloud_.mode_index(i)]; });
  }

  /// Limit of the error. The gradient's is seven times the tolerance. A cluster's sum varies slowly over the modes, so
  /// that its error is that of the worst modes.
  [[nodiscard]] double allowed() const {
    return row_.tolerance * (row_.stage == Stage::type2_gradient ? 7 : row_.clustered ? 3 : 1);
  }

  [[nodiscard]] double min_bytes() const {
    const auto points = static_cast<double>(row_.points);
    if (row_.stage == Stage::set_points) return points * (8 + 20);
    const auto grid = plan_.info().grid;
    return points * (20 + 8 + (row_.stage == Stage::type2_gradient ? 16 : 0)) + 8 * static_cast<double>(modes_.size()) +
           16 * static_cast<double>(grid[0] * grid[1]);
  }

  [[nodiscard]] const Queue& queue() const { return queue_; }
  [[nodiscard]] std::size_t bytes() const { return plan_.info().bytes; }

 private:
  NufftRow row_;
  const Cloud& cloud_;
  Queue queue_;
  NufftPlan<float, 2> plan_;
  Array<float, 2> points_;
  Array<Complex, 1> strengths_;
  Array<Complex, 2> modes_;
  Array<Complex, 2> gradient_;
};

void run_nufft(benchmark::State& state, const NufftRow& row, Device device) {
  NufftRun run(row, device);
  const double error = run.check();
  if (!(error <= run.allowed())) {
    state.SkipWithError(fmt::format("relative error {:.2e} is above {:.0e}", error, run.allowed()).c_str());
    return;
  }
  double seconds = 0;
  if (device.backend == holotone::Backend::cpu) {
    seconds = time_iterations(state, run.queue(), [&] { run.run(); });
  } else {
    for (auto _ : state) {
      seconds = rested_seconds_of(run.queue(), 15, [&] { run.run(); });
      state.SetIterationTime(seconds);
    }
    state.counters["sustained_ms"] = 1e3 * seconds_of(run.queue(), 15, [&] { run.run(); });
  }
  state.counters["points_per_s"] = static_cast<double>(row.points) / seconds;
  state.counters["rel_error"] = error;
  state.counters["memory_floor_ms"] = 1e3 * run.min_bytes() / copy_speed(run.queue());
  state.counters["plan_bytes"] = static_cast<double>(run.bytes());
}

}  // namespace

void add_nufft_rows(const RowOptions& options) {
  const auto add = [&](const char* stage, const NufftRow& row) {
    const auto name = fmt::format("nufft/{}{}/{}/{}/{}", stage, row.clustered ? "_clustered" : "", row.modes,
                                  row.points, row.tolerance == 1e-3 ? "1e-3" : "1e-5");
    auto* const registered =
        register_row(name, [row, device = options.device](auto& state) { run_nufft(state, row, device); });
    if (options.device.backend != holotone::Backend::cpu) registered->Iterations(1);
  };
  for (const std::int64_t points : {1'000'000, 10'000'000}) {
    for (const bool clustered : {false, true}) {
      for (const double tolerance : {1e-3, 1e-5}) {
        const auto row = [&](Stage stage) { return NufftRow{stage, 2048, points, tolerance, clustered}; };
        add("type1", row(Stage::type1));
        add("type2", row(Stage::type2));
        if (!clustered) add("type2_gradient", row(Stage::type2_gradient));
        add("set_points", row(Stage::set_points));
      }
    }
  }
}

}  // namespace bench
