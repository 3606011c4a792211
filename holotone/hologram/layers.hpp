#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/bounds.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/optics/field.hpp>
#include <holotone/optics/row_range.hpp>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace holotone {

/// Phase of a layer's light.
enum class LayerPhase {
  random,  ///< uniform in [0, 2 pi), one for each pixel: light fills the diffraction angle, with speckle
  smooth,  ///< zero: light travels along the axis, except for diffraction at edges
};
/// Spacing of the layers of a picture with depth.
enum class LayerSpacing {
  inverse_distance,  ///< equal steps of 1/d, like the depth of focus; for scenes on one side of the panel
  distance,          ///< equal steps of d
};
template <>
inline constexpr auto enum_names<LayerPhase> =
    std::array{EnumName{LayerPhase::random, "random"}, EnumName{LayerPhase::smooth, "smooth"}};
template <>
inline constexpr auto enum_names<LayerSpacing> =
    std::array{EnumName{LayerSpacing::inverse_distance, "inverse"}, EnumName{LayerSpacing::distance, "distance"}};

std::string_view to_string(LayerPhase phase);
std::string_view to_string(LayerSpacing spacing);

struct LayerOptions {
  FieldGrid grid = {};  ///< pixels of the panel and of every layer
  LayerPhase phase = LayerPhase::random;
  std::uint64_t seed = 0;  ///< seed of random phases
};

/// Flat picture parallel to the panel, on the panel's pixels. Views {ny, nx} in host memory or on the plan's device.
struct Layer {
  View<const float, 2> intensity;  ///< linear light; dark if not finite or negative
  View<const float, 2> mask = {};  ///< opacity to light from behind, 0 to 1; empty: 1 where its intensity is > 0
  double distance_m = 0;           ///< behind the panel; < 0: in front
};

/// Picture with a distance for each pixel, seen along the axis: orthographic.
struct RgbdPicture {
  View<const float, 2> intensity;   ///< {ny, nx}, linear light >= 0, finite, in host memory
  View<const float, 2> distance_m;  ///< the same shape, finite, > 0 behind the panel; empty: all at distance_offset_m
  double width_m = 0;               ///< width of the picture in the scene, > 0
  double x_m = 0;                   ///< centre, right of the panel's axis
  double y_m = 0;                   ///< above the panel's axis
  int layers = 64;                  ///< number of layers, 1 to max_picture_layers
  LayerSpacing spacing = LayerSpacing::inverse_distance;
  double height_m = 0;  ///< height of the picture in the scene; 0: that of square pixels
  /// A pixel's distance is distance_offset_m + distance_scale times its distance_m, which may then be a code: float32
  /// metres are up to a wavelength off.
  double distance_offset_m = 0;
  double distance_scale = 1;
};

inline constexpr int max_picture_layers = 65535;
template <>
inline constexpr Bounds bounds_of<&RgbdPicture::layers>{1, max_picture_layers};

/// Picture divided into layers on a panel's pixels, in host memory.
struct SlicedPicture {
  static constexpr std::uint16_t nothing = 0xffff;  ///< pixel outside the picture
  Array<float, 2> intensity;                        ///< {ny, nx} of the panel
  Array<std::uint16_t, 2> layer;                    ///< {ny, nx}: number of the pixel's layer, or nothing
  std::vector<double> distance_m;                   ///< distances of the layers with pixels, far to near
  double beyond = 0;                                ///< share of the picture's area beyond the panel's edges
};

/// Resamples a picture to a panel's pixels and assigns each pixel to a layer.
///
/// Intensity is averaged by a tent as wide as the coarser of the two pixels (bilinear if the picture is magnified);
/// pixels of less than 1e-6 of it have no part in it.
/// The distance is that of the nearest pixel, so that edges do not mix distances. The range of distances on the panel
/// is divided into `layers` equal parts in t = 1/d or t = d. Each layer is at the mean t of its pixels, so that flat
/// objects keep their distance.
/// Throws invalid_argument for shapes that differ, values out of range (with the first), an empty picture, or
/// inverse_distance for a scene that touches or crosses the panel's plane. Cost O(nx ny) of both.
SlicedPicture slice_picture(const RgbdPicture& picture, const FieldGrid& grid);

