#pragma once
#include <cstdint>
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/optics/field.hpp>
#include <memory>
#include <string>

// Reads the file of a hologram as the light that leaves the panel. The file holds a picture of modulator codes or a
// complex field. docs/files.md lists the metadata of the files; metadata_keys.hpp is the table.
namespace holotone {

/// Metadata and shape of a file before its values are used: argument of HologramReadOptions::adjust.
struct StatedHologram {
  const std::string& path;
  Metadata& metadata;  ///< metadata of the file with the overrides; may be changed
  Shape<2> shape;      ///< {ny, nx}
  bool is_field;       ///< true: complex field; false: picture of codes
  int pixel_bits;      ///< bits of a picture's code, 1 to 16 (code_bits); 0 for a field
};

struct HologramReadOptions {
  /// Metadata that replace or complete those of the file; an empty text removes the key. Keys: metadata_keys.
  Metadata overrides{};
  /// Called after the overrides are applied; may change the metadata, or throw to reject the file. May be empty.
  std::function<void(const StatedHologram&)> adjust{};
  /// Path of the wavefront correction map that the codes contain (read_correction). Its phase is subtracted from the
  /// light. Empty: none.
  std::string correction{};
  /// What real numbers of the file are: a field of phases, amplitudes or intensities (read_field). Not given: complex
  /// numbers, or a picture of codes.
  FieldReadOptions numbers{};
  /// Called with each line of what the file leaves open and how it is read. May be empty.
  std::function<void(const std::string&)> note{};
  bool zero_order = false;  ///< true: includes the undiffracted beam (modulation_of; amplitude encodings only)
  bool unfiltered = false;  ///< true: light before the stop of the encoding (fourier_filter)
  /// current_program() if its main begins with guarded_child: HDF5 is then read in a child process (guarded.hpp).
  /// Empty: HDF5 is read in this process.
  std::string program{};
};

/// Light that leaves a panel showing the hologram of a file, or the complex field of a file.
struct HologramLight {
  std::string path;
  Array<Complex, 2> field;  ///< {ny, nx} in host memory; empty in HologramRows
  FieldGrid grid;
  Metadata metadata;                    ///< metadata of the file with the overrides
  std::string encoding;                 ///< to_string(Encoding), or "complex" for a field
  std::string filter = "none";          ///< stop applied to the light (fourier_filter_name)
  std::vector<std::string> notes = {};  ///< what the file leaves open and how it was read, a line each with its name
};

/// Reads PNG, TIFF or BMP of modulator codes, or HDF5, MATLAB, NPY or OHC of a complex field (is_hologram_field), or
/// real numbers of these and of TIFF as a field with `numbers`. Required
/// keys: `wavelength_m` and `pitch_m`, for amplitude and single-sideband also `amplitude_min` and `amplitude_max`. A
/// picture without `encoding` is read as phase, by default of 2 pi; with `software` it is rejected, because it is no
/// hologram. Codes of fewer `bits` than a pixel has may lie from black to white (`scaled_codes`); without that key a
/// note says so, and phase codes of 0 and the largest alone need `bits`. modulation_of converts codes to light, which
/// then passes fourier_filter unless `unfiltered` is set.
///
/// Throws io naming the file, and the key if one is missing, malformed or out of its range. Throws invalid_argument
/// naming the file for values that the encoding does not support, or naming `zero_order` or `unfiltered` for an
/// encoding without them; the errors of `adjust`. Cost: reading, plus O(nx ny), with a filter O(nx ny log(nx ny)).
/// Memory: codes and light at once.
HologramLight read_hologram(const std::string& path, const HologramReadOptions& options = {});

/// Reads the light of a hologram's file by rows, without all of the light in memory. The codes of a picture are held as
/// stored in the file. With a filter or a correction, all of the light is computed and held at once. The rows equal
/// those of read_hologram.
class HologramRows {
 public:
  /// Reads the metadata and the codes of a picture. Throws as read_hologram; errors of values are left to read(),
  /// unless a filter or a correction is applied.
  explicit HologramRows(const std::string& path, const HologramReadOptions& options = {});
  ~HologramRows();
  HologramRows(HologramRows&&) noexcept;
  HologramRows& operator=(HologramRows&&) noexcept;

  /// Returns the grid, the metadata and the encoding; the field is empty.
  [[nodiscard]] const HologramLight& light() const;
  /// Fills `rows` {n, nx} in host memory with rows first_row to first_row + n - 1. Throws invalid_argument for rows
  /// outside the file or of another width; io; errors of values as read_hologram.
  void read(std::int64_t first_row, View<Complex, 2> rows) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// True if a file is read as a field: by its extension (.h5 .hdf5 .mat .npy .ohc), by HDF5's signature, or because
/// `numbers` say what its real numbers are.
bool is_hologram_field(const std::string& path, const FieldReadOptions& numbers = {});

/// Returns the grid {ny, nx} with the pitch and wavelength of the metadata. Throws io naming the file and the key; also
/// io for more than largest_grid_side pixels a side.
FieldGrid stated_grid(const std::string& path, const Metadata& metadata, Shape<2> shape);

/// Writes the encoding of codes into `metadata`, for read_hologram: encoding, bits, levels or stroke, amplitude range
/// of `report`, reference beam and carrier. `packed16`: codes in the layout of pack_16bit. The correction map is not
/// stored.
void describe_encoding(Metadata& metadata, const EncodeOptions& options, const EncodeReport& report, bool packed16);

}  // namespace holotone
