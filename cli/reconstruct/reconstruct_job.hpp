#pragma once
#include <array>
#include <cli/common/console.hpp>
#include <cli/common/hologram_file.hpp>
#include <cli/common/hologram_inputs.hpp>
#include <cli/common/paths.hpp>
#include <cli/options/option_table.hpp>
#include <holotone/core/device.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/optics/viewer.hpp>
#include <holotone/recipes/viewing/picture_maker.hpp>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace holotone::cli {

/// White as given: an intensity, or the rule for it.
using GivenWhite = std::variant<std::monostate, double, WhiteRule>;

/// Work of `holotone reconstruct`. The rows of its options set what is given; complete() checks it and sets the rest.
struct ReconstructJob {
  std::vector<std::string> names;  ///< of holograms, as typed
  HologramInputs holograms;        ///< their files
  std::string output;
  Typed<std::optional<FramePattern>> frame_names;  ///< of a sweep's pictures beside a contact sheet
  ViewingOptions viewing;
  std::vector<double> sweep_m;
  std::variant<std::monostate, double, Viewer> viewer;  ///< distance of the aperture, or an eye's pupil
  std::vector<std::array<double, 2>> places_m;          ///< of the eye
  PupilShape pupil_shape = PupilShape::rectangle;
  PictureTones tones;
  GivenWhite white;
  std::string against;                            ///< picture with which the light is compared; empty: none
  std::optional<SignalRegion> region;             ///< of the picture compared with; none: as the file states
  Typed<std::optional<FramePattern>> difference;  ///< difference picture of one, or names of several
  std::int64_t tile_width = 480;
  std::string device_name = "auto";
  std::vector<Device> devices;  ///< several for an eye of several frames only
  bool any_distance = false;    ///< further distances follow
  HologramOverrides overrides;
  ImageWriteOptions writing;
  ConsoleOptions console;

  std::string sheet;                   ///< one picture or a contact sheet; empty: frames alone
  std::optional<FramePattern> frames;  ///< set by complete()

  /// True if each hologram yields more than one picture.
  [[nodiscard]] bool is_sweep() const { return !sweep_m.empty() || !places_m.empty(); }
  [[nodiscard]] std::string difference_name(std::int64_t number) const {
    return difference.value ? difference.value->name(number) : difference.text;
  }
  [[nodiscard]] bool has_contact_sheet() const { return !sheet.empty() && is_sweep(); }
  [[nodiscard]] bool has_eye() const { return std::holds_alternative<Viewer>(viewer) && !viewing.aperture; }
};

std::vector<OptionGroup> reconstruct_options(ReconstructJob& job);

/// Finds files and devices, and checks what light is seen, and how. Throws invalid_argument or io naming the option.
void complete_light(ReconstructJob& job);

/// The same with the outputs.
void complete(ReconstructJob& job);

/// Opens the holograms of a completed job. Throws as holotone::open_hologram, with words about options.
std::unique_ptr<HologramView> open_holograms(const ReconstructJob& job);

}  // namespace holotone::cli
