// The window of spreading and interpolation in the precision of the CPU's loops.
#include <algorithm>
#include <cmath>
#include <holotone/nufft/spread_cpu.hpp>
#include <type_traits>

namespace holotone::nufft {

template <class Real>
SpreadKernel<Real>::SpreadKernel(const SpreadWindow& window, double error) {
  const WindowPolynomial polynomial = window_polynomial(window, error);
  width = window.width;
  degree = polynomial.degree;
  stride = polynomial.stride;
  coefficient.assign(polynomial.coefficient.begin(), polynomial.coefficient.end());
  // Equal numbers added n times lose up to 6e-9 n of their sum in float32 (measured).
  if (std::is_same_v<Real, float>) exact_points = std::max<std::int64_t>(256, std::llround(1e9 * error));
}

template struct SpreadKernel<float>;
template struct SpreadKernel<double>;

}  // namespace holotone::nufft
