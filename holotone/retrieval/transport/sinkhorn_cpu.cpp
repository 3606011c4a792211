#include <algorithm>
#include <bit>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/retrieval/transport/sinkhorn.hpp>
#include <limits>

namespace holotone::retrieval {
namespace {

/// exp(x) of x <= 0, to 3e-7; about 1e-38 below -87. A loop of it becomes vector code.
inline float falling_exp(float x) {
  const float turns = x * 1.44269504F;
  const float t = turns < -126.0F ? -126.0F : turns;
  const auto whole = static_cast<std::int32_t>(t);
  const float f = (t - static_cast<float>(whole)) * 0.693147181F;  // -log 2 to 0
  const float near =
      1 + f * (1 + f * (0.5F + f * (0.166666667F + f * (0.0416666667F + f * (0.00833333333F + f * 0.00138888889F)))));
  return near * std::bit_cast<float>((whole + 127) << 23);
}

/// One side of the iteration.
struct Side {
  std::array<std::int64_t, 2> cells{};
  std::vector<float> log_mass;
  std::vector<float> potential;
  std::array<std::vector<float>, 2> kernels;  ///< from this side to the other, along y and x

  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(cells[0] * cells[1]); }
};

/// sums[p] = log sum_i exp(values[i] + kernel[i][p]). Terms below exp(-20) of the largest are left out, lanes together.
void log_sums(const float* values, std::int64_t count, const float* kernel, std::int64_t places, float* largest,
              float* sums) {
  constexpr std::int64_t lanes = 16;
  constexpr float least = -20;
  std::fill_n(largest, places, -std::numeric_limits<float>::infinity());
  std::fill_n(sums, places, 0.0F);
  for (std::int64_t i = 0; i < count; ++i) {
    const float* const row = kernel + i * places;
    const float value = values[i];
#pragma omp simd
    for (std::int64_t p = 0; p < places; ++p) {
      const float term = value + row[p];
      const float most = largest[p];
      largest[p] = term < most ? most : term;
    }
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const float* const row = kernel + i * places;
    const float value = values[i];
    const auto add = [&](std::int64_t first, std::int64_t end) {
      float most = -std::numeric_limits<float>::infinity();
#pragma omp simd reduction(max : most)
      for (std::int64_t p = first; p < end; ++p) {
        const float term = value + row[p] - largest[p];
        most = term < most ? most : term;
      }
      if (most < least) return;
#pragma omp simd
      for (std::int64_t p = first; p < end; ++p) sums[p] += falling_exp(value + row[p] - largest[p]);
    };
    for (std::int64_t p = 0; p < places; p += lanes) add(p, std::min(places, p + lanes));
  }
  for (std::int64_t p = 0; p < places; ++p) sums[p] = largest[p] + std::log(sums[p]);
}

class CpuSinkhorn final : public SinkhornEngine {
 public:
  void start(const TransportCells& source, const TransportCells& target, const std::vector<float>& potential) override {
    places_ = {source.places, target.places};
    const std::array lights = {&source, &target};
    for (std::size_t s = 0; s < 2; ++s) {
      for (std::size_t axis = 0; axis < 2; ++axis) sides_[s].cells[axis] = std::ssize(places_[s][axis]);
      sides_[s].log_mass = lights[s]->log_mass;
      sides_[s].potential.assign(sides_[s].count(), 0.0F);
    }
    sides_[0].potential = potential;
  }

  void set_epsilon(double epsilon, const std::array<double, 2>& weights) override {
    epsilon_ = static_cast<float>(epsilon);
    for (std::size_t axis = 0; axis < 2; ++axis) {
      for (std::size_t s = 0; s < 2; ++s) {
        sides_[s].kernels[axis] = log_kernel(places_[s][axis], places_[1 - s][axis], weights[axis], epsilon);
      }
    }
  }

  void update_target(float kept) override { update(sides_[0], sides_[1], kept); }
  void update_source(float kept) override { update(sides_[1], sides_[0], kept); }
  [[nodiscard]] std::vector<float> potential() const override { return sides_[0].potential; }

 private:
  void update(const Side& from, Side& to, float kept) {
    const auto [rows, columns] = from.cells;
    const auto [to_rows, to_columns] = to.cells;
    const float scale = 1 / epsilon_;
    between_.resize(static_cast<std::size_t>(to_columns * rows));
    parallel_for(0, rows, [&, columns = columns, rows = rows, to_columns = to_columns](std::int64_t row) {
      std::vector<float> values(static_cast<std::size_t>(columns));
      std::vector<float> work(static_cast<std::size_t>(2 * to_columns));
      for (std::int64_t i = 0; i < columns; ++i) {
        const auto at = static_cast<std::size_t>(row * columns + i);
        values[static_cast<std::size_t>(i)] = from.log_mass[at] + scale * from.potential[at];
      }
      float* const sums = work.data() + to_columns;
      log_sums(values.data(), columns, from.kernels[1].data(), to_columns, work.data(), sums);
      for (std::int64_t p = 0; p < to_columns; ++p) between_[static_cast<std::size_t>(p * rows + row)] = sums[p];
    });
    parallel_for(0, to_columns, [&, rows = rows, to_rows = to_rows, to_columns = to_columns](std::int64_t column) {
      std::vector<float> work(static_cast<std::size_t>(2 * to_rows));
      float* const sums = work.data() + to_rows;
      log_sums(between_.data() + column * rows, rows, from.kernels[0].data(), to_rows, work.data(), sums);
      for (std::int64_t p = 0; p < to_rows; ++p) {
        float& value = to.potential[static_cast<std::size_t>(p * to_columns + column)];
        value = kept * value - (1 - kept) * epsilon_ * sums[p];
      }
    });
  }

  std::array<std::array<std::vector<double>, 2>, 2> places_;  ///< of both sides, along y and x
  std::array<Side, 2> sides_;
  std::vector<float> between_;
  float epsilon_ = 1;
};

}  // namespace

std::vector<float> log_kernel(const std::vector<double>& from, const std::vector<double>& to, double weight,
                              double epsilon) {
  std::vector<float> table;
  for (const double x : from) {
    for (const double y : to) table.push_back(static_cast<float>(-weight * (x - y) * (x - y) / (2 * epsilon)));
  }
  return table;
}

std::unique_ptr<SinkhornEngine> sinkhorn_cpu() { return std::make_unique<CpuSinkhorn>(); }

}  // namespace holotone::retrieval
