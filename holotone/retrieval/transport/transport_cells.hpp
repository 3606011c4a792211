#pragma once
// Light of a panel or a picture in the cells of optimal transport. Not for users.
#include <functional>
#include <holotone/retrieval/transport/sinkhorn.hpp>
#include <string_view>

namespace holotone::retrieval {

/// Part of an axis, in pixels.
struct Span {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Light of a part of the panel or the picture, and even light around it.
class TransportLight {
 public:
  /// Throws invalid_argument naming the argument for light that is not finite, and for none.
  using Intensity = std::function<void(std::int64_t row, double* of_part)>;  ///< of the pixels of a row
  TransportLight(std::string_view argument, Shape<2> whole, const std::array<Span, 2>& part, const Intensity& row_of);

  /// Puts even light around it, so that it has a share of all: up to the whole, and at least `margin` sides of the part
  /// beyond it.
  void surround(double share, double margin);

  /// Numbers of cells of the part.
  [[nodiscard]] Shape<2> finest() const { return cells_.shape(); }
  /// Cells that are `coarser` times as wide as the finest.
  [[nodiscard]] TransportCells cells(std::int64_t coarser) const;

 private:
  [[nodiscard]] double sum() const;

  std::array<std::int64_t, 2> sides_{};  ///< of the whole, in pixels
  std::array<Span, 2> part_{};           ///< along y and x
  std::array<Span, 2> around_{};         ///< the part and what is around it
  Array<double, 2> cells_;               ///< of the part, the finest
  double around_light_ = 0;              ///< of a pixel around it
};

}  // namespace holotone::retrieval
