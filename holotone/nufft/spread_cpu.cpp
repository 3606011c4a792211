// The window of spreading and interpolation in the precision of the CPU's loops.
#include <holotone/nufft/spread_cpu.hpp>

namespace holotone::nufft {

template <class Real>
SpreadKernel<Real>::SpreadKernel(const SpreadWindow& window, double error, std::int64_t max_exact_points)
    : exact_points(max_exact_points) {
  const WindowPolynomial polynomial = window_polynomial(window, error);
  width = window.width;
  degree = polynomial.degree;
  stride = polynomial.stride;
  coefficient.assign(polynomial.coefficient.begin(), polynomial.coefficient.end());
}

template struct SpreadKernel<float>;
template struct SpreadKernel<double>;

}  // namespace holotone::nufft
