#pragma once
// Fields that are quantized by blocks of rows, and the beams and hogels of their codes. Not for users.
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/optics/field.hpp>
#include <holotone/optics/reference_beam.hpp>
#include <holotone/optics/viewer.hpp>
#include <holotone/quantize/diffusion_weights.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <optional>
#include <string>

namespace holotone {

inline constexpr std::int64_t max_block_pixels = 1 << 22;  ///< most pixels of a field read at once; target for a block

/// A field without the reference beam, in blocks of rows; a block stays valid until another is requested.
class FieldBlocks {
 public:
  /// Fills rows {n, nx} in host memory from `first_row` on.
  using Read = std::function<void(std::int64_t first_row, View<Complex, 2> rows)>;

  FieldBlocks(Read read, const FieldGrid& grid, const ReferenceBeam& beam, std::int64_t rows);

  [[nodiscard]] std::int64_t rows() const { return std::min(rows_, grid_.ny); }
  [[nodiscard]] std::int64_t count() const { return (grid_.ny + rows_ - 1) / rows_; }
  [[nodiscard]] std::int64_t first_row(std::int64_t block) const { return block * rows_; }
  View<const Complex, 2> at(std::int64_t block);

 private:
  Read read_;
  FieldGrid grid_;
  ReferenceBeam beam_;
  std::int64_t rows_;
  std::int64_t held_ = -1;
  Array<Complex, 2> values_;
};

struct FieldScaleOptions {
  Modulation modulation = Modulation::phase;
  double clip = 1;   ///< share of the pixels whose modulus is kept
  double scale = 0;  ///< > 0: the divisor; 0: the modulus that `clip` of the pixels do not exceed
  /// Called once with each block, in order, before the scale is known; empty: not called.
  std::function<void(View<const Complex, 2>)> each{};
};

struct FieldScale {
  double scale = 0;   ///< divisor of the field; 0: it holds no light
  double energy = 0;  ///< mean square
};

/// Finds the divisor and the mean square of a field, in one or two passes. Throws io naming `path` for values that are
/// not finite or beyond max_field_value.
FieldScale find_scale(const std::string& path, FieldBlocks& blocks, const FieldGrid& grid,
                      const FieldScaleOptions& options, Progress& progress);

/// Quantizes blocks of rows on a device.
class BlockQuantizer {
 public:
  BlockQuantizer(ErrorDiffusionOptions options, const DiffusionWeights& weights, const FieldGrid& grid,
                 std::int64_t rows, Queue queue);

  /// `field` in host memory, `codes` on the device.
  void execute(std::int64_t first_row, View<const Complex, 2> field, View<std::uint8_t, 2> codes);

  /// The same with codes in host memory.
  void execute_to_host(std::int64_t first_row, View<const Complex, 2> field, View<std::uint8_t, 2> codes);

 private:
  Queue queue_;
  ErrorDiffusionPlan plan_;
  Array<Complex, 2> values_;       ///< of the device, unused on the host
  Array<std::uint8_t, 2> levels_;  ///< the same, of execute_to_host
};

/// Side of hogels with windows of their own: the largest power of two from 64 to 2048 for which the window shifts by at
/// most 1/8 of its smaller side from a hogel's centre to its edge.
std::int64_t default_hogel_px(const Viewer& viewer, double pitch_m);

/// Rows of a block: all, or whole rows of hogels of `side` pixels (0: the panel) up to max_block_pixels. Several
/// `workers` get four blocks each, where there are enough rows of hogels.
std::int64_t find_block_rows(const FieldGrid& grid, std::int64_t side, std::int64_t workers);

/// Margin of separating_beam, cycles a pixel: a frequency of a hogel of `side` pixels (0: the panel), at least that of
/// red light, so that three colours have one beam.
double beam_margin(const FieldGrid& grid, std::int64_t side);

/// Beam that separates the viewing window from its mirror image (off_axis_beam) with beam_margin, in whole
/// microradians; empty: there is none.
std::optional<ReferenceBeam> separating_beam(const FieldGrid& grid, const Viewer& viewer, std::int64_t side);

/// Throws invalid_argument naming `beam` unless the panel has two pixels for each fringe of it.
void require_fringes(const ReferenceBeam& beam, const FieldGrid& grid);

}  // namespace holotone
