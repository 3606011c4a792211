#pragma once
#include <cli/hologram/layers/layers_options.hpp>
#include <holotone/hologram/stereogram.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

/// What `holotone hologram` has for holograms made hogel by hogel, as typed.
struct StereogramArguments {
  std::string views;
  std::string depths;
  std::string rows = "auto";
  std::string hogel;
  std::string fringe;
  std::string viewer;
  std::string view_distance;
  std::string camera_pitch;
  std::string camera_span;
  GivenOptions given;  ///< of all options of the command
};

/// --views and what belongs to hogels.
std::vector<OptionRow> stereogram_options(StereogramArguments& arguments);

/// Where views are captured from, whatever they are.
struct ViewGeometry {
  double view_distance_m = 0;
  double camera_pitch_m = 0;  ///< 0: from the span and the number of cameras
  double camera_span_m = 0;   ///< from the first to the last camera of a row
  double distance_m = 0;
  double size_m = 0;  ///< the larger of the picture's width and height
};

/// What is to be done, checked as far as it can be before a file is read.
struct StereogramJob {
  std::string views;                  ///< or the picture
  std::optional<PictureJob> picture;  ///< instead of views
  std::string depths;                 ///< of the views; empty: all at the focus plane's distance
  bool model = false;                 ///< `views` is a mixture of experts
  std::string rows;                   ///< which way %v counts
  std::string output;
  Panel panel;
  std::vector<Channel> channels;
  StereogramOptions options;  ///< grid.wavelength_m: the channel's is put in its place
  bool hogel_given = false;   ///< otherwise hogel_px is to be hogel_for the nearest distance
  ViewGeometry geometry;
  Device device;
  ConsoleOptions console;

  [[nodiscard]] StereogramOptions options_for(const Channel& channel) const;
  /// The largest power of two from 16 to 1024 with N <= lambda d / (4 pitch^2): then the curvature of what is nearest,
  /// at d, moves a ray's frequency at a hogel's edge by no more than a quarter of what the pitch shows, and few of the
  /// widest angles are left out.
  [[nodiscard]] std::int64_t hogel_for(double nearest_m) const;
  [[nodiscard]] std::string output_of(const Channel& channel) const;
};

/// Whether a hologram is to be made hogel by hogel: of views, or of a picture with an option of hogels.
bool asks_for_hogels(const StereogramArguments& arguments, const LayerArguments& layers);

/// Throws invalid_argument for options of hogels where there are neither views nor a picture.
void refuse_stereogram_options(const StereogramArguments& arguments);

/// Throws invalid_argument or io naming the option.
StereogramJob stereogram_job(const HologramArguments& arguments, const StereogramArguments& stereogram,
                             const LayerArguments& layers);

}  // namespace holotone::cli
