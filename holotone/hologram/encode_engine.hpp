#pragma once
// Interface between the encoding plan (encode.cpp, the one dispatch) and its engines. Not for users.
#include <holotone/hologram/encode.hpp>
#include <vector>

namespace holotone::encoding {

/// Tables that a plan computes once, in host memory.
struct Tables {
  Encoding encoding = Encoding::phase;
  Shape<2> shape{};
  // Phase levels, see PhaseLevels; boundary empty for equal steps.
  float scale = 0;
  float last = 0;
  float threshold = 0;
  std::vector<float> boundary;
  std::vector<std::uint16_t> code;
  std::vector<std::int32_t> bucket;
  // Carrier and correction, see PhaseShift.
  std::vector<float> shift_column;
  std::vector<float> shift_row;
  std::vector<float> shift_map;
  // Amplitude: the reference beam's two factors, the number of levels, the range if it is given.
  std::vector<Complex> beam_column;
  std::vector<Complex> beam_row;
  float levels = 0;
  bool measured_range = false;   ///< true: the range is measured in the field at every execute
  bool symmetric_range = false;  ///< -peak .. peak instead of 0 .. peak
  float low = 0;
  float high = 0;
};

/// Carrier and correction in turns in [0, 1): separable (column and row) or a map; null: none.
struct PhaseShift {
  const float* column;
  const float* row;
  const float* map;
};

class Engine {
 public:
  virtual ~Engine() = default;
  /// Computes the codes of the panel's rows from first_row on, for the rows of `field`. These are all rows if the range
  /// is measured or the sideband removed.
  virtual void execute(std::int64_t first_row, View<const Complex, 2> field, View<std::uint16_t, 2> codes) = 0;
  virtual void execute(std::int64_t first_row, View<const Complex, 2> field, View<std::uint8_t, 2> codes) = 0;
  /// The largest magnitude of these rows that determines a range; 0 for Encoding::phase. Waits.
  virtual float peak(std::int64_t first_row, View<const Complex, 2> field) = 0;
  [[nodiscard]] virtual EncodeReport report() const = 0;
  [[nodiscard]] virtual std::size_t workspace_bytes() const = 0;
};

std::unique_ptr<Engine> cpu_engine(Tables tables);
std::unique_ptr<Engine> cuda_engine(const Tables& tables, const Queue& queue);
std::unique_ptr<Engine> opencl_engine(const Tables& tables, const Queue& queue);

/// The range of a field of this peak: a field that is zero everywhere is mapped as if its largest value were 1.
inline EncodeReport range_of_peak(float peak, bool symmetric) {
  const float high = peak > 0 ? peak : 1.0f;
  return {symmetric ? -high : 0.0f, high};
}

/// Rows of the spectrum that single_sideband removes, from the first: spatial frequencies f_y <= 0 are the rows
/// 0 .. ny / 2, because y falls as the row rises.
constexpr std::int64_t removed_rows(std::int64_t ny) { return ny / 2 + 1; }

/// Bins of a row's spectrum that burckhardt removes: |f_x| >= 1/6 cycle a pixel, the first of them and their number.
struct RemovedBins {
  std::int64_t first, count;
};
constexpr RemovedBins removed_bins(std::int64_t nx) {
  const std::int64_t first = (nx + 5) / 6;  // 6 bin >= nx
  return {first, nx - 2 * first + 1};
}

}  // namespace holotone::encoding
