#pragma once
// Columns of tables of spots: what they hold, in which unit. Not for users.
#include <holotone/io/comment_unit_detail.hpp>
#include <holotone/recipes/spot_places.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::spots {

/// In the order of the columns of a table without names, then others.
enum class Quantity { x, y, z, intensity, kx, ky, defocus, phase, unknown };
inline constexpr std::string_view quantity_names[] = {"x", "y", "z", "intensity", "kx", "ky", "defocus", "phase"};
inline constexpr std::size_t quantity_count = std::size(quantity_names);
/// Of a table without names.
inline constexpr std::size_t unnamed_count = 4;

enum class ColumnUnit {
  none,             ///< not stated
  length,           ///< of `size` metres
  camera_pixel,     ///< of x and y, by a CameraMap
  pixel_frequency,  ///< of kx and ky: `size` cycles a pixel of the panel
  frequency,        ///< `size` cycles (of kx and ky), or a curvature of `size`, a metre on the panel
  sine,             ///< of kx and ky: sine of an angle
  angle,            ///< of `size` radians
};

struct Column {
  Quantity quantity = Quantity::unknown;
  ColumnUnit unit = ColumnUnit::none;
  double size = 1;
};

/// "x", "x_um", "x [um]" and "x (um)": a name and a unit, in small letters without quotes.
struct ColumnName {
  std::string name;
  std::string unit;
  bool has_unit = false;
};
ColumnName split_column(std::string_view word);

/// "x", "x_um", "x [um]", "x (px)", "kx_per_mm", "kx [rad/um]", "ky_norm", "defocus_per_m", "phase_deg". Unknown
/// for another name, for a unit that the quantity has not, and for kx, ky, defocus or phase without one.
Column parse_column(std::string_view word);

/// "um", "micrometers" or "px" for x, y and z of a file: none unless it is one.
Column parse_unit(std::string_view word);

/// Metres a unit of the column: of x, y, z in lengths, and by the lens of others. Throws invalid_argument naming what
/// the lens lacks.
double metres_per_unit(const Column& column, const SpotLens& lens);

/// The unit of x, y and z that a table's comments state.
class TableComments {
 public:
  explicit TableComments(const std::string& path) : path_(path) {}
  /// False for a line that is no comment. Throws io for two units, and for one with a number.
  bool take(std::string_view line);
  /// As parse_unit takes it; empty if none is stated.
  [[nodiscard]] const std::string& unit() const { return unit_.text; }
  /// Names in the last comment with those of x and y, or kx and ky; of as many columns they are the table's.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  void keep_names(std::string_view comment);

  const std::string& path_;
  io::CommentUnit unit_;
  std::vector<std::string> names_;
};

/// Throws io naming file and place for a column or key of intensities, or of `value_name`, in dB or another logarithm:
/// "intensity_dB", "intensity [dBm]".
void refuse_logarithm(std::string_view word, std::string_view value_name, const std::string& path,
                      const std::string& place);

/// Words of a line between commas, semicolons or blanks.
std::vector<std::string_view> split_line(std::string_view line);
/// Throws io naming file and place for a line of numbers with decimal commas between semicolons or blanks.
void refuse_decimal_commas(std::string_view line, const std::string& path, const std::string& place);

}  // namespace holotone::spots
