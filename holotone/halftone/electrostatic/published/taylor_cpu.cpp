// The paper's own split on the CPU: three sums with a Taylor-regularised kernel by non-uniform FFTs (Gwosdek et al.,
// Eq. (3) to (12)).
#include <cmath>
#include <holotone/halftone/electrostatic/engine_cpu.hpp>
#include <holotone/nufft/nufft_engine.hpp>
#include <numbers>

namespace holotone::electrostatic {
namespace {

using Real = double;  // the three sums cancel
using Complex = std::complex<Real>;

class TaylorMethod final : public Method {
 public:
  explicit TaylorMethod(const Setup& setup)
      : setup_(setup),
        cells_(setup.page, cell_side(setup.cutoff)),
        spectrum_(regularised_spectrum(setup)),
        density_(setup) {
    NearKernel kernel;
    kernel.cutoff = setup.cutoff;
    // K_R is Taylor's polynomial of 1 / r^2 in s = 1 - (r / cutoff)^2, sum of s^k: the remainder is s^degree / r^2.
    kernel.coefficient.assign(static_cast<std::size_t>(setup.options.taylor_degree), 0.0F);
    kernel.coefficient.back() = 1;
    neighbours_ =
        setup.options.near == NearField::cells ? neighbours_by_cells(setup, kernel) : neighbours_by_map(setup, kernel);
    nufft::Setup<2> transform;
    transform.modes = {setup.modes, setup.modes};
    transform.grid = {2 * setup.modes, 2 * setup.modes};
    // The cut-off m and two nodes per mode fix the window's width; its shape has the least error.
    transform.window = best_window(setup.window.width);
    transform.tolerance = window_error(transform.window);
    transform_ = nufft::engine_cpu<Real, 2>(transform);
    const auto dots = setup.maximum_dots;
    points_ = Array<Real, 2>({dots, 2});
    for (auto* array : {&strengths_, &values_}) *array = Array<Real, 1>({dots});
    sums_ = Array<Real, 2>({2, dots});
    modes_ = Array<Complex, 2>({setup.modes, setup.modes / 2 + 1});
  }

  void set_ink(const float* ink, double total) override {
    attraction_.set_attraction(setup_, ink);
    density_.set_ink(ink, total);
    neighbours_->set_ink(ink);
  }

  void forces(DotList& dots, float* force_x, float* force_y) override {
    cells_.sort(dots);
    repel(dots, force_x, force_y);
    const auto charge = static_cast<float>(dots.count);
    over_dots(dots.count, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      attraction_.add(dots, begin, end, charge, force_x, force_y);
    });
    neighbours_->add(dots, cells_, force_x, force_y);
  }

  void densities(const DotList& dots, std::int64_t begin, std::int64_t end, float* density) const override {
    density_.at(dots, begin, end, density);
  }
  std::int64_t missed_neighbours(DotList& dots) override {
    cells_.sort(dots);
    return neighbours_->missed(dots, cells_);
  }
  [[nodiscard]] std::size_t bytes() const override {
    return cells_.bytes() + neighbours_->bytes() + transform_->bytes() + attraction_.bytes() + density_.bytes() +
           points_.bytes() + strengths_.bytes() + values_.bytes() + sums_.bytes() + modes_.bytes() +
           spectrum_.capacity() * sizeof(double);
  }
  [[nodiscard]] std::string arithmetic() const override {
    return "three sums in float64; neighbours in float32; attraction from a float64 table rounded to float32";
  }

 private:
  /// Window of this width with the least error in the modes, at two nodes per mode.
  static SpreadWindow best_window(int width) {
    SpreadWindow best{width, 0, 2};
    double least = INFINITY;
    for (int percent = 80; percent < 110; ++percent) {
      const SpreadWindow window{width, 0.01 * percent * std::numbers::pi * width * 0.75, 2};
      const double error = window_error(window);
      if (error < least) {
        least = error;
        best = window;
      }
    }
    return best;
  }

  /// Computes p_x sum K - sum x K and the same in y, over all dots, in scaled units; scale converts 1 / r into 1 / px.
  void repel(const DotList& dots, float* force_x, float* force_y) {
    const std::int64_t count = dots.count;
    const double centre_x = 0.5 * static_cast<double>(setup_.page[1]);
    const double centre_y = 0.5 * static_cast<double>(setup_.page[0]);
    for_all(count, [&](std::int64_t i) {
      const auto dot = static_cast<std::size_t>(i);
      points_(i, 0) = (static_cast<double>(dots.x[dot]) - centre_x) * setup_.scale;
      points_(i, 1) = (static_cast<double>(dots.y[dot]) - centre_y) * setup_.scale;
      strengths_(i) = 1;
    });
    transform_->set_points({points_.data(), {count, 2}});
    convolve();
    for_all(count, [&](std::int64_t i) {
      for (const std::int64_t axis : {0, 1}) sums_(axis, i) = points_(i, axis) * values_(i);
    });
    for (const std::int64_t axis : {0, 1}) {
      for_all(count, [&](std::int64_t i) { strengths_(i) = points_(i, axis); });
      convolve();
      float* const force = axis == 0 ? force_x : force_y;
      for_all(count,
              [&](std::int64_t i) { force[i] = static_cast<float>((sums_(axis, i) - values_(i)) * setup_.scale); });
    }
  }

  /// Computes values = sum of strengths K_F, Eq. (12).
  void convolve() {
    transform_->type1(strengths_.data(), 1, modes_.data());
    const std::int64_t n = setup_.modes;
    const std::int64_t columns = n / 2 + 1;
    parallel_for(0, n, [&](std::int64_t y) {
      for (std::int64_t x = 0; x < columns; ++x) {
        // Half the modes, k_x = 0 .. n / 2; the table has k_x = -n / 2 .. n / 2 - 1.
        modes_(y, x) *= spectrum_[static_cast<std::size_t>(y * n + (x + n / 2) % n)];
      }
    });
    transform_->type2(modes_.data(), 1, values_.data(), nullptr);
  }

  template <class Body>
  static void for_all(std::int64_t count, const Body& body) {
    over_dots(count, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) body(i);
    });
  }

  Setup setup_;
  Cells cells_;
  std::vector<double> spectrum_;
  std::unique_ptr<NeighbourSum> neighbours_;
  nufft::EnginePointer<Real, 2> transform_;
  Array<Real, 2> points_;
  Array<Real, 1> strengths_;
  Array<Real, 1> values_;
  Array<Real, 2> sums_;  ///< {2, count}
  Array<Complex, 2> modes_;
  ForceField attraction_;
  InkDensity density_;
};

}  // namespace

std::unique_ptr<Method> taylor_cpu(const Setup& setup) { return std::make_unique<TaylorMethod>(setup); }

}  // namespace holotone::electrostatic
