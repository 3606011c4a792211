#include <CLI/CLI.hpp>
#include <array>
#include <cli/common/error_words.hpp>
#include <optional>
#include <string_view>

namespace holotone::cli {
namespace {

/// Which options feed an argument of the library; the first that was given is to blame. An argument without options
/// comes from the file.
struct Source {
  std::string_view function;
  std::string_view argument;  ///< or what it begins with
  std::array<std::string_view, 4> options;
};

constexpr Source sources[] = {
    {"PointCloudPlan", "wavelength_m", {"--rgb", "--wavelength"}},
    {"PointCloudPlan", "pitch_m", {"--pitch", "--panel"}},
    {"PointCloudPlan", "shape", {"--resolution", "--panel"}},
    {"PointCloudPlan", "tolerance", {"--tolerance"}},
    {"PointCloudPlan", "method", {"--method", "--wave"}},
    {"PointCloudPlan", "", {}},
    {"fresnel_deviation_rad", "", {}},
    {"EncodePlan", "grid", {"--resolution", "--panel"}},
    {"EncodePlan", "bits", {"--bits"}},
    {"EncodePlan", "level_phase_rad and phase_range_rad", {"--phase-range"}},
    {"EncodePlan", "level_phase_rad", {"--lut", "--bits", "--panel"}},
    {"EncodePlan", "phase_range_rad", {"--phase-range"}},
    {"EncodePlan", "reference_angle", {"--reference-angle"}},
    {"EncodePlan", "carrier", {"--carrier"}},
    {"EncodePlan", "correction_rad", {"--correction"}},
    {"EncodePlan", "amplitude_min", {"--amplitude-range"}},
    {"EncodePlan", "", {}},
    {"parse_encoding", "encoding", {"--encode"}},
    {"modulation_of", "bits", {"--bits"}},
    {"modulation_of", "codes", {"--bits", "--encode"}},
    {"modulation_of", "grid.pitch_m", {"--pitch"}},
    {"modulation_of", "grid.wavelength_m", {"--wavelength"}},
    {"modulation_of", "", {}},
    {"fourier_filter", "", {}},
    {"steering_angle_rad", "", {"--carrier"}},
    {"read_phase_lut", "", {}},
    {"random_phases", "", {}},
    {"hide_occluded", "cell_m", {"--hide-cell"}},
    {"visible_points", "cell_m", {"--hide-cell"}},
    {"visible_points", "", {}},
    {"unlit_points", "", {}},
    {"hide_occluded", "", {}},
    {"place", "size_m", {"--size"}},
    {"place", "distance_m", {"--distance"}},
    {"place", "", {}},
    {"turn", "angle_rad", {"--turn", "--spin"}},
    {"turn", "", {}},
    {"tilt", "angle_rad", {"--tilt"}},
    {"tilt", "", {}},
    {"shade", "direction", {"--light"}},
    {"shade", "", {}},
    {"select", "", {}},
    {"sample_surface", "count", {"--points"}},
    {"sample_surface", "", {}},
    {"vertices_of", "", {}},
    {"ReconstructionPlan", "aperture.distance_m", {"--viewer", "--aperture"}},
    {"ReconstructionPlan", "aperture", {"--aperture"}},
    {"ReconstructionPlan", "distance_m", {"--sweep", "--distance"}},
    {"ReconstructionPlan", "", {}},
    {"EyePlan", "pupil", {"--sweep-viewer", "--viewer"}},
    {"EyePlan", "focus_m, output_pitch_m", {"--output-pitch", "--picture-size", "--sweep", "--focus"}},
    {"EyePlan", "focus_m", {"--sweep", "--focus"}},
    {"EyePlan", "output_pitch_m", {"--output-pitch"}},
    {"EyePlan", "", {}},
    {"PropagationPlan", "distance_m", {"--sweep", "--distance"}},
    {"PropagationPlan", "", {}},
    {"FftPlan", "shape", {"--resolution", "--panel"}},
    {"FftPlan", "", {}},
    {"tone_map", "reference", {"--white"}},
    {"tone_map", "gamma", {"--gamma"}},
    {"tone_map", "", {}},
    {"contact_sheet", "tile_width", {"--tile-width"}},
    {"contact_sheet", "", {}},
    {"area_average", "", {"--tile-width"}},
    {"percentile", "", {}},
    {"write_image", "", {}},
    {"write_field", "", {}},
    {"write_points", "", {}},
    {"Array", "", {"--resolution", "--panel"}},
    {"ink_from_pixels", "gamma", {"--gamma"}},
    {"ink_from_pixels", "", {}},
    {"Separation", "black", {"--black"}},
    {"halftone", "dots", {"--dots", "--radius"}},
    {"ElectrostaticPlan", "tolerance", {"--tolerance"}},
    {"ElectrostaticPlan", "window_cutoff", {"--m"}},
    {"ElectrostaticPlan", "taylor_degree", {"--degree"}},
    {"ElectrostaticPlan", "maximum_dots", {"--dots", "--radius"}},
    {"ElectrostaticPlan", "queue", {"--device"}},
    {"ElectrostaticPlan", "", {}},
    {"classes_halftone", "within", {"--within"}},
    {"classes_halftone", "across", {"--across"}},
    {"classes_halftone", "", {}},
    {"capacity_voronoi_dots", "count", {"--dots", "--radius"}},
    {"capacity_voronoi_dots", "", {}},
    {"write_dots", "dpi", {"--dpi"}},
    {"write_dots", "", {}},
    {"viewing_zone_half_width_m", "", {}},
    {"SpectrumPlan", "largest_frequency", {"--segments", "--frequency"}},
    {"SpectrumPlan", "", {}},
    {"pair_correlation", "", {}},
    {"nearest_distances", "", {}},
    {"BlurredComparisonPlan", "sigma", {"--sigma"}},
    {"BlurredComparisonPlan", "margin", {"--margin"}},
    {"BlurredComparisonPlan", "", {"--against"}},
    {"read_dots", "threshold", {"--threshold"}},
    {"SmoeRenderer", "tolerance", {"--tolerance"}},
    {"SmoeRenderer", "window_px", {"--window"}},
    {"SmoeRenderer", "window_block_px", {"--window-block"}},
    {"SmoeRenderer", "view.size", {"--size"}},
    {"SmoeRenderer", "view.at", {"--view"}},
    {"SmoeRenderer", "view", {"--crop"}},
    {"SmoeRenderer", "", {}},
    {"encode_smoe_bytes", "most_bytes", {"--bytes"}},
    {"store_smoe", "most_bytes", {"--bytes"}},
    {"SmoeFitter", "components", {"--components"}},
    {"SmoeFitter", "start", {"--resume"}},
    {"SmoeFitter", "", {}},
    {"smoe_steps", "quality", {"--quality"}},
    {"encode_smoe", "steps", {"--quality"}},
    {"encode_smoe", "", {}},
    {"store_smoe", "", {}},
    {"StereogramPlan", "viewer", {"--viewer"}},
    {"StereogramPlan", "fringe_m", {"--fringe"}},
    {"StereogramPlan", "", {}},
    {"LayerPlan", "", {}},
    {"LayerViews", "", {}},
    {"slice_picture", "spacing", {"--layer-spacing"}},
    {"slice_picture", "picture", {"--size"}},
    {"slice_picture", "", {}},
    {"diffusion_weights", "taps", {"--weights"}},
    {"diffusion_weights", "hogels", {"--viewer"}},
    {"diffusion_weights", "", {}},
    {"ErrorDiffusionPlan", "bits", {"--bits"}},
    {"ErrorDiffusionPlan", "levels", {"--lut", "--bits"}},
    {"ErrorDiffusionPlan", "", {}},
};

/// A line of the library, taken apart: `[subject: ]function[::member]: argument: expected ...`.
struct Parts {
  std::string_view subject;  ///< the file that the command line put in front, if it did
  std::string_view argument;
  std::string_view rest;  ///< "expected ..."
  const Source* source = nullptr;
};

std::optional<Parts> taken_apart(std::string_view what) {
  for (const auto& source : sources) {
    for (auto at = what.find(source.function); at != std::string_view::npos; at = what.find(source.function, at + 1)) {
      const bool begins = at == 0 || (at >= 2 && what.substr(at - 2, 2) == ": ");
      auto end = at + source.function.size();
      if (what.substr(end, 2) == "::") end = what.find(": ", end + 2);
      if (!begins || end == std::string_view::npos || what.substr(end, 2) != ": ") continue;
      const auto argument = what.substr(end + 2);
      if (source.argument.empty() && argument.rfind("expected ", 0) == 0) {
        return Parts{what.substr(0, at), {}, argument, &source};
      }
      const auto stop = argument.find(": expected ");
      if (stop == std::string_view::npos || argument.substr(0, source.argument.size()) != source.argument) continue;
      return Parts{what.substr(0, at), argument.substr(0, stop), argument.substr(stop + 2), &source};
    }
  }
  return std::nullopt;
}

bool given(const CLI::App& command, std::string_view option) {
  const auto* known = command.get_option_no_throw(std::string(option));
  return known != nullptr && known->count() > 0;
}

/// The option to blame: the first that was given; of defaults the last, unless a file may be meant.
std::string_view blamed(const CLI::App& command, const Parts& parts) {
  std::string_view last;
  for (const auto option : parts.source->options) {
    if (option.empty() || command.get_option_no_throw(std::string(option)) == nullptr) continue;
    if (given(command, option)) return option;
    last = option;
  }
  return parts.subject.empty() ? last : std::string_view();
}

std::string input_of(const CLI::App& command) {
  for (const char* name : {"IN", "FILE"}) {
    const auto* option = command.get_option_no_throw(name);
    if (option != nullptr && option->count() > 0) return option->results().front() + ": ";
  }
  return {};
}

}  // namespace

std::string user_terms(const std::string& what, const CLI::App& command) {
  if (what.rfind("device: expected ", 0) == 0) return "--" + what;
  const auto parts = taken_apart(what);
  if (!parts) return what;
  const auto option = blamed(command, *parts);
  if (!option.empty()) return std::string(option) + ": " + std::string(parts->rest);
  const std::string subject = parts->subject.empty() ? input_of(command) : std::string(parts->subject);
  const std::string argument = parts->argument.empty() ? "" : std::string(parts->argument) + ": ";
  return subject + argument + std::string(parts->rest);
}

}  // namespace holotone::cli
