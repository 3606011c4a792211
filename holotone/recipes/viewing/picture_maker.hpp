#pragma once
// Not for users. Files' pictures of what a view computes: tones, values and metadata.
#include <holotone/core/metadata.hpp>
#include <holotone/recipes/viewing/hologram_view.hpp>
#include <optional>
#include <string>

namespace holotone {

/// What pictures show of the light in focus; the spectrum is that of the light at the panel.
enum class ShownLight { intensity, amplitude, phase, spectrum };
template <>
inline constexpr auto enum_names<ShownLight> = std::array{
    EnumName<ShownLight>{ShownLight::intensity, "intensity"}, EnumName<ShownLight>{ShownLight::amplitude, "amplitude"},
    EnumName<ShownLight>{ShownLight::phase, "phase"}, EnumName<ShownLight>{ShownLight::spectrum, "spectrum"}};

struct PictureTones {
  ShownLight show = ShownLight::intensity;
  std::optional<double> white{};  ///< linear intensity shown as white; none: from the rule
  WhiteRule white_rule = WhiteRule::percentile;
  double gamma = 1;
  std::optional<double> decades{};  ///< of a logarithmic tone curve
  bool linear = false;              ///< float32 values instead of the tone curve
};

template <>
inline constexpr Bounds bounds_of<&PictureTones::white>{1e-30, 1e30};
template <>
inline constexpr Bounds bounds_of<&PictureTones::gamma>{0.01, 100};
template <>
inline constexpr Bounds bounds_of<&PictureTones::decades>{0.1, 40};

/// Formula of the tones, as pictures state it.
std::string tone_curve(const PictureTones& tones);

/// Makes pictures of what a view computes.
class PictureMaker {
 public:
  /// The view must outlive the maker. Throws invalid_argument for a gamma or decades out of bounds.
  PictureMaker(const PictureTones& tones, HologramView& view);

  /// Values that are shown, focused at a distance: intensities, or the phase in turns.
  LightPicture values(double distance_m, std::size_t frame, Progress& progress);

  /// Intensity that the rule shows as white.
  [[nodiscard]] double white_of(const LightPicture& values) const;

  /// Pixels under the tones, or as float32, with metadata.
  Image image(const LightPicture& values, double white, double distance_m, std::size_t frame);

  /// What every picture states.
  [[nodiscard]] Metadata source_metadata() const;
  [[nodiscard]] Metadata make_metadata(double white, std::size_t frame) const;

  /// Tone curve with this intensity as white.
  [[nodiscard]] ToneOptions tone(double white) const;

  /// An intensity of linear pictures outside the range of float32; 0: none.
  [[nodiscard]] double beyond_float() const { return beyond_float_; }

 private:
  [[nodiscard]] float in_units(double intensity) const;
  void take_units_out(Image& image);

  PictureTones tones_;
  HologramView& view_;
  double beyond_float_ = 0;
};

}  // namespace holotone
