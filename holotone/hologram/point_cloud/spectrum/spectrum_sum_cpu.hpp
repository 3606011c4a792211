#pragma once
// The light of points on a block of the panel by its spectrum (spectrum_layout.hpp has the formula): non-uniform FFTs
// of type 1 over tiles of frequencies, then one inverse FFT. The adjoint takes the same steps back. Not for users.
#include <holotone/fft/fft.hpp>
#include <holotone/hologram/point_cloud/choice/spectrum_layout.hpp>
#include <holotone/hologram/point_cloud/fast/fast_tile_cpu.hpp>
#include <map>

namespace holotone::point_cloud {

/// Memory that sums reuse in sequence.
struct SpectrumMemory {
  Array<std::complex<float>, 1> spectrum;
  std::vector<FastMemory> tiles;  ///< one per thread
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = spectrum.bytes();
    for (const auto& memory : tiles) sum += memory.bytes();
    return sum;
  }
};

/// Tables and tiles for some points and a block of the panel.
class SpectrumSum {
 public:
  /// `points`: at least one. Throws unsupported from `where` for a scene that no grid can hold, out_of_memory.
  SpectrumSum(std::string_view where, const PointCloudOptions& options, const PanelBlock& block,
              std::span<const PixelPoint> points);
  SpectrumSum(const SpectrumSum&) = delete;
  SpectrumSum& operator=(const SpectrumSum&) = delete;

  /// Writes the sum over the points to the block's pixels of the field.
  void sum(std::span<const PixelPoint> points, const FieldOfRows& field, SpectrumMemory& memory,
           Progress& progress) const;
  /// Adds to values[i] the sum over the block's pixels of the field times the conjugate wave of points[i], or times the
  /// wave's conjugate derivative by the point's place.
  void add_adjoint(PointDerivative by, std::span<const PixelPoint> points, View<const std::complex<float>, 2> field,
                   std::span<std::complex<float>> values, SpectrumMemory& memory, Progress& progress) const;

  [[nodiscard]] std::string tiles() const;  ///< "columns x rows"

 private:
  /// A tile's place among the spectrum's samples, and K about its origin.
  struct Tile {
    PanelTile place;
    SpectrumTile about;
  };
  /// Of a point's wave: all, or the derivative of its amplitude by the distance d, which is 1.
  enum class Part { all, derivative };
  [[nodiscard]] FieldOfRows clear_spectrum(SpectrumMemory& memory) const;
  void set_waves(const Tile& tile, Part part, std::span<const PixelPoint> points, std::vector<TileWave>& waves) const;
  bool keep_near_waves(const Tile& tile, std::span<const PixelPoint> points, FastMemory& memory) const;
  void multiply(const FieldOfRows& spectrum, bool conjugate) const;
  void differentiate(const FieldOfRows& spectrum, PointDerivative by) const;
  void add_values(Part part, std::span<const PixelPoint> points, const FieldOfRows& spectrum,
                  std::span<std::complex<float>> values, SpectrumMemory& memory,
                  const std::function<void()>& stage_done) const;

  PointCloudOptions options_;
  PanelBlock block_;
  SpectrumLayout layout_;
  nufft::SpreadKernel<float> kernel_;
  std::map<Shape<2>, FastTile> sums_;
  std::vector<Tile> tiles_;
  FftPlan transform_;
  double largest_m_ = 0;              ///< largest distance, by which amplitudes are divided
  std::vector<float> axis_light_[2];  ///< of the frequencies m = -half .. half, without the cone
};

}  // namespace holotone::point_cloud
