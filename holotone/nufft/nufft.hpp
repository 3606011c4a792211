#pragma once
#include <complex>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <memory>

namespace holotone {

/// Smallest tolerances of a plan.
constexpr double nufft_tolerance_floor_float = 1e-5;
constexpr double nufft_tolerance_floor_double = 1e-12;

struct NufftOptions {
  /// Largest error of modes and values: nufft_tolerance_floor_* to 0.1. Relative l2 error in the mean over uncorrelated
  /// strengths (type 1) and modes (type 2): sqrt(E sum |error|^2 / E sum |result|^2).
  double tolerance = 1e-4;
  /// True: `tolerance` bounds every single error, for any points, strengths and modes: |error of F[k]| <= tolerance
  /// sum_j |c_j|, |error of c_j| <= tolerance sum_k |F[k]|. The window is up to one node wider.
  bool worst_case = false;
};

/// Parameters that a plan chose.
template <std::size_t Rank>
struct NufftInfo {
  Shape<Rank> grid{};         ///< oversampled grid
  int width = 0;              ///< nodes of the window along an axis
  double expected_error = 0;  ///< error by the window alone, in the measure of the tolerance
  std::size_t bytes = 0;      ///< memory of the plan on its device
};

/// Non-uniform fast Fourier transforms of types 1 and 2 in two or three dimensions. One plan computes both directions,
/// which are adjoint to each other. Points x_j are in periods; component 0 belongs to the last, fastest extent of the
/// shape. k runs over the shape, k = -floor(n / 2) .. ceil(n / 2) - 1 on each axis in rising order:
///   type 1   F[k] = sum_j c_j exp(-2 pi i k.x_j)
///   type 2   c_j  = sum_k F[k] exp(+2 pi i k.x_j)
/// Points may have any coordinates (modulo one period) and may move. set_points then sorts them again, in about the
/// measured time of one type 2. Cost O(points log(1/tolerance)^Rank + N log N) for N modes. Workspace: the oversampled
/// grid, two times finer on each axis, and 8 Rank + 4 bytes a point (float32). CUDA adds 12 bytes a point, and beyond
/// 2^21 points 8 (Rank + 1) for results in order.
/// Real is float or double, double only on the CPU. The window and its error are the same on every device. The same
/// points and strengths always give the same bits, on the CPU with any number of threads. Reproducibility costs no
/// time, so there is no option for it.
/// CUDA: type1 and type2 only enqueue, on the plan's stream, and allocate nothing; set_points waits for the device
/// once.
/// Source: Dutt and Rokhlin 1993; window of Barnett et al. 2019.
template <class Real, std::size_t Rank>
class NufftPlan {
  static_assert(Rank == 2 || Rank == 3);

 public:
  using Complex = std::complex<Real>;

  /// Throws invalid_argument for an extent < 1 or > 2^28, or a tolerance outside the floor to 0.1 (with the floor);
  /// unsupported for float64 on a GPU, or for a GPU in a build without CUDA; out_of_memory; device.
  explicit NufftPlan(Shape<Rank> modes, Queue queue = {}, NufftOptions options = {});
  ~NufftPlan();
  NufftPlan(NufftPlan&&) noexcept;
  NufftPlan& operator=(NufftPlan&&) noexcept;

  /// Sets and sorts the points: {count, Rank} on the plan's device, count from 0 to 2^32 - 2. Throws invalid_argument,
  /// naming the first point that is not finite, and out_of_memory; the plan then has no points.
  void set_points(View<const Real, 2> points);

  /// Computes type 1 from strengths {count} to modes of the plan's shape, both on its device. Overwrites `modes`.
  void type1(View<const Complex, 1> strengths, View<Complex, Rank> modes);
  /// Computes type 1 of real strengths: the modes k_x = 0 .. floor(n_x / 2), of shape half_modes_shape. The other modes
  /// are their conjugates at -k. About half the cost of complex strengths.
  void type1(View<const Real, 1> strengths, View<Complex, Rank> half_modes);

  /// Computes type 2 from modes of the plan's shape to values {count}, both on its device.
  void type2(View<const Complex, Rank> modes, View<Complex, 1> values);
  /// Computes type 2 and its gradient by the points' coordinates, {count, Rank}, per period:
  ///   gradient(j, a) = sum_k 2 pi i k_a F[k] exp(+2 pi i k.x_j)
  /// Both use the same grid. An empty `values` is not written. The error relative to the gradient's own norm is within
  /// seven times the tolerance.
  void type2(View<const Complex, Rank> modes, View<Complex, 1> values, View<Complex, 2> gradient);
  /// Computes type 2 to real values from half the modes (see type1); the others are assumed to be their conjugates.
  void type2(View<const Complex, Rank> half_modes, View<Real, 1> values);
  void type2(View<const Complex, Rank> half_modes, View<Real, 1> values, View<Real, 2> gradient);

  [[nodiscard]] const Shape<Rank>& shape() const;
  [[nodiscard]] std::int64_t points() const;
  [[nodiscard]] NufftInfo<Rank> info() const;

  class Engine;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Shape of the modes of real strengths: {.., n} -> {.., n / 2 + 1}.
template <std::size_t Rank>
constexpr Shape<Rank> half_modes_shape(Shape<Rank> modes) {
  modes[Rank - 1] = modes[Rank - 1] / 2 + 1;
  return modes;
}

}  // namespace holotone
