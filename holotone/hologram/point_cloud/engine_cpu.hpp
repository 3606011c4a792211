#pragma once
// Shared parts of the CPU engines of the point-cloud plan. Not for users.
#include <algorithm>
#include <bit>
#include <complex>
#include <cstdint>
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/core/simd.hpp>
#include <holotone/hologram/point_cloud/engine.hpp>
#include <holotone/hologram/point_cloud/point_cloud_math.h>
#include <span>
#include <type_traits>
#include <vector>

namespace holotone::point_cloud {

/// Converts turns to 32-bit fixed point, modulo one turn; error 2^-33 turns for an exact argument with |turns| < 2^51.
/// Adding and subtracting 1.5 * 2^52 rounds to an integer; adding 1.5 * 2^20 puts the units of 2^-32 at the foot of the
/// mantissa. Both are plain additions, which every vector unit has.
HOLOTONE_ALWAYS_INLINE std::uint32_t fixed_turns(double turns) {
  constexpr double to_integer = 0x1.8p52;
  constexpr double to_fixed = 0x1.8p20;
  const double whole = (turns + to_integer) - to_integer;
  return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>((turns - whole) + to_fixed));
}

/// Computes sin and cos of 2 pi turns / 2^32, absolute error below 1.3e-7. The angle is reduced to the nearest quarter
/// turn in integers, which is exact. Minimax polynomials of the rest (|x| <= pi / 4) are swapped and signed by
/// quadrant.
HOLOTONE_ALWAYS_INLINE void sine_cosine(std::uint32_t turns, float& sine, float& cosine) {
  constexpr auto radians = static_cast<float>(two_pi * 0x1p-32);
  const std::uint32_t quadrant = turns + 0x20000000U;  // the top two bits count quarters
  const auto rest = static_cast<std::int32_t>(turns - (quadrant & 0xC0000000U));
  const float x = static_cast<float>(rest) * radians;
  const float z = x * x;
  const float s = x + x * z * (-0.16666636801F + z * (8.331585954e-3F + z * -1.946223215e-4F));
  const float c = 1.0F + z * (-0.499999996154F + z * (4.16666167e-2F + z * (-1.388661921e-3F + z * 2.43799e-5F)));
  const bool odd = (quadrant & 0x40000000U) != 0;
  const std::uint32_t sine_sign = quadrant & 0x80000000U;
  const std::uint32_t cosine_sign = (quadrant + 0x40000000U) & 0x80000000U;
  sine = std::bit_cast<float>(std::bit_cast<std::uint32_t>(odd ? c : s) ^ sine_sign);
  cosine = std::bit_cast<float>(std::bit_cast<std::uint32_t>(odd ? s : c) ^ cosine_sign);
}

/// Computes cos of 2 pi turns / 2^32, absolute error below 1.8e-7, at about half the cost of sine_cosine: it is
/// sin(pi / 2 y) with y = 1 - 4 |t|, t the turns from -0.5 to 0.5. y is exact in integers and within [-1, 1], where one
/// odd minimax polynomial serves every quadrant.
HOLOTONE_ALWAYS_INLINE float cosine_alone(std::uint32_t turns) {
  const auto signed_turns = static_cast<std::int32_t>(turns);
  const std::uint32_t size = signed_turns < 0 ? 0U - turns : turns;
  const float y = static_cast<float>(static_cast<std::int32_t>(0x40000000U - size)) * 0x1p-30F;
  const float z = y * y;
  return y *
         (1.570796251F + z * (-0.6459627748F + z * (0.07968617976F + z * (-0.004668946844F + z * 1.492829906e-4F))));
}

/// True for sums of real parts alone. T is the value of a pixel: std::complex<float>, or float for the real part.
template <class T>
constexpr bool real_alone = std::is_same_v<T, float>;

/// Adds a wave of `amplitude` at a phase to re and, unless T is float, to im.
template <class T>
HOLOTONE_ALWAYS_INLINE void add_wave(std::uint32_t turns, float amplitude, float& re, float& im) {
  if constexpr (real_alone<T>) {
    re += amplitude * cosine_alone(turns);
  } else {
    float sine = 0;
    float cosine = 0;
    sine_cosine(turns, sine, cosine);
    re += amplitude * cosine;
    im += amplitude * sine;
  }
}

/// turns[i] = curvature (first + i - centre)^2 + offset, in fixed point.
void axis_turns(std::span<std::uint32_t> turns, std::int64_t first, double centre, double curvature, double offset);

/// A block of the panel that one thread sums in its cache.
struct Tile {
  std::int32_t row_begin;
  std::int32_t row_end;
  std::int32_t column_begin;
  std::int32_t column_end;
  std::int32_t stride;  ///< columns rounded up to whole vectors; pixels beyond column_end are computed and dropped
  [[nodiscard]] std::int32_t rows() const { return row_end - row_begin; }
};

