#pragma once
#include <cli/common/output_check.hpp>
#include <cli/hologram/stereogram/stereogram_options.hpp>
#include <functional>
#include <holotone/core/metadata.hpp>
#include <holotone/hologram/view_source.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {

/// Source of the views' rays, and the properties of the views.
struct StereogramViews {
  std::unique_ptr<ViewSource> source;
  /// The same on the job's other devices; none if `source` serves all.
  std::vector<std::unique_ptr<ViewSource>> on_others;
  std::vector<InputFile> files;          ///< all files read
  double nearest_m = 0;                  ///< smallest distance of the visible scene from the panel, as far as known
  double camera_pitch_m = 0;             ///< 0: not known
  Metadata metadata;                     ///< of the hologram's file
  nlohmann::json facts;                  ///< for --json
  std::uint64_t digest = 0;              ///< identifies the content of the views
  std::function<double()> missed_share;  ///< share of the rays so far that miss the cameras; may be empty
  std::vector<std::string> warnings;

  [[nodiscard]] const ViewSource& source_of(std::size_t device) const {
    return device == 0 || on_others.empty() ? *source : *on_others[device - 1];
  }
};

/// Reads the views or the picture of a job: in colour with --rgb, else their luminance. Throws io naming the file, or
/// invalid_argument naming the option.
StereogramViews read_views(const StereogramJob& job);

}  // namespace holotone::cli
