#pragma once
#include <cli/hologram/layers/layers_options.hpp>
#include <holotone/hologram/stereogram.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

/// --views and the options of hogels.
std::vector<OptionRow> stereogram_options(SceneJob& scene);

/// Job of a stereogram, checked as far as possible before a file is read.
struct StereogramJob {
  std::string views;                      ///< names of the views, or the picture
  std::optional<PlacedPicture> picture;   ///< instead of views
  std::string depths;                     ///< depth maps of the views; empty: all at the focus plane's distance
  bool model = false;                     ///< `views` is a mixture of experts
  ViewRows rows = ViewRows::by_parallax;  ///< direction in which %v counts
  std::optional<ViewsGrid> views_grid;    ///< of views that %u alone counts, or of tiles
  std::string output;
  Panel panel;
  std::vector<Channel> channels;
  StereogramOptions options;  ///< grid.wavelength_m: replaced by the channel's
  bool hogel_given = false;   ///< otherwise hogel_px = hogel_for(nearest distance)
  ViewGeometry geometry;
  std::optional<ErrorDiffusionOptions> codes;  ///< writes codes of these levels and this scale instead of the field
  std::shared_ptr<MonitorOutput> shown;        ///< what --output names, if it is a monitor
  const HologramJob* encoding = nullptr;       ///< of the whole field for a monitor, without `codes`
  ImageWriteOptions writing;
  Device device;                ///< the first of `devices`
  std::vector<Device> devices;  ///< several only for a file that is written by rows in any order
  ConsoleOptions console;

  /// True if the output is written by bands of rows in any order.
  [[nodiscard]] bool writes_rows() const;
  [[nodiscard]] StereogramOptions options_for(const Channel& channel) const;
  /// See suited_hogel_px.
  [[nodiscard]] std::int64_t hogel_for(double nearest_m) const;
  [[nodiscard]] std::string output_of(const Channel& channel) const;
};

/// Throws invalid_argument or io naming the option.
StereogramJob stereogram_job(SceneJob& scene);

}  // namespace holotone::cli
