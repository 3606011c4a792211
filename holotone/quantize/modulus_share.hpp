#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/optics/field.hpp>
#include <holotone/optics/panel.hpp>
#include <span>
#include <vector>

namespace holotone {

/// The modulus (amplitude: |Re h|) that a share of a field's pixels do not exceed, of a field that comes in blocks of rows: what an ErrorDiffusionPlan divides
/// by. Two passes over the same blocks,
///   do { for each block: share.add(block); } while (share.another_pass());
/// Of count pixels the ceil(share count)-th modulus, from below at most 2^-21 too large. The same for any blocks and number of threads. Cost O(pixels); up to 16 MiB.
class ModulusShare {
 public:
  /// share: above 0, up to 1. Throws invalid_argument.
  ModulusShare(Modulation modulation, double share);

  /// Blocks {rows, nx} in host memory.
  void add(View<const Complex, 2> block);
  /// Ends a pass; whether there has to be another one.
  bool another_pass();

  /// After the passes. 0 for no pixels or zeros alone.
  [[nodiscard]] float modulus() const { return modulus_; }
  /// The first pixel that is not finite, in the order they came; -1: none. Such pixels do not count.
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
