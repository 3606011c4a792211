#include <algorithm>
#include <bit>
#include <cli/common/compression_option.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/hologram_job.hpp>
#include <cli/common/hologram_overrides.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/recipes/phase_map.hpp>

namespace holotone::cli {
namespace {

constexpr std::string_view code_extensions[] = {".png", ".tif", ".tiff", ".bmp"};
constexpr std::string_view field_extensions[] = {".h5", ".hdf5", ".npy", ".ohc"};

template <std::size_t N>
bool is_one_of(std::string_view text, const std::string_view (&known)[N]) {
  return std::find(std::begin(known), std::end(known), text) != std::end(known);
}

/// Chosen encoding; nullopt for the complex field.
std::optional<Encoding> chosen_encoding(const HologramArguments& arguments, const Panel& panel) {
  using Named = Choice<std::optional<Encoding>>;
  static constexpr Named names[] = {{"phase", Encoding::phase},
                                    {"amplitude", Encoding::amplitude},
                                    {"complex", std::nullopt},
                                    {"double-phase", Encoding::double_phase},
                                    {"single-sideband", Encoding::single_sideband},
                                    {"burckhardt", Encoding::burckhardt}};
  if (!arguments.encoding.empty()) return choose("--encode", arguments.encoding, names);
  if (is_one_of(extension_of(arguments.output), field_extensions)) return std::nullopt;
  return panel.modulation == Modulation::phase ? Encoding::phase : Encoding::amplitude;
}

/// Throws for an unsuitable extension. `asked`: value of --encode, or empty.
void check_extension(const std::string& output, bool complex_field, const std::string& asked) {
  if (names_monitor(output)) {
    if (complex_field) reject("--encode", "an encoding for a modulator on a monitor", "complex");
    return;
  }
  const auto extension = extension_of(output);
  constexpr std::string_view codes = ".png, .tif, .tiff or .bmp for modulator codes";
  constexpr std::string_view field = ".h5, .hdf5, .npy or .ohc for the complex field";
  if (complex_field && !is_one_of(extension, field_extensions)) {
    reject("--output", fmt::format("a name ending in {}", field), output);
  }
  if (!complex_field && !is_one_of(extension, code_extensions)) {
    // Without --encode the name alone decides, so both kinds are open.
    reject("--output",
           asked.empty() ? fmt::format("a name ending in {}, or in {}", codes, field)
                         : fmt::format("a name ending in .png, .tif, .tiff or .bmp for --encode {}", asked),
           output);
  }
}

/// Sets the number of bits of a code and the phases of the codes.
void set_levels(HologramJob& job, const HologramArguments& arguments) {
  auto& encode = job.encode;
  const bool phase = needs_phase_modulator(encode.encoding);
  encode.bits = job.packed16 ? 16 : job.panel.bits;
  if (!arguments.lut.empty()) {
    encode.level_phase_rad = phase_table(arguments.lut);
    const auto last = static_cast<unsigned>(encode.level_phase_rad.size() - 1);
    if (!job.packed16) encode.bits = std::clamp(static_cast<int>(std::bit_width(last)), 2, 16);
  }
  if (!arguments.bits.empty())
    encode.bits = static_cast<int>(whole_number("--bits", arguments.bits, phase ? 2 : 1, 16));
  if (!arguments.phase_range.empty()) {
    encode.phase_range_rad = parse_angle("--phase-range", arguments.phase_range);
    if (!(encode.phase_range_rad >= least_phase_range_rad && encode.phase_range_rad <= most_phase_rad)) {
      reject("--phase-range", fmt::format("an angle from {:g} to {:g} rad", least_phase_range_rad, most_phase_rad),
             arguments.phase_range);
    }
  } else if (phase && arguments.lut.empty() && encode.bits == job.panel.bits) {
    encode.level_phase_rad = job.panel.level_phase_rad;
  }
  if (encode.level_phase_rad.size() > std::size_t{1} << encode.bits) {
    reject("--bits", fmt::format("enough for the {} codes of {}", encode.level_phase_rad.size(), arguments.lut),
           std::to_string(encode.bits));
  }
}

void set_amplitude_range(EncodeOptions& encode, const std::string& text) {
  const auto [low, high] = rising_pair("--amplitude-range", text);
  encode.amplitude_min = static_cast<float>(low);
  encode.amplitude_max = static_cast<float>(high);
}

/// Option that applies to some encodings only.
struct Dependent {
  std::string_view option;
  const std::string& text;
  bool applies;
  std::string_view expected;
};

/// Throws for options that the encoding does not use.
void refuse_unused(const HologramArguments& arguments, std::optional<Encoding> encoding) {
  const bool phase = encoding && needs_phase_modulator(*encoding);
  const std::string packed = arguments.packed16 ? "--packed16" : "";
  const Dependent known[] = {
      {"--bits", arguments.bits, encoding.has_value(), "an encoding for a modulator"},
      {"--lut", arguments.lut, phase, "a phase encoding"},
      {"--phase-range", arguments.phase_range, phase && arguments.lut.empty(), "a phase encoding without --lut"},
      {"--carrier", arguments.carrier, phase, "a phase encoding"},
      {"--correction", arguments.correction, phase, "a phase encoding"},
      {"--packed16", packed, phase, "a phase encoding"},
      {"--amplitude-range", arguments.amplitude_range, encoding && *encoding != Encoding::phase,
       "an encoding that has amplitudes"},
      {"--reference-angle", arguments.reference_angle, encoding == Encoding::amplitude, "--encode amplitude"}};
  for (const auto& dependent : known) {
    if (!dependent.text.empty() && !dependent.applies) {
      reject(dependent.option, dependent.expected, encoding ? to_string(*encoding) : "complex");
    }
  }
}

/// Mirrors have a fixed number of states; the bits of a liquid crystal panel depend on its cable.
void check_panel(const HologramJob& job, const HologramArguments& arguments) {
  const Panel& panel = job.panel;
  if (panel.name == "custom") return;
  constexpr std::string_view other = "; --resolution and --pitch instead of --panel describe a panel without a preset";
  const bool on_off = panel.modulation == Modulation::amplitude;
  if (on_off && needs_phase_modulator(job.encode.encoding)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("--encode: expected amplitude, single-sideband or burckhardt for {}, whose mirrors are on or "
                    "off, got '{}'{}",
                    panel.name, to_string(job.encode.encoding), other));
  }
  if (!(on_off || !panel.level_phase_rad.empty()) || job.encode.bits <= panel.bits) return;
  const std::string_view option = !arguments.bits.empty() ? "--bits" : job.packed16 ? "--packed16" : "--lut";
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: expected at most {} for {}, whose mirrors have {} states, got {}{}", option,
                          counted(panel.bits, "bit"), panel.name, 1 << panel.bits, job.encode.bits, other));
}

