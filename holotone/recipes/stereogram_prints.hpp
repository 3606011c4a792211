#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <holotone/bands/bands_run.hpp>
#include <holotone/core/device.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/hologram/stereogram.hpp>
#include <holotone/recipes/stereogram_codes.hpp>
#include <optional>
#include <string>
#include <vector>

// Stereograms that are larger than memory, computed by rows of hogels on several devices, in files that a stopped run
// leaves to be resumed.
namespace holotone {

/// One stereogram, in a file of its own: all light, or that of one colour.
struct StereogramPrint {
  std::string output{};  ///< .h5, .hdf5 or .npy of the field, .tif, .tiff or .npy of codes
  StereogramOptions stereogram{};
  int channel = 0;                                       ///< of the views
  std::optional<StereogramQuantization> quantization{};  ///< to codes; none: the complex field
  std::string key{};                                     ///< identity of the views: rows of other ones are not resumed
  Metadata metadata{};                                   ///< of the file
};

/// A written stereogram.
struct PrintedStereogram {
  StereogramInfo info{};
  StereogramReport report{};      ///< of the rows of this run, in all processes; in the first process
  std::int64_t resumed_rows = 0;  ///< rows that an earlier run had made
  double seconds = 0;             ///< until all rows were computed and written
  BandRates rates{};
};

struct StereogramPrintOptions {
  std::vector<Device> devices{Device{}};  ///< whichever is free takes the next band
  std::int64_t rows_at_once = 0;          ///< whole rows of hogels, in pixels; 0: rows_of_hogel_bands
};

/// The views as a device of PrintOptions::devices reads them; the same for all if they are read by any thread.
using ViewsOfDevice = std::function<const ViewSource&(std::size_t device)>;

/// Rows of pixels of a band: rows of hogels of about 4 MiB of field, at least one.
std::int64_t rows_of_hogel_bands(const StereogramOptions& options);

/// Computes stereograms by rows of hogels, on all devices and by all processes of `bands.ranks`, and writes them
/// (BandsRun). The files appear when all are complete. Rows of a failed or cancelled run are kept beside them; the next
/// run of equal views, options and files resumes from these. Codes are those of stereogram_codes. `progress`: reports
/// `computing hogels`, not always in the caller's thread. Throws invalid_argument naming prints, devices or
/// rows_at_once; as StereogramPlan, ErrorDiffusionPlan, FieldRowsWriter and CodeRowsWriter, and what the views throw.
std::vector<PrintedStereogram> print_stereograms(const ViewsOfDevice& views, const std::vector<StereogramPrint>& prints,
                                                 const StereogramPrintOptions& options = {},
                                                 const BandsOptions& bands = {}, Progress& progress = Progress::none());

}  // namespace holotone
