#pragma once
// The decoder of Avramelos et al. 2020, implemented from its text on one thread: the baseline of the paper's tables.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <holotone/smoe/model.hpp>
#include <utility>
#include <vector>

namespace bench {

/// Pixels [left, left + width) x [top, top + height) of a picture; pixel (row, column) is at (column + 0.5, row +
/// 0.5).
struct PixelBlock {
  std::int64_t left = 0;
  std::int64_t top = 0;
  std::int64_t width = 0;
  std::int64_t height = 0;
};

/// Components whose centres are within `window` pixels of a block's outermost pixels, in x and in y (4.1).
inline std::vector<std::int64_t> window_list(const holotone::SmoeModel& model, const PixelBlock& block, double window) {
  std::vector<std::int64_t> list;
  const auto within = [&](double centre, std::int64_t first, std::int64_t count) {
    return centre - 0.5 >= static_cast<double>(first) - window &&
           centre - 0.5 <= static_cast<double>(first + count - 1) + window;
  };
  for (std::int64_t j = 0; j < model.count(); ++j) {
    const float* const centre = model.centre.data() + j * model.dimensions;
    if (within(static_cast<double>(centre[0]), block.left, block.width) &&
        within(static_cast<double>(centre[1]), block.top, block.height)) {
      list.push_back(j);
    }
  }
  return list;
}

/// The two modes of section 5.
enum class DecoderMode {
  fast,  ///< inverses in closed form
  slow,  ///< Cholesky's factors, and QR with pivots for the remaining systems
};

/// A square matrix as Q R P^T by Householder's reflections with column pivots.
template <class Real, int D>
class PivotedQr {
 public:
  using Vector = std::array<Real, D>;
  using Matrix = std::array<Vector, D>;

  explicit PivotedQr(const Matrix& m) : r_(m) {
    for (int k = 0; k < D; ++k) column_[k] = k;
    for (int k = 0; k < D; ++k) {
      bring_longest(k);
      reflect(k);
    }
  }

  /// Solves m x = b.
  [[nodiscard]] Vector solve(Vector b) const {
    for (int k = 0; k + 1 < D; ++k) {
      Real along = 0;
      for (int row = k; row < D; ++row) along += mirror_[k][row] * b[row];
      for (int row = k; row < D; ++row) b[row] -= 2 * along * mirror_[k][row];
    }
    Vector x{};
    for (int row = D - 1; row >= 0; --row) {
      for (int k = row + 1; k < D; ++k) b[row] -= r_[row][k] * b[k];
      b[row] /= r_[row][row];
      x[column_[row]] = b[row];
    }
    return x;
  }

 private:
  void bring_longest(int k) {
    const auto length = [&](int column) {
      Real sum = 0;
      for (int row = k; row < D; ++row) sum += r_[row][column] * r_[row][column];
      return sum;
    };
    int longest = k;
    for (int column = k + 1; column < D; ++column) {
      if (length(column) > length(longest)) longest = column;
    }
    for (auto& row : r_) std::swap(row[k], row[longest]);
    std::swap(column_[k], column_[longest]);
  }
  void reflect(int k) {
    if (k + 1 == D) return;
    Real square = 0;
    for (int row = k; row < D; ++row) square += r_[row][k] * r_[row][k];
    Vector& v = mirror_[k];
    for (int row = k; row < D; ++row) v[row] = r_[row][k];
    v[k] += r_[k][k] < 0 ? -std::sqrt(square) : std::sqrt(square);
    Real own = 0;
    for (int row = k; row < D; ++row) own += v[row] * v[row];
    for (int row = k; row < D; ++row) v[row] /= std::sqrt(own);
    for (int column = k; column < D; ++column) {
      Real along = 0;
      for (int row = k; row < D; ++row) along += v[row] * r_[row][column];
      for (int row = k; row < D; ++row) r_[row][column] -= 2 * along * v[row];
    }
  }

  Matrix r_;
  std::array<Vector, D> mirror_{};
  std::array<std::size_t, D> column_{};
};

/// Decoder of a list of components with arithmetic of type Real (Eqs. 5, 8, 9 and 12). Everything independent of the
/// pixel is computed once for each component.
template <class Real, int D>
class AvramelosDecoder {
 public:
  static constexpr int channels = 3;
  using Colour = std::array<Real, channels>;

  AvramelosDecoder(const holotone::SmoeModel& model, const std::vector<std::int64_t>& list, DecoderMode mode)
      : mode_(mode), density_(list.size()) {
    for (const auto j : list) mode == DecoderMode::fast ? add_fast(model, j) : add_slow(model, j);
  }

  /// y(x); subtracts the largest logarithm before exponentials.
  Colour at(const std::array<double, D>& place) {
    Vector x{};
    for (int axis = 0; axis < D; ++axis) x[axis] = static_cast<Real>(place[axis]);
    return mode_ == DecoderMode::fast ? sum(fast_, x) : sum(slow_, x);
  }

 private:
  using Vector = std::array<Real, D>;
  using Matrix = std::array<Vector, D>;