void set_encoding(HologramJob& job, const HologramArguments& arguments) {
  const auto encoding = chosen_encoding(arguments, job.panel);
  job.complex_field = !encoding.has_value();
  check_extension(job.output, job.complex_field, arguments.encoding);
  refuse_unused(arguments, encoding);
  if (!encoding) return;
  job.encode.encoding = *encoding;
  job.packed16 = arguments.packed16;
  job.lut = arguments.lut;
  job.phase_range = arguments.phase_range;
  job.reference_angle = arguments.reference_angle;
  if (!arguments.amplitude_range.empty()) set_amplitude_range(job.encode, arguments.amplitude_range);
  if (!arguments.reference_angle.empty()) {
    const auto [x, y] = angle_pair("--reference-angle", arguments.reference_angle);
    job.encode.reference_angle_x_rad = x;
    job.encode.reference_angle_y_rad = y;
  }
  job.encode.bits = job.panel.bits;
  check_panel(job, arguments);  // before set_levels: an on/off panel has too few bits for a phase
  set_levels(job, arguments);
  check_panel(job, arguments);
  if (names_monitor(job.output) && (job.encode.bits > 8 || job.packed16)) {
    reject(job.packed16 ? "--packed16" : "--bits",
           "at most 8 bits on a monitor; `holotone display` shows files of more", std::to_string(job.encode.bits));
  }
  if (job.encode.bits > 8 && !job.packed16 && extension_of(job.output) == ".bmp") {
    reject("--output", "a name ending in .png, .tif or .tiff for codes of more than 8 bits", job.output);
  }
}

void set_spin(HologramJob& job, const std::string& text) {
  if (text.empty()) return;
  constexpr std::string_view expected = "an angle and a number of frames such as 360deg:120";
  const auto colon = text.find(':');
  if (colon == std::string::npos) reject("--spin", expected, text);
  job.spin_rad = parse_angle("--spin", text.substr(0, colon));
  job.spin_frames = whole_number("--spin", text.substr(colon + 1), 1, 1'000'000);
}

