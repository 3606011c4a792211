#pragma once
#include <array>
#include <cli/common/console.hpp>
#include <cli/common/monitor_output.hpp>
#include <cli/common/points_options.hpp>
#include <cli/options/panel_options.hpp>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/device.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/hologram/phase_lut.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/optics/panel.hpp>
#include <holotone/optics/row_range.hpp>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

/// One of the one or three holograms of a frame.
struct Channel {
  std::string name;  ///< "r", "g", "b"; empty without --rgb
  int colour = -1;   ///< component of the vertex colour used as amplitude; -1: none, the amplitude itself
  double wavelength_m = 0;
};

/// Encoding that is asked for.
struct EncodingChoice {
  bool given = false;                ///< otherwise by the output's name and the panel
  std::optional<Encoding> encoding;  ///< none: the complex field

  bool operator==(const EncodingChoice&) const = default;
};

/// Turntable animation.
struct Spin {
  double angle_rad = 0;  ///< over all frames
  std::int64_t frames = 0;
};

/// Job of `holotone hologram`, and the panel, light and codes of `optimize` and `panel`. Options are bound to its
/// members; `complete` sets those below.
struct HologramJob {
  std::string input;
  std::string output;
  PanelChoice panel_choice;
  SceneOptions scene;
  ConsoleOptions console;
  std::string device_name = "auto";
  std::optional<double> wavelength_m;          ///< none: default_wavelength_m
  std::optional<std::array<double, 3>> rgb_m;  ///< wavelengths of three colours instead
  PointCloudOptions sum;                       ///< wavelength_m: replaced by the channel's; all have one cone
  EncodingChoice encoding;
  std::optional<int> bits;  ///< none: the panel's
  std::string lut;          ///< file of measured phases
  PhaseUnit lut_unit = PhaseUnit::automatic;
  Typed<double> phase_range_rad;
  std::optional<std::array<double, 2>> amplitude_range;
  Typed<std::array<double, 2>> reference_angle_rad;
  std::string carrier;     ///< angles, or periods whose angles depend on the wavelength
  std::string correction;  ///< file of a wavefront map
  bool packed16 = false;
  Spin spin;
  std::optional<std::int64_t> band_rows;     ///< rows of a band; none: by the memory
  Typed<std::array<std::int64_t, 2>> block;  ///< part of the bands, and number of parts
  bool scale_codes = false;                  ///< codes are written from black to white
  ImageWriteOptions writing;
  MonitorOutputOptions showing;
  GivenOptions given;

  Panel panel;
  Device device;                ///< the first of `devices`
  std::vector<Device> devices;  ///< several only for a field that is written by bands
  std::vector<Channel> channels;
  bool complex_field = false;
  EncodeOptions encode;  ///< carrier and correction: see encode_options
  Array<float, 2> correction_rad;
  std::shared_ptr<MonitorOutput> shown;  ///< what --output names, if it is a monitor
  RowRange rows;                         ///< of a field that is made in parts: those of this run; 0 rows: all
  std::int64_t rows_at_once = 0;         ///< rows of a band; bands are summed and written in turn; 0: the whole panel

  /// The sum's and the encoding's options for a channel.
  [[nodiscard]] PointCloudOptions sum_options(const Channel& channel) const;
  [[nodiscard]] EncodeOptions encode_options(const Channel& channel) const;
  [[nodiscard]] FieldGrid grid(const Channel& channel) const;
};

inline constexpr double default_wavelength_m = PointCloudOptions{}.wavelength_m;

/// Sets the members that follow from the options, but for rows_at_once and rows; does not check the memory. Throws
/// invalid_argument or io naming the option.
void complete(HologramJob& job);

/// Channels of --wavelength or --rgb.
std::vector<Channel> channels_of(const HologramJob& job);

/// --wavelength and --rgb.
std::vector<OptionRow> wavelength_options(HologramJob& job);
/// Warnings of wavelengths and of a table of phases whose unit is probably another one.
std::vector<std::string> unit_warnings(const HologramJob& job);
/// --encode; `only`: the encodings to choose from, all with the complex field if empty.
OptionRow encoding_option(HologramJob& job, std::initializer_list<Encoding> only = {});
OptionRow bits_option(HologramJob& job);
/// An option of some encodings alone, none of them the complex field.
Applies for_encodings(const HologramJob& job, std::string_view expected,
                      const std::function<bool(const EncodingTraits&)>& suits);
/// --lut, --phase-range, --carrier, --correction and --packed16: codes of a phase modulator.
std::vector<OptionRow> phase_code_options(HologramJob& job);

}  // namespace holotone::cli
