#pragma once
#include <cli/common/console.hpp>
#include <cli/common/ink_source.hpp>
#include <cli/common/paths.hpp>
#include <cstdint>
#include <holotone/core/device.hpp>
#include <holotone/halftone/ink.hpp>
#include <holotone/recipes/halftone.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

/// Page length as typed: in the picture's pixels or, with a unit, in metres.
struct PageLength {
  double value = 0;
  bool metres = false;
};

/// Radii as typed: the smallest and the largest.
struct PageRadii {
  PageLength low;
  PageLength high;
};

/// A halftoning job. The command's options are bound to its members.
struct HalftoneJob {
  std::vector<std::string> inputs;  ///< one picture, or one for each ink
  std::string output;
  HalftoneOptions options;  ///< without what the page says: radius_px, pixel_m
  InkSource ink;
  std::optional<PageRadii> radius;            ///< none: the radius at which the dots hold the picture's ink
  std::optional<std::int64_t> iterations;     ///< none: those of the method
  Typed<std::optional<FramePattern>> frames;  ///< folder or names with a counter
  std::optional<FramePattern> frame_names;    ///< of `frames`
  std::int64_t frame_interval = 10;
  double size_m = 0;  ///< longer side of the page; 0: not given
  double dpi = 0;
  double black = 1;
  std::string device_name = "auto";
  Device device;
  ConsoleOptions console;
  bool one_bit = false;
  bool cmyk = false;
  std::optional<int> compression;  ///< none: that of DotsWriteOptions
  GivenOptions given;

  /// FourInks::apart of the method's dots.
  [[nodiscard]] double apart() const {
    return by_forces() ? apart_of(options.weights.within, options.weights.across) : 0;
  }
  [[nodiscard]] bool by_forces() const {
    return options.method == HalftoneMethod::electrostatic || options.method == HalftoneMethod::direct;
  }
  [[nodiscard]] bool several_inks() const { return cmyk || inputs.size() > 1; }
};

/// Options of the command, bound to the job.
std::vector<OptionGroup> halftone_options(HalftoneJob& job);

/// Checks what options and files say together, and chooses the device. Allocates nothing large. Throws invalid_argument
/// or io naming the option.
void complete(HalftoneJob& job);

}  // namespace holotone::cli
