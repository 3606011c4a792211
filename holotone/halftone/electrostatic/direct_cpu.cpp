// Direct sum of the force over every pair of dots, on the CPU.
#include <cmath>
#include <holotone/core/simd.hpp>
#include <holotone/halftone/electrostatic/engine_cpu.hpp>
#include <holotone/halftone/electrostatic/lanes_cpu.hpp>

namespace holotone::electrostatic {
namespace {

/// Number of sources summed in float32 before the float64 sum.
constexpr std::int64_t block_dots = 1024;
/// Number of dots whose forces are summed side by side.
constexpr int targets = 4;

struct Sum {
  double x[targets];
  double y[targets];
  float inverse[targets];  ///< of 1 / (v + softening)
};

/// Adds the repulsion of the dots [begin, end) on `targets` dots.
HOLOTONE_ALWAYS_INLINE void add_block(const float* x, const float* y, std::int64_t begin, std::int64_t end,
                                      const float* own_x, const float* own_y, Sum& sum) {
  FloatLanes sum_x[targets] = {};
  FloatLanes sum_y[targets] = {};
  FloatLanes inverses[targets] = {};
  for (std::int64_t i = begin; i < end; i += lanes) {
    FloatLanes other_x;
    FloatLanes other_y;
    FloatLanes wanted;
    load_lanes(x + i, other_x);
    load_lanes(y + i, other_y);
    first_lanes(end - i, wanted);
    for (int t = 0; t < targets; ++t) {
      const FloatLanes dx = own_x[t] - other_x;
      const FloatLanes dy = own_y[t] - other_y;
      const FloatLanes inverse = wanted / (dx * dx + dy * dy + softening);
      sum_x[t] += inverse * dx;
      sum_y[t] += inverse * dy;
      inverses[t] += inverse;
    }
  }
  for (int t = 0; t < targets; ++t) {
    sum.x[t] += static_cast<double>(add_lanes(sum_x[t]));
    sum.y[t] += static_cast<double>(add_lanes(sum_y[t]));
    sum.inverse[t] += add_lanes(inverses[t]);
  }
}

HOLOTONE_SIMD_CLONES void add_all(const float* x, const float* y, std::int64_t count, const float* own_x,
                                  const float* own_y, Sum& sum) {
  for (std::int64_t begin = 0; begin < count; begin += block_dots) {
    add_block(x, y, begin, std::min(count, begin + block_dots), own_x, own_y, sum);
  }
}

class DirectMethod final : public Method {
 public:
  explicit DirectMethod(const Setup& setup)
      : setup_(setup), same_place_force_(static_cast<float>(setup.same_place_force)), density_(setup) {}

  void set_ink(const float* ink, double total) override {
    attraction_.set_attraction(setup_, ink);
    density_.set_ink(ink, total);
  }

  void forces(DotList& dots, float* force_x, float* force_y) override {
    std::fill_n(force_x, dots.count, 0.0F);
    std::fill_n(force_y, dots.count, 0.0F);
    const auto charge = static_cast<float>(dots.count);
    constexpr std::int64_t task = 256;
    parallel_for(0, (dots.count + task - 1) / task, [&](std::int64_t t) {
      const std::int64_t begin = t * task;
      const std::int64_t end = std::min(dots.count, begin + task);
      attraction_.add(dots, begin, end, charge, force_x, force_y);
      for (std::int64_t i = begin; i < end; i += targets) add_repulsion(dots, i, force_x, force_y);
    });
  }

  void densities(const DotList& dots, std::int64_t begin, std::int64_t end, float* density) const override {
    density_.at(dots, begin, end, density);
  }
  std::int64_t missed_neighbours(DotList&) override { return 0; }
  [[nodiscard]] std::size_t bytes() const override { return attraction_.bytes() + density_.bytes(); }
  [[nodiscard]] std::string arithmetic() const override {
    return "float32 pairs, sums of 1024 pairs added in float64; attraction from a float64 table rounded to float32";
  }

 private:
  void add_repulsion(const DotList& dots, std::int64_t first, float* force_x, float* force_y) const {
    float own_x[targets];
    float own_y[targets];
    for (int t = 0; t < targets; ++t) {
      const auto dot = static_cast<std::size_t>(std::min(first + t, dots.count - 1));
      own_x[t] = dots.x[dot];
      own_y[t] = dots.y[dot];
    }
    Sum sum{};
    add_all(dots.x.data(), dots.y.data(), dots.count, own_x, own_y, sum);
    for (int t = 0; t < targets && first + t < dots.count; ++t) {
      const std::int64_t i = first + t;
      force_x[i] = static_cast<float>(static_cast<double>(force_x[i]) + sum.x[t]);
      force_y[i] = static_cast<float>(static_cast<double>(force_y[i]) + sum.y[t]);
      if (sum.inverse[t] > crowded) add_same(dots, i, force_x[i], force_y[i]);
    }
  }

  void add_same(const DotList& dots, std::int64_t i, float& force_x, float& force_y) const {
    const auto dot = static_cast<std::size_t>(i);
    for (std::int64_t j = 0; j < dots.count; ++j) {
      const auto other = static_cast<std::size_t>(j);
      const float dx = dots.x[dot] - dots.x[other];
      const float dy = dots.y[dot] - dots.y[other];
      if (j == i || dx * dx + dy * dy > static_cast<float>(same_place_px * same_place_px)) continue;
      add_same_place(dots.index[dot], dots.index[other], same_place_force_, force_x, force_y);
    }
  }

  Setup setup_;
  float same_place_force_;
  ForceField attraction_;
  InkDensity density_;
};

}  // namespace

std::unique_ptr<Method> direct_cpu(const Setup& setup) { return std::make_unique<DirectMethod>(setup); }

}  // namespace holotone::electrostatic
