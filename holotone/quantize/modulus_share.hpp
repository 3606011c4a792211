#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/optics/field.hpp>
#include <holotone/optics/panel.hpp>
#include <span>
#include <vector>

namespace holotone {

/// Quantile of the moduli (amplitude: of |Re h|) of a field in blocks of rows: the modulus that a share of its pixels
/// do not exceed. It is the divisor of an ErrorDiffusionPlan. Needs two passes over the same blocks:
///   do { for each block: share.add(block); } while (share.another_pass());
/// Returns the ceil(share count)-th smallest modulus of count pixels, at most 2^-21 too large. The result is
/// independent of the blocks and the number of threads. Cost O(pixels); up to 16 MiB.
class ModulusShare {
 public:
  /// share: above 0, up to 1. Throws invalid_argument.
  ModulusShare(Modulation modulation, double share);

  /// Adds a block {rows, nx} in host memory.
  void add(View<const Complex, 2> block);
  /// Ends a pass. True if another pass is needed.
  bool another_pass();

  /// Result after the passes. 0 without pixels, or if all are zero.
  [[nodiscard]] float modulus() const { return modulus_; }
  /// Index of the first pixel that is not finite, in the order added; -1: none. Such pixels are ignored.
  [[nodiscard]] std::int64_t broken() const { return broken_; }

 private:
  [[nodiscard]] std::int64_t count_not_finite() const;
  template <class Count>
  void tally(std::span<const Complex> values, std::vector<Count>& counts) const;

  Modulation modulation_;
  double share_;
  bool second_ = false;
  std::int64_t count_ = 0;
  std::int64_t broken_ = -1;
  std::int64_t rank_ = 0;
  std::uint32_t upper_ = 0;
  std::vector<std::int64_t> bins_;
  float modulus_ = 0;
};

}  // namespace holotone
