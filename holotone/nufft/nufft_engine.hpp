#pragma once
// Interface between the plan (nufft.cpp, the one dispatch) and its engines. Not for users.
#include <holotone/nufft/nufft.hpp>
#include <holotone/nufft/window.hpp>

namespace holotone {

/// Transforms of one plan on one device. Modes and points are already checked and on this device. `components` is 1 for
/// real strengths and half modes, 2 for complex strengths.
template <class Real, std::size_t Rank>
class NufftPlan<Real, Rank>::Engine {
 public:
  virtual ~Engine() = default;
  virtual void set_points(View<const Real, 2> points) = 0;
  virtual void type1(const Real* strengths, int components, Complex* modes) = 0;
  virtual void type2(const Complex* modes, int components, Real* values, Real* gradient) = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

namespace nufft {

/// Parameters of an engine, chosen by the plan.
template <std::size_t Rank>
struct Setup {
  Shape<Rank> modes{};
  Shape<Rank> grid{};
  SpreadWindow window;
  WindowError error = WindowError::mean;  ///< that is within the tolerance
  double tolerance = 0;
  double polynomial_error = 0;  ///< most error of the window's polynomials
};

template <class Real, std::size_t Rank>
using EnginePointer = std::unique_ptr<typename NufftPlan<Real, Rank>::Engine>;

template <class Real, std::size_t Rank>
EnginePointer<Real, Rank> engine_cpu(const Setup<Rank>& setup);
template <std::size_t Rank>
EnginePointer<float, Rank> engine_cuda(const Setup<Rank>& setup, const Queue& queue);

/// Maximum share of the tolerance for the rounding of float32 sums of equal numbers in one bin of points. Four bins can
/// meet in a cell.
constexpr double sum_share = 0.15;

/// 1 / phihat(k / grid) for the axis' modes in order: all of them, or k = 0 .. floor(modes / 2).
std::vector<double> deconvolution(const SpreadWindow& window, std::int64_t modes, std::int64_t grid, bool half);

}  // namespace nufft
}  // namespace holotone
