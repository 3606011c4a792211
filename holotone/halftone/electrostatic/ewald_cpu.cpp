// The Ewald split on the CPU (settings.hpp, Setup, has the steps).
#include <algorithm>
#include <cmath>
#include <holotone/core/simd.hpp>
#include <holotone/halftone/electrostatic/engine_cpu.hpp>
#include <holotone/halftone/electrostatic/ewald_cpu.hpp>
#include <holotone/halftone/electrostatic/transform_cpu.hpp>

namespace holotone::electrostatic {
namespace {

class EwaldMethod final : public Method {
 public:
  explicit EwaldMethod(const Setup& setup)
      : setup_(setup),
        cells_(setup.page, cell_side(setup.cutoff)),
        grid_(setup),
        far_(setup),
        ink_rows_(ink_aliases(setup, 0)),
        ink_columns_(ink_aliases(setup, 1)) {
    NearKernel kernel;
    kernel.cutoff = setup.cutoff;
    kernel.coefficient = near_coefficients(setup);
    neighbours_ =
        setup.options.near == NearField::cells ? neighbours_by_cells(setup, kernel) : neighbours_by_map(setup, kernel);
    const auto table = near_ink_spectrum(setup);
    near_ink_.assign(table.begin(), table.end());
  }

  void set_ink(const float* ink, double total) override {
    const std::int64_t period_y = setup_.period[0];
    const std::int64_t period_x = setup_.period[1];
    std::vector<std::complex<float>> spectrum(static_cast<std::size_t>(period_y * period_x));
    const double scale = 1 / total;
    parallel_for(0, setup_.page[0], [&](std::int64_t y) {
      for (std::int64_t x = 0; x < setup_.page[1]; ++x) {
        spectrum[static_cast<std::size_t>(y * period_x + x)] =
            static_cast<float>(scale * static_cast<double>(ink[y * setup_.page[1] + x]));
      }
    });
    transform_2d(spectrum.data(), period_y, period_x, FftDirection::forward);
    spectrum.front() = 1;
    grid_.set_ink(ink_on_grid(spectrum));
    auto near = near_table(std::move(spectrum));
    if (setup_.options.image == ImageForce::points) {
      // The grid holds spots of ink: their whole force, a spline up to the tolerance, is exchanged for that of points.
      const auto spots = attraction_table(setup_.page, ink);
      for (std::size_t i = 0; i < near.size(); ++i) near[i] -= static_cast<float>(spots[i]);
      points_.set_attraction(setup_, ink);
    }
    near_field_.set(setup_.page, std::move(near));
    neighbours_->set_ink(ink);
  }

  void forces(DotList& dots, float* force_x, float* force_y) override {
    cells_.sort(dots);
    setup_.stage("sort");
    grid_.spread(dots, cells_);
    setup_.stage("spread");
    far_.transform(grid_);
    setup_.stage("transforms");
    const auto charge = static_cast<float>(dots.count);
    over_dots(dots.count, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      far_.interpolate(grid_, dots, begin, end, force_x, force_y);
      near_field_.add(dots, begin, end, charge, force_x, force_y);
      points_.add(dots, begin, end, charge, force_x, force_y);
    });
    setup_.stage("far field and image");
    neighbours_->add(dots, cells_, force_x, force_y);
    setup_.stage("neighbours");
  }

  void densities(const DotList& dots, std::int64_t begin, std::int64_t end, float* density) const override {
    grid_.densities(dots, begin, end, density);
  }

  std::int64_t missed_neighbours(DotList& dots) override {
    cells_.sort(dots);
    return neighbours_->missed(dots, cells_);
  }

  [[nodiscard]] std::size_t bytes() const override {
    return cells_.bytes() + grid_.bytes() + far_.bytes() + neighbours_->bytes() + near_ink_.capacity() * sizeof(float) +
           near_field_.bytes() + points_.bytes();
  }

  [[nodiscard]] std::string arithmetic() const override {
    return "float32; places between nodes and the sums' tables in float64";
  }

 private:
  /// Coefficients of the shortest polynomial with an error below 1 % of the tolerance, at most max_terms.
  static std::vector<float> near_coefficients(const Setup& setup) {
    const ForceSplit split{setup.split_beta, setup.cutoff};
    for (int terms = 3;; ++terms) {
      const auto coefficient = near_polynomial(split, terms);
      double worst = 0;
      for (int i = 0; i <= 100; ++i) {
        const double s = i / 100.0;
        double share = 0;
        for (std::size_t k = coefficient.size(); k-- > 0;) share = (share + coefficient[k]) * s;
        worst = std::max(worst, std::abs(share - near_share(split, setup.cutoff * std::sqrt(1 - s))));
      }
      if (worst < 0.01 * setup.options.tolerance || terms == max_terms) return {coefficient.begin(), coefficient.end()};
    }
  }

