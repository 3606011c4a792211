#pragma once
#include <cli/common/console.hpp>
#include <cli/common/panel_options.hpp>
#include <cli/common/panel_output.hpp>
#include <cli/common/points_options.hpp>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/device.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/optics/panel.hpp>
#include <holotone/optics/row_range.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

/// Arguments of `holotone hologram`, as typed.
struct HologramArguments {
  std::string input;
  std::string output;
  PanelArguments panel;
  SceneArguments scene;
  ConsoleOptions console;
  std::string wavelength = "532nm";
  std::string method = "auto";
  std::string wave = "fresnel";
  std::string tolerance = "1e-3";
  std::string device = "auto";
  std::string encoding;
  std::string bits;
  std::string lut;
  std::string phase_range;
  std::string amplitude_range;
  std::string reference_angle;
  std::string carrier;
  std::string correction;
  std::string rgb;
  std::string spin;
  std::string rows_at_once;
  std::string block;
  std::string compression = "auto";
  bool no_band_limit = false;
  bool deterministic = false;
  bool packed16 = false;
  PanelOutputArguments shown;
};

/// One of the one or three holograms of a frame.
struct Channel {
  std::string name;  ///< "r", "g", "b"; empty without --rgb
  int colour = -1;   ///< component of the vertex colour used as amplitude; -1: none, the amplitude itself
  double wavelength_m = 0;
};

/// Job of `holotone hologram`, checked as far as possible before the input is read.
struct HologramJob {
  std::string input;
  std::string output;
  Panel panel;
  SceneOptions scene;
  ConsoleOptions console;
  Device device;                ///< the first of `devices`
  std::vector<Device> devices;  ///< several only for a field that is written by bands
  std::vector<Channel> channels;
  PointCloudOptions sum;  ///< wavelength_m: replaced by the channel's; all have one cone
  bool complex_field = false;
  EncodeOptions encode;  ///< carrier and correction: see encode_options
  std::string carrier;
  std::string correction;
  std::string lut;
  std::string phase_range;
  std::string reference_angle;
  Array<float, 2> correction_rad;
  bool packed16 = false;
  ImageWriteOptions writing;
  std::shared_ptr<PanelOutput> shown;  ///< what --output names, if it is a monitor
  RowRange rows;                       ///< of a field that is made in parts: those of this run; 0 rows: all
  std::int64_t rows_at_once = 0;       ///< rows of a band; bands are summed and written in turn; 0: the whole panel
  std::int64_t spin_frames = 0;
  double spin_rad = 0;

  /// The sum's and the encoding's options for a channel.
  [[nodiscard]] PointCloudOptions sum_options(const Channel& channel) const;
  [[nodiscard]] EncodeOptions encode_options(const Channel& channel) const;
  [[nodiscard]] FieldGrid grid(const Channel& channel) const;
};

/// Job without rows_at_once; does not check the memory. Throws invalid_argument or io naming the option.
HologramJob hologram_job(const HologramArguments& arguments);

/// Channels of --wavelength or --rgb.
std::vector<Channel> channels_of(const HologramArguments& arguments);

/// Method and wave of the sum by their names on the command line.
PointMethod parse_method(const std::string& text);
Wave parse_wave(const std::string& text);

}  // namespace holotone::cli
