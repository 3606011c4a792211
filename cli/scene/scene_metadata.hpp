#pragma once
#include <array>
#include <cli/common/console.hpp>
#include <cli/options/viewer_option.hpp>
#include <cstdint>
#include <holotone/hologram/dice_scene.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/quantize/diffusion_weights.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace holotone::cli {

/// The work of `holotone scene dice`. The command's options are bound to its members.
struct DiceJob {
  static constexpr std::string_view default_viewer = "36mm:9.2mm";

  bool dice = false;   ///< the scene's name was given
  std::string folder;  ///< as the user named it
  std::int64_t resolution = 1024;
  std::array<std::int64_t, 2> views{7, 7};  ///< columns, rows
  Viewer viewer = viewer_of("viewer", default_viewer);
  DicePointsOptions points;
  bool grey = false;
  ImageWriteOptions writing;
  ConsoleOptions console;

  [[nodiscard]] double pitch_m() const;
  /// Eye position in the viewing window: 0 at its left and top side, 1 at the right and bottom side.
  [[nodiscard]] Eye eye(double right, double down) const;
  /// Distance between cameras, horizontal and vertical: the minimum for which the grid covers the window.
  [[nodiscard]] double camera_pitch_m() const;
  /// The camera of a view.
  [[nodiscard]] Eye camera(std::int64_t v, std::int64_t u) const;
};

/// Sides of the panel and of all pictures: Table 2.
inline constexpr double dice_panel_m = 18.4e-3;
/// Plane of the pixels of views and of ground-truth pictures: the bottom die's, in the middle of the scene, so that
/// views differ little.
inline constexpr double dice_plane_m = 9.1e-2;

/// Ground truth from five positions in the viewing window.
struct DiceTruth {
  const char* file;
  double right;
  double down;
};
inline constexpr std::array<DiceTruth, 5> dice_truths{{{"truth/middle.png", 0.5, 0.5},
                                                       {"truth/top_left.png", 0, 0},
                                                       {"truth/top_right.png", 1, 0},
                                                       {"truth/bottom_left.png", 0, 1},
                                                       {"truth/bottom_right.png", 1, 1}}};

/// Description of all files, with commands that use them. `near_m` and `far_m` are the range of depth.png.
nlohmann::json dice_story(const DiceJob& job, const DiceSceneOptions& scene, double near_m, double far_m);

}  // namespace holotone::cli