  /// Contribution of the ink to the neutral grid, nodes < used.
  [[nodiscard]] std::vector<float> ink_on_grid(const std::vector<std::complex<float>>& spectrum) const {
    const std::int64_t ny = setup_.grid[0];
    const std::int64_t nx = setup_.grid[1];
    std::vector<std::complex<float>> grid(static_cast<std::size_t>(ny * nx));
    parallel_for(0, ny, [&](std::int64_t y) {
      for (std::int64_t x = 0; x < nx; ++x) {
        std::complex<double> sum = 0;
        for (auto j = static_cast<std::size_t>(3 * y); j < static_cast<std::size_t>(3 * y + 3); ++j) {
          const auto* const row = spectrum.data() + ink_rows_.frequency[j] * setup_.period[1];
          for (auto i = static_cast<std::size_t>(3 * x); i < static_cast<std::size_t>(3 * x + 3); ++i) {
            const double a = ink_rows_.spot[j] + ink_columns_.spot[i];
            sum += std::complex<double>(row[ink_columns_.frequency[i]]) * ink_rows_.factor[j] * ink_columns_.factor[i] *
                   (1 + a + 0.5 * a * a);
          }
        }
        grid[static_cast<std::size_t>(y * nx + x)] = std::complex<float>(sum);
      }
    });
    const double charge = static_cast<double>(grid.front().real()) * static_cast<double>(ny * nx);
    transform_2d(grid.data(), ny, nx, FftDirection::inverse);
    double sum = 0;
    for (const auto& node : grid) sum += static_cast<double>(node.real());
    // Corrects the total charge. A common rounding error at all nodes would leave a net charge, because dots and ink
    // cancel a thousandfold.
    const double correction = charge / sum;
    std::vector<float> result(static_cast<std::size_t>(setup_.used[0] * setup_.used[1]));
    for (std::int64_t y = 0; y < setup_.used[0]; ++y) {
      for (std::int64_t x = 0; x < setup_.used[1]; ++x) {
        result[static_cast<std::size_t>(y * setup_.used[1] + x)] =
            static_cast<float>(correction * static_cast<double>(grid[static_cast<std::size_t>(y * nx + x)].real()));
      }
    }
    return result;
  }

  /// Near force of the ink as coefficients of a spline.
  [[nodiscard]] std::vector<float> near_table(std::vector<std::complex<float>> spectrum) const {
    const std::int64_t period_y = setup_.period[0];
    const std::int64_t period_x = setup_.period[1];
    const std::int64_t columns = period_x / 2 + 1;
    parallel_for(0, period_y, [&](std::int64_t y) {
      const bool up = 2 * y > period_y;
      const float* const row = near_ink_.data() + (up ? period_y - y : y) * columns * 2;
      for (std::int64_t x = 0; x < period_x; ++x) {
        const bool left = 2 * x > period_x;
        const float* const entry = row + (left ? period_x - x : x) * 2;
        spectrum[static_cast<std::size_t>(y * period_x + x)] *=
            std::complex<float>(up ? -entry[1] : entry[1], left ? entry[0] : -entry[0]);
      }
    });
    transform_2d(spectrum.data(), period_y, period_x, FftDirection::inverse);
    const std::int64_t height = setup_.page[0] + 4;
    const std::int64_t width = setup_.page[1] + 4;
    std::vector<float> table(static_cast<std::size_t>(height * width * 2));
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        const auto value = spectrum[static_cast<std::size_t>((y + period_y - 2) % period_y * period_x +
                                                             (x + period_x - 2) % period_x)];
        table[static_cast<std::size_t>((y * width + x) * 2)] = value.real();
        table[static_cast<std::size_t>((y * width + x) * 2 + 1)] = value.imag();
      }
    }
    return table;
  }

  Setup setup_;
  Cells cells_;
  ChargeGrid grid_;
  FarField far_;
  std::unique_ptr<NeighbourSum> neighbours_;
  InkAliases ink_rows_;
  InkAliases ink_columns_;
  std::vector<float> near_ink_;
  ForceField near_field_;
  ForceField points_;  ///< with ImageForce::points
};

}  // namespace

std::unique_ptr<Method> ewald_cpu(const Setup& setup) { return std::make_unique<EwaldMethod>(setup); }

}  // namespace holotone::electrostatic
