#pragma once
#include <cstdint>
#include <holotone/core/metadata.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/io/field_file.hpp>
#include <holotone/io/image.hpp>
#include <holotone/optics/field.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What a hologram's file says of itself, and a file read back as the light that leaves the panel. docs/files.md lists
// the keys.
namespace holotone::cli {

/// No modulator's stroke is outside these.
inline constexpr double least_phase_range_rad = 1e-3;
inline constexpr double most_phase_rad = 1000;

/// 17 significant digits: read back to the same double.
std::string number_text(double value);
std::string numbers_text(const std::vector<double>& values);

/// A number under `key`, or nullopt. Throws io naming the file if it is not a finite number.
std::optional<double> number_of(const std::string& path, const Metadata& metadata, const std::string& key);

/// The panel {ny, nx} with the pitch and wavelength that the file, or a flag in its place, states. Throws io naming the file.
FieldGrid stated_grid(const std::string& path, const Metadata& metadata, Shape<2> shape);

/// The keys modulation_of needs to undo an encoding.
void describe_encoding(Metadata& metadata, const EncodeOptions& options, const EncodeReport& report, bool packed16);

/// What reconstruct was told instead of, or in addition to, what the file says; as typed, empty: not given.
struct HologramOverrides {
  std::string panel;
  std::string wavelength;
  std::string pitch;
  std::string encoding;
  std::string bits;
  std::string lut;
  std::string phase_range;
  std::string amplitude_range;
  std::string object_energy;
  std::string reference_angle;
  std::string carrier;
  std::string correction;
  bool packed16 = false;
  bool distance_given = false;  ///< the file need not say where to focus
  bool zero_order = false;      ///< of amplitude encodings: with the beam that goes straight through
  bool no_filter = false;       ///< as it leaves the panel, without the stop that an encoding needs
};

/// The phase of each code from a text file (read_phase_lut), whose name its errors begin with.
std::vector<double> phase_table(const std::string& path);

/// An encoding of codes by its name. Throws invalid_argument naming `option`.
Encoding chosen_encoding(std::string_view option, std::string_view name);

/// The light that leaves a panel showing a hologram file, or a field file itself.
struct HologramLight {
  std::string path;
  Array<Complex, 2> field;  ///< in host memory
  FieldGrid grid;
  Metadata metadata;
  std::string encoding;  ///< "complex" for a field
  std::string filter = "none";
};

/// Reads an image of modulator codes or a complex field. Throws io, or invalid_argument naming the option that would
/// say what the file does not.
HologramLight read_hologram(const std::string& path, const HologramOverrides& overrides);

/// A hologram file that is read by rows, so that its light need not lie in memory at once. The codes of a picture do, as the
/// file stores them; and all of the light does where an encoding's stop or a correction takes it together.
class HologramRows {
 public:
  /// Throws what read_hologram throws of all but the values.
  HologramRows(const std::string& path, const HologramOverrides& overrides);
  ~HologramRows();
  HologramRows(HologramRows&&) noexcept;
  HologramRows& operator=(HologramRows&&) noexcept;

  /// What the file says; without the field.
  [[nodiscard]] const HologramLight& light() const;
  /// Fills `rows` {n, nx} in host memory. Throws io, and of values what read_hologram throws.
  void read(std::int64_t first_row, View<Complex, 2> rows) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holotone::cli
