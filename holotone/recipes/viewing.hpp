#pragma once
#include <array>
#include <cmath>
#include <holotone/core/array.hpp>
#include <holotone/core/bounds.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/metrics/light_comparison.hpp>
#include <holotone/optics/eye.hpp>
#include <holotone/optics/half_pixel.hpp>
#include <holotone/optics/reconstruction.hpp>
#include <holotone/retrieval/phase_retrieval.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What a camera or an eye sees of hologram files: in a plane, in the focal plane of a lens, or through an eye's pupil;
// of one hologram, of three as colours, or of subframes shown in turn.
namespace holotone {

/// Rule for the intensity of white.
enum class WhiteRule {
  percentile,          ///< default_reference: the 99.9th percentile
  mean_and_deviation,  ///< mean_plus_deviation, as for reconstructions through an eye's pupil
};
template <>
inline constexpr auto enum_names<WhiteRule> =
    std::array{EnumName<WhiteRule>{WhiteRule::percentile, "percentile"},
               EnumName<WhiteRule>{WhiteRule::mean_and_deviation, "mean+deviation"}};

struct ViewingOptions {
  /// Distances of the focus behind the panel, < 0 in front: one for all pictures, or one a picture. Behind a lens
  /// beyond its focal plane. Empty: the distance that the first file states.
  std::vector<double> distances_m{};
  PropagationMethod method = PropagationMethod::automatic;  ///< in a plane
  std::optional<Aperture> aperture{};                       ///< paraxial pupil in front of a plane
  /// Pupils of an eye (EyePlan): one for all pictures, or one a picture, such as positions on a line. Empty: no eye.
  std::vector<EyePupil> pupils{};
  /// Pixel pitch of an eye's pictures; 0: the panel's, or a multiple for at most 2048 pixels a side.
  double output_pitch_m = 0;
  /// Width and height of an eye's pictures; {0, 0}: the panel's.
  std::array<double, 2> picture_size_m{};
  /// Metadata that replace or complete those of every file, as of HologramReadOptions.
  Metadata overrides{};
};

template <>
inline constexpr Bounds bounds_of<&ViewingOptions::output_pitch_m>{1e-9, 1};

/// Pictures of a hologram in linear light, and how they were made.
struct Viewing {
  /// Intensity {pictures, ny, nx, channels} in host memory, in units of `unit`: one channel, or red, green and blue.
  Array<float, 4> intensity;
  double unit = 1;   ///< intensity of a value of 1; other than 1 only if float32 does not hold the intensities
  double white = 0;  ///< intensity of white by the rule: that of the brightest picture
  FieldGrid grid{};  ///< grid of the pictures; their wavelength is that of the first channel
  std::vector<double> wavelengths_m{};  ///< of the channels
  std::vector<double> distances_m{};    ///< of the pictures
  std::vector<std::string> methods{};   ///< propagation of each picture: "angular-spectrum" or "fresnel"
  std::vector<double> light_shares{};   ///< share of the hologram's light through the pupil of each picture of an eye
  std::vector<std::string> dark{};      ///< files without any light
  std::optional<double> focal_length_m{};  ///< of the lens whose focal plane is shown
};

/// Computes what is seen of hologram files (read_hologram): one hologram, or three of red, green and blue, which the
/// `channel` of their metadata puts in order. A file that states `focal_length_m` is seen behind that lens
/// (FourierLensPlan, on the CPU), its pixels made square by bilinear interpolation; three colours share the square of
/// the shortest wavelength. With pupils it is seen by an eye (EyePlan), else in a plane (ReconstructionPlan).
///
/// Of three colours the intensities are weighted so that their energies are those of the object: by `object_energy` of
/// the metadata, else by the field's own.
///
/// `device`: of planes and eyes. Throws io naming a file, or invalid_argument: for one or three files expected, files
/// that do not belong together, no distance given or stated, a lens with an eye, an aperture or another method than
/// fresnel; the errors of the plans. Cost: those of the plans; each eye reads the files again unless a GPU holds their
/// light.
Viewing view_holograms(const std::vector<std::string>& files, const ViewingOptions& options = {}, Device device = {},
                       WhiteRule rule = WhiteRule::percentile, Progress& progress = Progress::none());

/// The same of subframes shown in turn, each of one file or three: the mean of their light. Throws io for a subframe of
/// another panel.
Viewing view_subframes(const std::vector<std::vector<std::string>>& subframes, const ViewingOptions& options = {},
                       Device device = {}, WhiteRule rule = WhiteRule::percentile,
                       Progress& progress = Progress::none());

/// Values of compare_light at a picture's samples, and the worst at any of the half_pixels. NaN as there.
struct WorstLight {
  double psnr_db = INFINITY;
  double psnr_worst_db = INFINITY;
  double ssim = 1;
  double ssim_worst = 1;
  double speckle_contrast = 0;
  double speckle_contrast_worst = 0;
};

/// How near the light of one channel comes to a picture.
struct ChannelComparison {
  double wavelength_m = 0;
  std::array<LightComparison, half_pixels.size()> positions{};  ///< at each of the half_pixels
  WorstLight worst{};                                           ///< of the positions
};

/// How near the light of a hologram, or of three as colours, comes to a picture.
struct PictureComparison {
  double distance_m = 0;
  SignalRegion region{};  ///< part of the panel's pixels that is compared
  std::vector<ChannelComparison> channels{};
  WorstLight worst{};  ///< of the channels
};

/// Compares what is seen of hologram files with a picture at each distance of the options: in a plane
/// (HalfPixelReconstruction), or behind a lens on its own pixels (FourierLensPlan), there in one colour. Light that is
/// right at the samples and half a pixel beside them is right between the pixels too.
/// `amplitudes`: what is wanted, {ny, nx} of the panel in host memory, one for each file, red, green and blue of three.
/// `region`: pixels that are compared; all if it is empty. The wanted amplitude between the pixels is that of
/// at_half_pixels; compare_light with the largest wanted amplitude as peak.
/// Throws as view_holograms; invalid_argument for other shapes, a region beyond the panel, an eye, or a lens in three
/// colours. Cost: that of four reconstructions a channel and distance.
std::vector<PictureComparison> compare_holograms(const std::vector<std::string>& files,
                                                 const std::vector<View<const float, 2>>& amplitudes,
                                                 const ViewingOptions& options = {}, const SignalRegion& region = {},
                                                 Device device = {}, Progress& progress = Progress::none());

}  // namespace holotone