/// Floats in one vector of the widest unit; the stride of a tile is a multiple of it.
constexpr std::int32_t vector_columns = 16;

/// The part of a tile that a point lights.
struct Lit {
  std::int32_t row_begin, row_end, column_begin, column_end;
  Lit(const Tile& tile, const PixelPoint& point)
      : row_begin(std::max(tile.row_begin, point.row_begin)),
        row_end(std::min(tile.row_end, point.row_end)),
        column_begin(std::max(tile.column_begin, point.column_begin)),
        column_end(std::min(tile.column_end, point.column_end)) {}
  [[nodiscard]] bool none() const { return row_begin >= row_end || column_begin >= column_end; }
  [[nodiscard]] bool all_of(const Tile& tile) const {
    return row_begin == tile.row_begin && row_end == tile.row_end && column_begin == tile.column_begin &&
           column_end == tile.column_end;
  }
};

/// Adds the waves of `points` to the real and imaginary part of a tile, rows `stride` apart. Sums of real parts alone
/// have no imaginary part: im is re.
using TileSum = std::function<void(const Tile& tile, std::span<const PixelPoint> points, float* re, float* im)>;

/// Values of some rows of the panel, addressed by the panel's rows.
template <class T>
class RowsOf {
 public:
  RowsOf(View<T, 2> view, std::int64_t first_row) : view_(view), first_row_(first_row) {}
  T& operator()(std::int64_t row, std::int64_t column) const { return view_(row - first_row_, column); }
  [[nodiscard]] View<T, 2> view() const { return view_; }
  [[nodiscard]] RowRange rows() const { return {first_row_, view_.shape()[0]}; }

 private:
  View<T, 2> view_;
  std::int64_t first_row_;
};
using FieldOfRows = RowsOf<std::complex<float>>;
using RealOfRows = RowsOf<float>;

/// Writes the sum over points to the target, tile by tile on all threads. At most 512 waves are added in float32, and
/// their sums in float64: the rounding does not grow with the number of points. The target begins at a multiple of
/// tile_rows. tile_columns: a multiple of vector_columns. Reports to `progress`.
template <class T>
void sum_tiles(std::span<const PixelPoint> points, std::int32_t tile_rows, std::int32_t tile_columns,
               const TileSum& sum, const RowsOf<T>& target, Progress& progress);
/// Returns the bytes that sum_tiles allocates.
std::size_t tile_sum_bytes(std::int32_t tile_rows, std::int32_t tile_columns);

/// Engine that sums whole blocks of rows, counted from the panel's top for every part: parts equal the whole bit for
/// bit. The last block that a part cuts is kept for the next part.
class BlockEngine : public PointCloudPlan::Engine {
 public:
  void execute(const RowRange& part, const PointCloudOutput& output, Progress& progress) final;

 protected:
  explicit BlockEngine(const PointCloudOptions& options) : options_(options) {}
  [[nodiscard]] const PointCloudOptions& options() const { return options_; }
  [[nodiscard]] virtual std::int64_t block_rows() const = 0;
  /// Writes the sum to a field of whole blocks.
  virtual void sum(const FieldOfRows& field, Progress& progress) = 0;
  /// True if sum_real computes the real part alone at lower cost.
  [[nodiscard]] virtual bool has_real_sum() const { return false; }
  virtual void sum_real(const RealOfRows& /*real*/, Progress& /*progress*/) {}

  /// Discards the kept block, after a change of the points.
  void forget_block() { kept_.rows = 0; }
  /// Bytes of the fields of this class.
  [[nodiscard]] std::size_t field_bytes() const;

 private:
  void sum_blocks(const RowRange& blocks, const PointCloudOutput& output, Progress& progress);
  void keep_block(const RowRange& block, bool real, Progress& progress);

  PointCloudOptions options_;
  Array<std::complex<float>, 1> field_;  ///< sums of whole blocks for outputs without a field
  RowRange kept_{};                      ///< rows of the kept block; 0 rows: no block
  bool kept_is_real_ = false;
  Array<std::complex<float>, 1> kept_field_;
  Array<float, 1> kept_real_;
};

/// Writes the real part and the phase levels of a finished field to the outputs that are not empty.
void write_parts(View<const std::complex<float>, 2> field, const PointCloudOutput& output);

/// levels[i] = round(arg(re + i im) / 2 pi * 256) mod 256, the argument to 1e-6 of a level.
void phase_levels(std::span<const std::complex<float>> field, std::span<std::uint8_t> levels);

}  // namespace holotone::point_cloud
