#pragma once
// Tables of a spectrum's grid on the device, for the sum and its adjoint. Not for users.
#include <holotone/hologram/point_cloud/spectrum/spectrum_cuda.cuh>
#include <optional>

namespace holotone::point_cloud {

class SpectrumTables {
 public:
  explicit SpectrumTables(const Queue& queue) : queue_(queue) {}
  /// Computes the tables of a grid. Waits for the device.
  void make(const SpectrumGrid& choice);

  [[nodiscard]] const FastGrid& grid() const { return grid_; }
  [[nodiscard]] const FastFactors& factors() const { return factors_; }
  [[nodiscard]] const SpectrumEnd& end() const { return *end_; }
  [[nodiscard]] float largest_column_factor() const { return largest_column_factor_; }
  [[nodiscard]] float largest_row_factor() const { return largest_row_factor_; }
  [[nodiscard]] float row_factor_sum() const { return row_factor_sum_; }
  [[nodiscard]] std::size_t bytes() const { return wave_tiles_.bytes() + tables_.bytes(); }

 private:
  Queue queue_;
  FastGrid grid_{};
  FastFactors factors_{};
  std::optional<SpectrumEnd> end_;
  float largest_column_factor_ = 1;
  float largest_row_factor_ = 1;
  float row_factor_sum_ = 1;  ///< of a tile's rows
  Array<WaveTile, 1> wave_tiles_;
  Array<float, 1> tables_;  ///< FastFactors, then the light of rows and columns
};

}  // namespace holotone::point_cloud
