#pragma once
#include <holotone/optics/field.hpp>
#include <memory>

namespace holotone {

struct FourierLensOptions {
  FieldGrid grid = {};        ///< panel in the front focal plane
  double focal_length_m = 0;  ///< > 0
};

/// A plane beyond a lens, and a position of the picture's samples in it.
struct LensPlane {
  double defocus_m = 0;  ///< beyond the back focal plane, < 0: nearer to the lens; at most largest_defocus_m
  double down = 0;       ///< shift of the samples in pixels of the picture, such as 0.5; at most 1e6
  double right = 0;
};

/// Largest distance from the focal plane, N = max(nx, ny): lambda f^2 / (N pitch^2). There the light of an even panel
/// is as wide as the picture, and neighbouring diffraction orders begin to overlap with it.
double largest_defocus_m(const FourierLensOptions& options);

/// Field in the back focal plane of a thin lens, or near it, of a panel in its front focal plane.
///
///   U(X) = 1 / sqrt(nx ny) sum_x u(x) exp(-2 pi i x . X / (lambda f)) exp(-i pi delta |x|^2 / (lambda f^2))
///
/// x = ((col - (nx-1)/2) pitch, (row - (ny-1)/2) pitch) on the panel, delta the distance beyond the focal plane. The
/// picture has the panel's shape {ny, nx}; the centre of its pixel (row, col) is at
///   X = (col - (nx-1)/2 + right) lambda f / (nx pitch),   (row - (ny-1)/2 + down) lambda f / (ny pitch)
/// so its pixels are not square unless nx = ny. It covers lambda f / pitch along both axes, one diffraction order. Rows
/// run down in both planes; a blazed grating that steers toward +x lights X > 0. A point d behind the panel is in focus
/// at delta = f^2 / d (Newton). The factor exp(ik (2f + delta)) / i is left out.
///
/// The transform is unitary for every plane: sum |U|^2 = sum |u|^2, and its adjoint is its inverse. The picture shows
/// points, not areas: the intensity between them needs shifts.
///
/// Relative l2 error against float64: below 1e-6. Cost: one FFT, O(nx ny log(nx ny)). Memory: 8 bytes a pixel. CPU.
/// Source: Goodman, Introduction to Fourier Optics, Eq. (5-19) with d = f; chapter 4 for the Fresnel transfer function
/// over delta.
class FourierLensPlan {
 public:
  /// Throws invalid_argument for a grid or a focal length out of range, unsupported for a queue of a GPU.
  explicit FourierLensPlan(const FourierLensOptions& options, Queue queue = {});
  ~FourierLensPlan();
  FourierLensPlan(FourierLensPlan&&) noexcept;
  FourierLensPlan& operator=(FourierLensPlan&&) noexcept;

  /// Writes the picture of a field, both {ny, nx} on the plan's device; they may be the same array. Throws
  /// invalid_argument for another shape or device, a shift or a defocus out of range.
  void execute(View<const Complex, 2> field, View<Complex, 2> picture, const LensPlane& plane = {});
  /// Writes |U|^2, without storing the complex field.
  void execute_intensity(View<const Complex, 2> field, View<float, 2> intensity, const LensPlane& plane = {});
  /// Writes the field of a picture by the adjoint, which is the inverse. Otherwise as execute.
  void adjoint(View<const Complex, 2> picture, View<Complex, 2> field, const LensPlane& plane = {});

  [[nodiscard]] const FourierLensOptions& options() const;
  [[nodiscard]] std::size_t workspace_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holotone