/// Complex field {ny, nx} on the panel of a stack of layers, or of a picture with depth, with occlusion.
///
/// From back to front, with P_s the band-limited angular spectrum over a distance s (PropagationPlan) and layer j's
/// mask m, intensity I and phase phi:
///   d >= 0   U <- P_(d' - d)[U],  U <- (1 - m) U + sqrt(I) exp(i phi)      d' the layer before; at last U <- P_d[U]
///   d < 0    U <- U + P_(-|d|)[ sqrt(I) exp(i phi) - m P_|d|[U] ]          U on the panel
/// The first line is the silhouette method; light that has left the panel's width on its way is lost. The second is
/// the same by Babinet's principle, because light in front of the panel is wider than the panel: only the masked light
/// is cut off. Layers at one distance hide each other in their order, the later ones before the earlier. In a stack
/// phi is drawn by the number j nx ny + pixel; in a picture by pixel.
///
/// Cost: one propagation for a layer with d >= 0, two with d < 0 (each two FFTs of four times the panel). Workspace:
/// 32 bytes a pixel of the panel for the padded field; 6 for a picture; on CUDA 8 for layers in host memory; 8 if a
/// layer is in front. Relative l2 error against the same formula in float64: below 1e-6 a propagation.
/// Sources: Matsushima and Nakahara, Appl. Opt. 48(34), H54 (2009), the silhouette method; Matsushima, Nakamura and
/// Nakahara, Opt. Express 22(20), 24450 (2014), the same by Babinet's principle.
class LayerPlan {
 public:
  /// Throws invalid_argument for a grid out of range.
  explicit LayerPlan(const LayerOptions& options, Queue queue = {});
  ~LayerPlan();
  LayerPlan(LayerPlan&&) noexcept;
  LayerPlan& operator=(LayerPlan&&) noexcept;

  /// Sets a stack of layers in any order. The views must stay unchanged until execute or adjoint is done. Throws
  /// invalid_argument for another shape or device, a distance that is not finite, or no layer.
  void set_layers(std::span<const Layer> layers);
  /// Uploads a picture that slice_picture made for this grid. Throws invalid_argument for another shape.
  void set_picture(const SlicedPicture& picture);

  /// Writes field {ny, nx} on the plan's device. CUDA: only enqueues. Throws invalid_argument for another shape or
  /// device or without layers; cancelled by `progress`.
  void execute(View<Complex, 2> field, Progress& progress = Progress::none());
  /// The same for some rows of the panel. Throws unsupported unless the part is the whole panel: waves from layer to
  /// layer need all rows.
  void execute(const RowRange& part, View<Complex, 2> field, Progress& progress = Progress::none());

  /// Applies the adjoints of the maps from each layer's light to the field, for fixed masks. The field is
  /// U = sum_j A_j L_j with L_j = sqrt(I) exp(i phi). This computes light[j] = A_j^* field, with
  /// <A_j L, V> = <L, A_j^* V> and <a, b> = sum conj(a) b. From near to far, V = field at first:
  ///   d < 0    light <- P_|d|[V],   V <- V - P_(-|d|)[m light]
  ///   d >= 0   V <- P_(d' - d)[V],  light <- V,  V <- (1 - m) V       d' the layer before, nearer; at first the panel
  /// `light`: one view {ny, nx} for each layer, in the order of set_layers or of SlicedPicture::distance_m, on the
  /// plan's device. In a picture a pixel has light in the layer of its number only. A mask that follows from the
  /// intensity stays as it is. Cost and error as execute. Workspace: 8 bytes a pixel more, allocated by the first call.
  /// CUDA: only enqueues. Throws invalid_argument for another shape, device or number of views, or without layers;
  /// cancelled by `progress`.
  void adjoint(View<const Complex, 2> field, std::span<const View<Complex, 2>> light,
               Progress& progress = Progress::none());

  [[nodiscard]] const LayerOptions& options() const;
  [[nodiscard]] std::size_t workspace_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// First `count` phases of LayerPhase::random in radians, -pi to pi: those of the pixels of the first layer of a stack,
/// then of the second. In host memory.
Array<float, 1> random_phase(std::int64_t count, std::uint64_t seed = 0);

/// One shot: slice, plan, execute, wait. The field is on `device`.
Array<Complex, 2> layer_field(const RgbdPicture& picture, const LayerOptions& options, Device device = {},
                              Progress& progress = Progress::none());

}  // namespace holotone
