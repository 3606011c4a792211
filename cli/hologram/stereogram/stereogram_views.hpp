#pragma once
#include <cli/common/output_check.hpp>
#include <cli/hologram/stereogram/stereogram_options.hpp>
#include <functional>
#include <holotone/core/metadata.hpp>
#include <holotone/hologram/view_source.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {

/// Views that can be looked at, and what is known of them.
struct StereogramViews {
  std::unique_ptr<ViewSource> source;
  std::vector<InputFile> files;  ///< all that were read
  double nearest_m = 0;          ///< the least distance from the panel of anything that is seen, as far as it is known
  double camera_pitch_m = 0;     ///< 0: not known
  Metadata metadata;             ///< what the hologram's file says of them
  nlohmann::json facts;          ///< and what --json says
  std::uint64_t digest = 0;      ///< of all that is seen: other views have another
  std::function<double()>
      missed_share;  ///< of the rays looked along so far, those that pass by the cameras; may be empty
  std::vector<std::string> warnings;
  std::vector<std::string> remarks;
};

/// Reads the views or the picture of a job: in colour with --rgb, else their luminance. Throws io naming the file, or
/// invalid_argument naming the option.
StereogramViews read_views(const StereogramJob& job);

}  // namespace holotone::cli
