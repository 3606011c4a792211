#pragma once
#include "stereogram_options.hpp"
#include <functional>
#include <holotone/hologram/view_source.hpp>
#include <memory>

namespace holotone::cli {

/// Views that can be looked at, and what is known of them.
struct StereogramViews {
  std::unique_ptr<ViewSource> source;
  std::vector<std::string> files;  ///< all that were read
  std::int64_t columns = 0;        ///< of cameras; 0: not known
  std::int64_t rows = 0;
  double camera_pitch_m = 0;  ///< 0: not known
  std::function<double()>
      missed_share;  ///< of the rays looked along so far, those that pass by the cameras; may be empty
  std::vector<std::string> warnings;
};

/// Reads the views of a job: in colour with --rgb, else their luminance. Throws io naming the file, or invalid_argument naming the option.
StereogramViews read_views(const StereogramJob& job);

}  // namespace holotone::cli
