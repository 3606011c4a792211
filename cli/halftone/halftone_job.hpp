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

inline constexpr Range dots_range = count_range(1, most_dots);
inline constexpr Range iterations_range = count_range(1, 1'000'000);
inline constexpr Range shake_range = number_range(0, 100);
inline constexpr Range tolerance_range = number_range(1e-5, 0.1);
inline constexpr Range cutoff_range = count_range(2, 5);
inline constexpr Range degree_range = count_range(2, 12);
inline constexpr Range weight_range = number_range(0, 1000);
inline constexpr Range page_range = length_range(1e-6, 1000);
inline constexpr Range dpi_range = number_range(1, 100'000);

/// Arguments of `holotone halftone`, as typed.
struct HalftoneArguments {
  std::vector<std::string> inputs;
  std::string output;
  std::string dots;
  std::string method = "electrostatic";
  std::string start;
  std::string split;
  std::string cutoff;
  std::string degree;
  std::string near;
  std::string tolerance;
  std::string iterations;
  std::string descent;
  std::string shake;
  std::string seed;
  bool deterministic = false;
  InkArguments ink;
  std::string radius;
  std::string size;
  std::string dpi;
  bool one_bit = false;
  std::string colour;
  std::string black;
  std::string within;
  std::string across;
  std::string order = "none";
  std::string frames;
  std::string frame_interval;
  std::string device = "auto";
  std::string compression = "auto";
  GivenOptions given;
  ConsoleOptions console;
};

/// Page length as typed: in the picture's pixels or, with a unit, in metres.
struct PageLength {
  double value = 0;
  bool metres = false;
};

/// A halftoning job, validated as far as possible before files are read.
struct HalftoneJob {
  std::vector<std::string> inputs;  ///< one picture, or one for each ink
  std::string output;
  ElectrostaticOptions forces;
  DescentOptions descent;
  InkSource ink;
  ClassWeights weights;
  std::optional<FramePattern> frames;
  std::optional<std::int64_t> dots;       ///< none: from the ink
  std::optional<PageLength> radius_low;   ///< none: the radius at which the dots hold the picture's ink
  std::optional<PageLength> radius_high;  ///< as radius_low unless sizes vary
  std::int64_t iterations = 0;            ///< of lloyd and ccvt; 0: until they converge
  std::uint64_t seed = 0;
  double size_m = 0;  ///< longer side of the page; 0: not given
  double dpi = 0;
  double black = 1;
  HalftoneMethod method = HalftoneMethod::electrostatic;
  DotStart start = DotStart::importance;
  Device device;
  ConsoleOptions console;
  bool one_bit = false;
  bool gamma_given = false;
  bool cmyk = false;
  bool tour = false;
  std::optional<int> compression;  ///< none: that of DotsWriteOptions

  /// FourInks::apart of the method's dots.
  [[nodiscard]] double apart() const { return by_forces() ? apart_of(weights.within, weights.across) : 0; }
  [[nodiscard]] bool by_forces() const {
    return method == HalftoneMethod::electrostatic || method == HalftoneMethod::direct;
  }
};

/// Allocates nothing large. Throws invalid_argument or io naming the option.
HalftoneJob halftone_job(const HalftoneArguments& arguments);

}  // namespace holotone::cli
