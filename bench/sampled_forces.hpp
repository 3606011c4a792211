#pragma once
// Net forces on some dots in float64, which halftoning's rows and tables are checked against.
#include <array>
#include <holotone/core/array.hpp>
#include <holotone/halftone/electrostatic.hpp>
#include <vector>

namespace bench {

/// Net forces on 500 dots by every pair in float64. The attraction is the library's float64 table, which the tests
/// compare with plain sums.
class SampledForces {
 public:
  /// `ink` {ny, nx} and `dots` {count, 2} in host memory.
  SampledForces(holotone::View<const float, 2> ink, holotone::View<const float, 2> dots,
                holotone::ImageForce image = holotone::ImageForce::spots);

  /// Root mean square error of `forces` {count, 2} in host memory: relative to the forces' root mean square, and in
  /// 1/px.
  [[nodiscard]] std::array<double, 2> error(holotone::View<const float, 2> forces) const;

 private:
  std::int64_t count_;
  std::vector<double> force_;  ///< {samples, 2}
};

}  // namespace bench
