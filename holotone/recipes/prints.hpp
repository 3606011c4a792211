#pragma once
#include <cstdint>
#include <holotone/bands/bands_run.hpp>
#include <holotone/core/array.hpp>
#include <holotone/core/device.hpp>
#include <holotone/core/geometry.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <holotone/optics/row_range.hpp>
#include <optional>
#include <string>
#include <vector>

// Prints: holograms of points that are larger than memory, computed by bands of rows on several devices, in files that
// a stopped run leaves to be resumed.
namespace holotone {

/// One hologram of a print, in a file of its own: all light, or that of one colour.
struct PointPrint {
  std::string output{};                     ///< .h5, .hdf5 or .npy of the complex field, .tif or .tiff of codes
  PointCloudOptions sum{};                  ///< also the panel and the light of the codes
  std::optional<EncodeOptions> encoding{};  ///< of the codes; none: the complex field
  int colour = -1;      ///< amplitudes: 0 red, 1 green, 2 blue (channel_amplitude); -1: the cloud's own
  Metadata metadata{};  ///< more keys of the file (metadata_keys); they replace those of the sum
};

struct PrintOptions {
  std::vector<Device> devices{Device{}};  ///< whichever is free takes the next band; of one backend
  std::int64_t rows_at_once = 0;          ///< rows of a band, >= 1; 0: rows_of_bands
  RowRange rows{};                        ///< rows to be made, such as part_of_bands; 0 rows: the whole panel
};

/// A written hologram.
struct PrintedHologram {
  Metadata metadata{};            ///< of the file
  PointCloudInfo info{};          ///< of the sum
  std::int64_t bands = 0;         ///< of the file
  std::int64_t resumed_rows = 0;  ///< rows that an earlier run had made
  double seconds = 0;             ///< until all rows were computed and written
  BandRates rates{};
};

/// Rows of a band of a panel {ny, nx}: a 64th of the panel, so that points and factors are rarely prepared, but at
/// least 2^25 and at most 2^27 pixels; of more than 256 rows a multiple of these, the extent of the tiles of coarse
/// sums.
std::int64_t rows_of_bands(Shape<2> shape);

/// Rows of one of several parts of a panel of ny rows: whole bands. `part`: counted from 1. The files of parts, made on
/// several machines, are joined to the whole (`holotone join`). Throws invalid_argument for a part that is not one of
/// `parts`, and for more parts than bands.
RowRange part_of_bands(std::int64_t ny, std::int64_t rows_at_once, std::int64_t part, std::int64_t parts);

/// True if every run gives the codes the same range, as print_points requires: one that `encoding` states, that of
/// phase codes or of a field, or one measured in a sum whose rows have the same bits in every run (deterministic, or
/// the methods direct and recurrence).
bool has_steady_range(const PointCloudOptions& sum, const std::optional<EncodeOptions>& encoding);

/// Sums the waves of a cloud by bands of rows, on all devices, and writes the holograms (BandsRun). The files appear
/// when all are complete. Rows of a failed or cancelled run are kept beside them; the next run of equal points, options
/// and files resumes from these.
///
/// Codes of a panel have one range. If `encoding` gives none, a first pass over all bands measures it, for sums of
/// which has_steady_range is true.
///
/// A part (`rows`) states block_first_row, block_of_rows, block_source and block_crc32, by which parts are joined.
///
/// `progress`: reports `measuring the range by bands of rows` and `summing points by bands of rows`, not always in the
/// caller's thread. Throws invalid_argument naming prints, devices, rows or encoding; as PointCloudPlan, EncodePlan
/// (unsupported for single_sideband), FieldRowsWriter and CodeRowsWriter (io; unsupported in builds without libtiff or
/// HDF5); cancelled. Cost: that of the sums, twice if a range is measured. Memory: each device a band, and fields of a
/// band for codes other than is_sum_phase; on the host a band for each device and one that is written.
std::vector<PrintedHologram> print_points(const PointCloud& cloud, const std::vector<PointPrint>& prints,
                                          const PrintOptions& options = {}, Progress& progress = Progress::none());

/// The same by all processes of `bands.ranks`, and with its callbacks. Every process makes the same call.
std::vector<PrintedHologram> print_points_by_ranks(const PointCloud& cloud, const std::vector<PointPrint>& prints,
                                                   const PrintOptions& options, const BandsOptions& bands,
                                                   Progress& progress = Progress::none());

}  // namespace holotone
