#pragma once
#include <cstdint>
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/optics/field.hpp>
#include <memory>
#include <string>

// A hologram's file read back as the light that leaves the panel: modulator codes of a picture, or a complex field.
// docs/files.md lists what the files state; metadata_keys.hpp is the table.
namespace holotone {

/// What a file states before its values are used, for HologramReadOptions::adjust.
struct StatedHologram {
  const std::string& path;
  Metadata& metadata;  ///< with the overrides in it
  Shape<2> shape;      ///< {ny, nx}
  bool is_field;       ///< a complex field; otherwise a picture of codes
  int pixel_bits;      ///< 8 or 16 of a picture's channel, 0 of a field
};

struct HologramReadOptions {
  /// Replaces what the file states, or states what its format cannot; an empty text stands for a key that the file
  /// does not state. See metadata_keys.
  Metadata overrides{};
  /// Called after that with what the file states, which it may change and refuse by throwing; may be empty.
  std::function<void(const StatedHologram&)> adjust{};
  /// File of the wavefront map that the codes hold and that is taken out of the light (read_correction); empty: none.
  std::string correction{};
  bool zero_order = false;  ///< amplitude encodings: with the beam that goes straight through (modulation_of)
  bool unfiltered = false;  ///< as it leaves the panel, without the stop that an encoding needs (fourier_filter)
  /// current_program() of a main that begins with guarded_child, for which HDF5 is read in a child process
  /// (io/guarded.hpp); empty: in this one.
  std::string program{};
};

/// The light that leaves a panel showing a hologram's file, or the field that the file holds.
struct HologramLight {
  std::string path;
  Array<Complex, 2> field;  ///< {ny, nx} in host memory; empty in HologramRows
  FieldGrid grid;
  Metadata metadata;            ///< of the file, overrides in it
  std::string encoding;         ///< to_string(Encoding), or "complex" for a field
  std::string filter = "none";  ///< the stop the light went through: fourier_filter_name
};

/// Reads PNG, TIFF or BMP of modulator codes, or HDF5, NPY or OHC of a complex field, told apart by
/// is_hologram_field. `wavelength_m` and `pitch_m` must be stated, for amplitude and single-sideband `amplitude_min`
/// and `amplitude_max` too; a picture without `encoding` is taken for phase of 2 pi, unless `software` is stated:
/// then it is no hologram. Codes become light by modulation_of and, unless `unfiltered`, pass fourier_filter.
///
/// Throws io naming the file, and the key where one is missing, malformed or out of its range; invalid_argument
/// naming the file for values that the encoding refuses; what `adjust` throws. Cost: of reading, plus O(nx ny), with
/// a filter O(nx ny log(nx ny)). Memory: codes and light at once.
HologramLight read_hologram(const std::string& path, const HologramReadOptions& options = {});

/// A hologram's file read by rows, so that its light need not lie in memory at once. The codes of a picture do, as
/// the file stores them; and all of the light does where a filter or a correction takes it together. The rows are
/// those of read_hologram; of an amplitude hologram with a tilted reference beam with a relative l2 error below 1e-6,
/// as the beam's phase is then computed for each block.
class HologramRows {
 public:
  /// Reads what the file states. Throws what read_hologram throws of all but the values.
  explicit HologramRows(const std::string& path, const HologramReadOptions& options = {});
  ~HologramRows();
  HologramRows(HologramRows&&) noexcept;
  HologramRows& operator=(HologramRows&&) noexcept;

  /// What the file states; without the field.
  [[nodiscard]] const HologramLight& light() const;
  /// Fills `rows` {n, nx} in host memory with rows first_row to first_row + n - 1. Throws invalid_argument for rows
  /// that the file does not have or another width; io, and of values what read_hologram throws.
  void read(std::int64_t first_row, View<Complex, 2> rows) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Whether a file is taken for a complex field: by its name (.h5 .hdf5 .mat .npy .ohc), or for HDF5 by its first bytes.
bool is_hologram_field(const std::string& path);

/// The grid {ny, nx} with the pitch and wavelength that a file states. Throws io naming the file and the key, and for
/// more than largest_grid_side pixels a side.
FieldGrid stated_grid(const std::string& path, const Metadata& metadata, Shape<2> shape);

/// States how codes were made, so that read_hologram undoes it: encoding, bits, levels or stroke, the range of
/// `report`, reference beam and carrier. `packed16`: as pack_16bit lays them. The correction map is not stated.
void describe_encoding(Metadata& metadata, const EncodeOptions& options, const EncodeReport& report, bool packed16);

}  // namespace holotone
