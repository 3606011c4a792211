#include <algorithm>
#include <cmath>
#include <complex>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/optics/panel_patterns.hpp>
#include <holotone/optics/parallel_rows.hpp>

namespace holotone {
namespace {

constexpr int max_degree = 100;
constexpr double max_turns = 1e6;

/// A polynomial in the unit disc, scaled by its coefficient.
class Polynomial {
 public:
  Polynomial(const ZernikeTerm& term, ZernikeNorm norm) : m_(std::abs(term.m)), cosine_(term.m >= 0) {
    scale_ = term.turns;
    if (norm == ZernikeNorm::rms) scale_ *= std::sqrt((m_ == 0 ? 1.0 : 2.0) * (term.n + 1));
    const int degree = (term.n - m_) / 2;
    for (int k = 2; k <= degree; ++k) {
      // Jacobi polynomials P_k^(0,m): Abramowitz and Stegun, 22.7.1.
      const double sum = 2.0 * k + m_;
      const double divisor = 2.0 * k * (k + m_) * (sum - 2);
      steps_.push_back({(sum - 1) * sum * (sum - 2) / divisor, -(sum - 1) * m_ * m_ / divisor,
                        2.0 * (k - 1) * (k + m_ - 1) * sum / divisor});
    }
    constant_ = degree == 0;
  }

  double operator()(double x, double y) const {
    std::complex<double> power = 1;
    for (int i = 0; i < m_; ++i) {
      power = {power.real() * x - power.imag() * y, power.real() * y + power.imag() * x};
    }
    return scale_ * (cosine_ ? power.real() : power.imag()) * radial(2 * (x * x + y * y) - 1);
  }

 private:
  struct Step {
    double slope, constant, before;
  };

  [[nodiscard]] double radial(double u) const {
    if (constant_) return 1;
    double before = 1;
    double value = 1 + (m_ + 2) * (u - 1) / 2;
    for (const Step& step : steps_) {
      const double next = (step.slope * u + step.constant) * value - step.before * before;
      before = value;
      value = next;
    }
    return value;
  }

  int m_;
  bool cosine_;
  double scale_ = 0;
  bool constant_ = false;
  std::vector<Step> steps_;
};

/// The sum in the coordinates of a panel.
class Disc {
 public:
  Disc(std::string_view where, const ZernikeOptions& options, const FieldGrid& grid) : options_(options), grid_(grid) {
    require_grid(where, grid);
    const double inscribed = static_cast<double>(std::min(grid.nx, grid.ny)) * grid.pitch_m / 2;
    radius_m_ = options.radius_m == 0 ? inscribed : options.radius_m;
    if (!(std::isfinite(radius_m_) && radius_m_ >= grid.pitch_m / 2)) {
      throw_argument(where, "radius_m", fmt::format("at least half a pixel, {:g}, or 0", grid.pitch_m / 2),
                     fmt::format("{:g}", options.radius_m));
    }
    if (!std::isfinite(options.centre_x_m)) throw_argument(where, "centre_x_m", "a finite number", "another");
    if (!std::isfinite(options.centre_y_m)) throw_argument(where, "centre_y_m", "a finite number", "another");
    if (options.terms.empty()) throw_argument(where, "terms", "at least one", "none");
    for (const ZernikeTerm& term : options.terms) {
      require_term(where, term);
      sum_.emplace_back(term, options.norm);
    }
  }

  /// Phases of a row in turns; NaN outside the disc.
  void row(std::int64_t row, double* out) const {
    const double y = coordinate(static_cast<double>(grid_.ny - 1) / 2 - static_cast<double>(row), options_.centre_y_m);
    for (std::int64_t col = 0; col < grid_.nx; ++col) {
      const double x =
          coordinate(static_cast<double>(col) - static_cast<double>(grid_.nx - 1) / 2, options_.centre_x_m);
      out[col] = std::nan("");
      if (x * x + y * y > 1 + 1e-12) continue;
      out[col] = 0;
      for (const auto& polynomial : sum_) out[col] += polynomial(x, y);
    }
  }

 private:
  static void require_term(std::string_view where, const ZernikeTerm& term) {
    const int m = std::abs(term.m);
    if (term.n < 0 || term.n > max_degree || m > term.n || (term.n - m) % 2 != 0) {
      throw_argument(where, "terms", fmt::format("n from 0 to {}, |m| <= n, and n - |m| even", max_degree),
                     fmt::format("n = {}, m = {}", term.n, term.m));
    }
    if (!(std::abs(term.turns) <= max_turns)) {
      throw_argument(where, "terms", fmt::format("coefficients of at most {:g} turns", max_turns),
                     fmt::format("{:g}", term.turns));
    }
  }

  [[nodiscard]] double coordinate(double pixels, double centre_m) const {
    return (pixels * grid_.pitch_m - centre_m) / radius_m_;
  }

  const ZernikeOptions& options_;
  FieldGrid grid_;
  double radius_m_ = 0;
  std::vector<Polynomial> sum_;
};

}  // namespace

Array<float, 2> zernike_turns(const ZernikeOptions& options, const FieldGrid& grid, const RowRange& part) {
  const Disc disc("zernike_turns", options, grid);
  if (part != RowRange{}) require_rows("zernike_turns", part, grid.ny);
  const std::int64_t rows = part == RowRange{} ? grid.ny : part.rows;
  Array<float, 2> pixels({rows, grid.nx});
  parallel_rows(rows, grid.nx, [&](std::int64_t first, std::int64_t last) {
    std::vector<double> turns(static_cast<std::size_t>(grid.nx));
    for (std::int64_t row = first; row < last; ++row) {
      disc.row(part.first_row + row, turns.data());
      float* const out = pixels.data() + row * grid.nx;
      std::ranges::transform(turns, out, [](double t) {
        const auto fraction = static_cast<float>(t - std::floor(t));
        return fraction < 1 ? fraction : 0.0F;  // NaN too, outside the disc
      });
    }
  });
  return pixels;
}

double zernike_step_turns(const ZernikeOptions& options, const FieldGrid& grid) {
  const Disc disc("zernike_step_turns", options, grid);
  std::vector<double> largest(static_cast<std::size_t>(grid.ny), 0.0);
  parallel_rows(grid.ny, grid.nx, [&](std::int64_t first, std::int64_t last) {
    const auto nx = static_cast<std::size_t>(grid.nx);
    std::vector<double> above(nx);
    std::vector<double> current(nx);
    if (first > 0) disc.row(first - 1, above.data());
    for (std::int64_t row = first; row < last; ++row, std::swap(above, current)) {
      disc.row(row, current.data());
      double step = 0;
      for (std::size_t col = 0; col < nx; ++col) {
        if (col > 0) step = std::fmax(step, std::abs(current[col] - current[col - 1]));  // fmax drops NaN
        if (row > 0) step = std::fmax(step, std::abs(current[col] - above[col]));
      }
      largest[static_cast<std::size_t>(row)] = step;
    }
  });
  return *std::ranges::max_element(largest);
}

ZernikeTerm noll_term(int j) {
  constexpr int most = (max_degree + 1) * (max_degree + 2) / 2;
  if (j < 1 || j > most) throw_argument("noll_term", "j", fmt::format("1 to {}", most), fmt::format("{}", j));
  int n = 0;
  while ((n + 1) * (n + 2) / 2 < j) ++n;
  const int place = j - n * (n + 1) / 2 - 1;  // among those of degree n, 0 to n
  const int m = n % 2 == 0 ? (place + 1) / 2 * 2 : place / 2 * 2 + 1;
  return {n, j % 2 == 0 ? m : -m, 1};
}

}  // namespace holotone
