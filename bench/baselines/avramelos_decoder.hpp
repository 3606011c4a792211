#pragma once
// The decoder of Avramelos et al. 2020, implemented from its text on one thread: the baseline of the paper's tables.
#include <algorithm>
#include <array>
#include <bench/baselines/avramelos_matrices.hpp>
#include <cmath>
#include <cstdint>
#include <holotone/smoe/model.hpp>
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

/// Calls visit(i, pixels) for the blocks of `side` pixels, along an axis of `size`, in whose window the centre lies.
template <class Visit>
void each_block_near(float centre, std::int64_t size, std::int64_t side, double window_px, const Visit& visit) {
  const double place = static_cast<double>(centre) - 0.5;
  const auto find_block = [&](double at) {
    return static_cast<std::int64_t>(std::floor(at / static_cast<double>(side)));
  };
  for (auto i = std::max<std::int64_t>(0, find_block(place - window_px)); i <= find_block(place + window_px); ++i) {
    const std::int64_t first = i * side;
    const std::int64_t end = std::min(first + side, size);
    if (first < size && place >= static_cast<double>(first) - window_px &&
        place <= static_cast<double>(end - 1) + window_px) {
      visit(i, end - first);
    }
  }
}

/// The two modes of section 5.
enum class DecoderMode {
  fast,  ///< inverses in closed form
  slow,  ///< Cholesky's factors, and QR with pivots for the remaining systems
};

/// Decoder of a list of components with arithmetic of type Real (Eqs. 5, 8, 9 and 12). Everything independent of the
/// pixel is computed once for each component.
template <class Real, int D>
class AvramelosDecoder {
 public:
  static constexpr int channels = 3;
  using Colour = std::array<Real, channels>;
  using Vector = SmallVector<Real, D>;

  /// What both modes use of a component.
  struct Common {
    Vector centre{};
    Real peak = 0;
    Colour colour{};
    std::array<Vector, channels> cross{};  ///< R_YX
  };

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

  /// R_YX = slope R_XX, in float64 before conversion to Real.
  static Common common_of(const holotone::SmoeModel& model, std::int64_t j) {
    const auto covariance = AvramelosDecoder<double, D>::read_covariance(model, j);
    Common common;
    for (int axis = 0; axis < D; ++axis) common.centre[axis] = static_cast<Real>(model.centre[j * D + axis]);
    for (int c = 0; c < channels; ++c) {
      common.colour[c] = static_cast<Real>(model.colour[j * channels + c]);
      for (int axis = 0; axis < D; ++axis) {
        double sum = 0;
        for (int k = 0; k < D; ++k) {
          sum += static_cast<double>(model.slope[(j * channels + c) * D + k]) * covariance[k][axis];
        }
        common.cross[c][axis] = static_cast<Real>(sum);
      }
    }
    common.peak = static_cast<Real>(model.log_weight[j]);
    return common;
  }

 private:
  using Matrix = SmallMatrix<Real, D>;
  using PivotedQr = Qr<Real, D, true>;

  struct Fast {
    Common common;
    Matrix inverse{};
    [[nodiscard]] Real square(const Vector& away) const {
      Real sum = 0;
      const Vector solved = solve(away);
      for (int axis = 0; axis < D; ++axis) sum += solved[axis] * away[axis];
      return sum;
    }
    [[nodiscard]] Vector solve(const Vector& away) const { return product<Real, D>(inverse, away); }
  };
  struct Slow {
    Common common;
    PivotedQr factor;  ///< of L, R = L L^T
    PivotedQr whole;   ///< of R
    [[nodiscard]] Real square(const Vector& away) const {
      Real sum = 0;
      for (const Real value : factor.solve(away)) sum += value * value;
      return sum;
    }
    [[nodiscard]] Vector solve(const Vector& away) const { return whole.solve(away); }
  };

  static Matrix read_covariance(const holotone::SmoeModel& model, std::int64_t j) {
    const float* triangle = model.covariance.data() + j * holotone::triangle_size(D);
    Matrix r{};
    for (int row = 0; row < D; ++row) {
      for (int column = 0; column <= row; ++column) r[row][column] = r[column][row] = static_cast<Real>(*triangle++);
    }
    return r;
  }
  void add_fast(const holotone::SmoeModel& model, std::int64_t j) {
    Fast fast{common_of(model, j), {}};
    Real determinant = 0;
    fast.inverse = inverse_of<Real, D>(read_covariance(model, j), determinant);
    fast.common.peak -= std::log(determinant) / 2;
    fast_.push_back(fast);
  }
  void add_slow(const holotone::SmoeModel& model, std::int64_t j) {
    const Matrix r = read_covariance(model, j);
    Common common = common_of(model, j);
    const Matrix l = cholesky_of<Real, D>(r);
    for (int row = 0; row < D; ++row) common.peak -= std::log(l[row][row]);
    slow_.push_back({common, PivotedQr(l), PivotedQr(r)});
  }

  template <class Components>
  Colour sum(const Components& components, const Vector& x) {
    Real most = -INFINITY;
    const auto away_of = [&](const Common& common) {
      Vector away{};
      for (int axis = 0; axis < D; ++axis) away[axis] = x[axis] - common.centre[axis];
      return away;
    };
    for (std::size_t i = 0; i < components.size(); ++i) {
      density_[i] = components[i].common.peak - components[i].square(away_of(components[i].common)) / 2;
      most = std::max(most, density_[i]);
    }
    Real weights = 0;
    Colour total{};
    for (std::size_t i = 0; i < components.size(); ++i) {
      const Common& common = components[i].common;
      const Real weight = std::exp(density_[i] - most);
      const Vector solved = components[i].solve(away_of(common));
      weights += weight;
      for (int c = 0; c < channels; ++c) {
        Real expert = common.colour[c];
        for (int axis = 0; axis < D; ++axis) expert += common.cross[c][axis] * solved[axis];
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
