#pragma once
#include <cstddef>
#include <holotone/optics/half_pixel.hpp>
#include <holotone/optics/reconstruction.hpp>
#include <memory>

namespace holotone {

/// Grid on which HalfPixelReconstruction moves and reconstructs a field: at least 64 pixels wider on each side, with
/// sides of fft_friendly_size. The field lies in the middle; on an axis of an odd number of pixels half a pixel to the
/// left or above, which only an aperture can notice.
FieldGrid half_pixel_grid(const FieldGrid& grid);

/// Numerical reconstruction (ReconstructionPlan) at the pixels and between them:
///   I_p(r) = |U_d(r + h_p)|^2,  U_d the field of the panel propagated by -distance_m, h_p one of half_pixels
/// Propagation is shift invariant, so that the panel's field is moved by -h_p instead, by its Fourier series on
/// half_pixel_grid, and reconstructed there. All four positions take this way, so that they differ by nothing else.
/// Error of the move: the light within half a pixel of the panel's edge rings, and what rings farther than 64 pixels
/// comes back on the other side.
/// Cost of a position: an FFT of half_pixel_grid on the CPU; then of each distance one of ReconstructionPlan. Memory:
/// 20 bytes a pixel of half_pixel_grid on the host, and ReconstructionPlan with 12 bytes a pixel of it on the device.
class HalfPixelReconstruction {
 public:
  /// Throws as ReconstructionPlan of half_pixel_grid; unsupported for another output pitch than the grid's.
  explicit HalfPixelReconstruction(const ReconstructionOptions& options, Queue queue = {});
  ~HalfPixelReconstruction();
  HalfPixelReconstruction(HalfPixelReconstruction&&) noexcept;
  HalfPixelReconstruction& operator=(HalfPixelReconstruction&&) noexcept;

  /// Sets the field leaving the panel, {ny, nx} in host memory. Throws invalid_argument.
  void set_field(View<const Complex, 2> field);

  /// Writes the intensity {ny, nx} at a distance and position (index in half_pixels) to host memory; waits. Throws
  /// invalid_argument before set_field, for a position that is none, and as ReconstructionPlan.
  void execute(double distance_m, std::size_t position, View<float, 2> intensity);
  /// Grid of the field and of the intensities.
  [[nodiscard]] const FieldGrid& grid() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holotone
