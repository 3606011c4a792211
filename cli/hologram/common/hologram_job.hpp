#pragma once
#include <cli/common/console.hpp>
#include <cli/common/panel_options.hpp>
#include <cli/common/points_options.hpp>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/device.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <holotone/optics/panel.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

/// What follows `holotone hologram`, as typed.
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
  bool no_band_limit = false;
  bool packed16 = false;
};

/// One hologram of the one or three that a frame gives.
struct Channel {
  std::string name;  ///< "r", "g", "b"; empty without --rgb
  int colour = -1;   ///< which of the vertex colour's components is the amplitude; -1: none, the amplitude itself
  double wavelength_m = 0;
};

/// What is to be done, checked: everything that can be refused before a file is read has been.
struct HologramJob {
  std::string input;
  std::string output;
  Panel panel;
  SceneOptions scene;
  ConsoleOptions console;
  Device device;
  std::vector<Channel> channels;
  PointCloudOptions sum;  ///< wavelength_m: the channel's is put in its place; all have one cone
  bool complex_field = false;
  EncodeOptions encode;  ///< carrier and correction: see encode_options
  std::string carrier;
  std::string correction;
  std::string lut;
  std::string phase_range;
  std::string reference_angle;
  Array<float, 2> correction_rad;
  bool packed16 = false;
  std::int64_t rows_at_once = 0;  ///< of bands that are summed and written one after the other; 0: the whole panel
  std::int64_t spin_frames = 0;
  double spin_rad = 0;

  /// The sum's and the encoding's options for a channel.
  [[nodiscard]] PointCloudOptions sum_options(const Channel& channel) const;
  [[nodiscard]] EncodeOptions encode_options(const Channel& channel) const;
  [[nodiscard]] FieldGrid grid(const Channel& channel) const;
};

/// Without rows_at_once, and without asking for memory. Throws invalid_argument or io naming the option.
HologramJob hologram_job(const HologramArguments& arguments);

/// What --wavelength or --rgb say.
std::vector<Channel> channels_of(const HologramArguments& arguments);

/// The exact sum's method and wave by the names the command line takes.
PointMethod parse_method(const std::string& text);
Wave parse_wave(const std::string& text);

}  // namespace holotone::cli
