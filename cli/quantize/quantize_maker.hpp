#pragma once
#include <cli/common/hologram_overrides.hpp>
#include <cli/quantize/quantize_job.hpp>
#include <cli/quantize/quantize_windows.hpp>
#include <functional>
#include <holotone/bands/bands_run.hpp>
#include <holotone/recipes/window_meter.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// Result for one written field of codes.
struct QuantizeRecord {
  std::string input;
  std::string output;
  std::string channel;  ///< see QuantizeTask
  FieldGrid grid;
  std::int64_t hogel_px = 0;   ///< 0: the panel
  std::int64_t window_px = 0;  ///< side of the squares that see windows of their own; 0: the panel
  Shape<2> hogels{};
  ReferenceBeam beam;
  HogelWeights weights;
  double scale = 0;
  double energy = 0;  ///< mean square of the field
  bool dark = false;  ///< the field has no light
  WindowMeasure window;
  double seconds = 0;
  std::int64_t resumed = 0;  ///< rows that an earlier run had made
  BandRates rates;           ///< of a file that is written by rows in any order
  Flags reconstruct_flags;   ///< see flags_for
};

/// Reads a field by rows of hogels, quantizes and writes it. The whole field is in memory if it is one hogel. All codes
/// are in memory if the file format is written at once. A .tif or .npy that is not compressed is written by rows in any
/// order, by all devices and processes. `before` is called with the row's grid, hogels and weights
/// before the field's values are read.
QuantizeRecord quantize_field(const QuantizeJob& job, const QuantizeTask& task,
                              const std::function<void(const QuantizeRecord&)>& before, ProgressBar& bar);

}  // namespace holotone::cli