void check_wave(const HologramJob& job) {
  if (job.sum.wave == Wave::spherical && job.sum.method != PointMethod::automatic &&
      job.sum.method != PointMethod::direct) {
    reject("--wave", "fresnel for the methods other than direct", "spherical");
  }
}

}  // namespace

std::vector<Channel> channels_of(const HologramArguments& arguments) {
  if (arguments.rgb.empty()) return {{"", -1, wavelength_of("--wavelength", arguments.wavelength)}};
  constexpr std::string_view expected = "three wavelengths such as 638nm,520nm,450nm";
  const auto pieces = list("--rgb", arguments.rgb, expected);
  if (pieces.size() != 3) reject("--rgb", expected, arguments.rgb);
  const auto channel = [&](const char* name, std::size_t i) {
    return Channel{name, static_cast<int>(i), wavelength_of("--rgb", pieces[i])};
  };
  return {channel("r", 0), channel("g", 1), channel("b", 2)};
}

PointMethod parse_method(const std::string& text) {
  static constexpr Choice<PointMethod> names[] = {{"auto", PointMethod::automatic},
                                                  {"direct", PointMethod::direct},
                                                  {"recurrence", PointMethod::recurrence},
                                                  {"separable", PointMethod::separable},
                                                  {"fast", PointMethod::fast}};
  return choose("--method", text, names);
}

Wave parse_wave(const std::string& text) {
  static constexpr Choice<Wave> names[] = {{"fresnel", Wave::fresnel}, {"spherical", Wave::spherical}};
  return choose("--wave", text, names);
}

PointCloudOptions HologramJob::sum_options(const Channel& channel) const {
  PointCloudOptions options = sum;
  options.wavelength_m = channel.wavelength_m;
  return options;
}

FieldGrid HologramJob::grid(const Channel& channel) const {
  return {panel.nx, panel.ny, panel.pitch_m, channel.wavelength_m};
}

EncodeOptions HologramJob::encode_options(const Channel& channel) const {
  EncodeOptions options = encode;
  if (!carrier.empty()) {
    const auto [x, y] = grating_pair("--carrier", carrier, channel.wavelength_m, panel.pitch_m);
    options.carrier_x_rad = x;
    options.carrier_y_rad = y;
  }
  options.correction_rad = correction_rad.view();
  return options;
}

HologramJob hologram_job(const HologramArguments& arguments) {
  HologramJob job;
  job.input = arguments.input;
  job.output = arguments.output;
  job.console = arguments.console;
  job.writing.compression = compression_of(arguments.compression);
  job.panel = chosen_panel(arguments.panel);
  job.scene = scene_options(arguments.scene);
  job.channels = channels_of(arguments);
  job.sum.pitch_m = job.panel.pitch_m;
  job.sum.shape = {job.panel.ny, job.panel.nx};
  job.sum.method = parse_method(arguments.method);
  job.sum.wave = parse_wave(arguments.wave);
  job.sum.tolerance = positive_number("--tolerance", arguments.tolerance);
  job.sum.band_limit = !arguments.no_band_limit;
  job.sum.deterministic = arguments.deterministic;
  // One cone for all colours: a point that lit fewer pixels in blue than in red would be tinted, most near the middle.
  job.sum.cone_wavelength_m = std::ranges::min(job.channels, {}, &Channel::wavelength_m).wavelength_m;
  check_wave(job);
  set_encoding(job, arguments);
  set_spin(job, arguments.spin);
  const bool summed = job.sum.method == PointMethod::separable || job.sum.method == PointMethod::fast;
  job.devices =
      devices_option(arguments.device, arguments.console,
                     summed ? "points to field: `separable`, `fast`" : "points to field: `direct`, `recurrence`");
  job.device = job.devices.front();
  job.carrier = arguments.carrier;
  for (const auto& channel : job.channels) (void)job.encode_options(channel);  // a bad --carrier is refused here
  if (!arguments.correction.empty()) {
    job.correction = arguments.correction;
    require_input(arguments.correction);
    job.correction_rad = read_correction(arguments.correction, {job.panel.ny, job.panel.nx});
  }
  if (names_monitor(job.output)) {
    job.shown = std::make_shared<PanelOutput>(job.output, job.panel, arguments.shown);
  } else {
    refuse_panel_output_options(arguments.shown);
  }
  return job;
}

}  // namespace holotone::cli