  struct Common {
    Vector centre{};
    Real peak = 0;
    Colour colour{};
    std::array<Vector, channels> cross{};  ///< R_YX
  };
  struct Fast {
    Common common;
    Matrix inverse{};
    [[nodiscard]] Real square(const Vector& away) const {
      Real sum = 0;
      const Vector solved = solve(away);
      for (int axis = 0; axis < D; ++axis) sum += solved[axis] * away[axis];
      return sum;
    }
    [[nodiscard]] Vector solve(const Vector& away) const {
      Vector solved{};
      for (int row = 0; row < D; ++row) {
        for (int column = 0; column < D; ++column) solved[row] += inverse[row][column] * away[column];
      }
      return solved;
    }
  };
  struct Slow {
    Common common;
    PivotedQr<Real, D> factor;  ///< of L, R = L L^T
    PivotedQr<Real, D> whole;   ///< of R
    [[nodiscard]] Real square(const Vector& away) const {
      Real sum = 0;
      for (const Real value : factor.solve(away)) sum += value * value;
      return sum;
    }
    [[nodiscard]] Vector solve(const Vector& away) const { return whole.solve(away); }
  };

  static Matrix covariance_of(const holotone::SmoeModel& model, std::int64_t j) {
    const float* triangle = model.covariance.data() + j * holotone::triangle_size(D);
    Matrix r{};
    for (int row = 0; row < D; ++row) {
      for (int column = 0; column <= row; ++column) r[row][column] = r[column][row] = static_cast<Real>(*triangle++);
    }
    return r;
  }
  /// R_YX = slope R_XX, in float64 before conversion to Real.
  static Common common_of(const holotone::SmoeModel& model, std::int64_t j) {
    const auto covariance = AvramelosDecoder<double, D>::covariance_of(model, j);
    Common own;
    for (int axis = 0; axis < D; ++axis) own.centre[axis] = static_cast<Real>(model.centre[j * D + axis]);
    for (int c = 0; c < channels; ++c) {
      own.colour[c] = static_cast<Real>(model.colour[j * channels + c]);
      for (int axis = 0; axis < D; ++axis) {
        double sum = 0;
        for (int k = 0; k < D; ++k) {
          sum += static_cast<double>(model.slope[(j * channels + c) * D + k]) * covariance[k][axis];
        }
        own.cross[c][axis] = static_cast<Real>(sum);
      }
    }
    own.peak = static_cast<Real>(model.log_weight[j]);
    return own;
  }

  void add_fast(const holotone::SmoeModel& model, std::int64_t j) {
    Fast own{common_of(model, j), {}};
    const Matrix r = covariance_of(model, j);
    Real determinant = 0;
    for (int row = 0; row < D; ++row) {
      for (int column = 0; column < D; ++column) own.inverse[row][column] = cofactor(r, row, column);
      determinant += r[row][0] * own.inverse[row][0];
    }
    for (auto& row : own.inverse) {
      for (auto& value : row) value /= determinant;
    }
    own.common.peak -= std::log(determinant) / 2;
    fast_.push_back(own);
  }
  void add_slow(const holotone::SmoeModel& model, std::int64_t j) {
    const Matrix r = covariance_of(model, j);
    Common common = common_of(model, j);
    Matrix l{};
    for (int row = 0; row < D; ++row) {
      for (int column = 0; column <= row; ++column) {
        Real rest = r[row][column];
        for (int k = 0; k < column; ++k) rest -= l[row][k] * l[column][k];
        l[row][column] = row == column ? std::sqrt(rest) : rest / l[column][column];
      }
      common.peak -= std::log(l[row][row]);
    }
    slow_.push_back({common, PivotedQr<Real, D>(l), PivotedQr<Real, D>(r)});
  }

  /// Cofactor of at most four rows, by the minors without a row and a column.
  static Real cofactor(const Matrix& r, int without_row, int without_column) {
    std::array<int, D> rows{};
    std::array<int, D> columns{};
    for (int k = 0, n = 0, m = 0; k < D; ++k) {
      if (k != without_row) rows[n++] = k;
      if (k != without_column) columns[m++] = k;
    }
    const auto at = [&](int row, int column) { return r[rows[row]][columns[column]]; };
    const Real sign = (without_row + without_column) % 2 == 0 ? Real(1) : Real(-1);
    if constexpr (D == 2) {
      return sign * at(0, 0);
    } else {
      static_assert(D == 4);
      const auto minor = [&](int a, int b) { return at(1, a) * at(2, b) - at(1, b) * at(2, a); };
      return sign * (at(0, 0) * minor(1, 2) - at(0, 1) * minor(0, 2) + at(0, 2) * minor(0, 1));
    }
  }

  template <class Components>
  Colour sum(const Components& components, const Vector& x) {
    Real most = -INFINITY;
    const auto away_of = [&](const Common& own) {
      Vector away{};
      for (int axis = 0; axis < D; ++axis) away[axis] = x[axis] - own.centre[axis];
      return away;
    };
    for (std::size_t i = 0; i < components.size(); ++i) {
      density_[i] = components[i].common.peak - components[i].square(away_of(components[i].common)) / 2;
      most = std::max(most, density_[i]);
    }
    Real weights = 0;
    Colour total{};
    for (std::size_t i = 0; i < components.size(); ++i) {
      const Common& own = components[i].common;
      const Real weight = std::exp(density_[i] - most);
      const Vector solved = components[i].solve(away_of(own));
      weights += weight;
      for (int c = 0; c < channels; ++c) {
        Real expert = own.colour[c];
        for (int axis = 0; axis < D; ++axis) expert += own.cross[c][axis] * solved[axis];
        total[c] += weight * expert;
      }
    }
    for (auto& value : total) value = weights > 0 ? value / weights : 0;
    return total;
  }

  template <class, int>
  friend class AvramelosDecoder;

  DecoderMode mode_;
  std::vector<Fast> fast_;
  std::vector<Slow> slow_;
  std::vector<Real> density_;
};

}  // namespace bench
