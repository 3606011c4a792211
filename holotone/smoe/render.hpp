#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/bounds.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/smoe/model.hpp>
#include <memory>
#include <span>
#include <vector>

namespace holotone {

/// Selection of the components summed by a tile of pixels.
enum class SmoeSelection {
  bounded,  ///< omits components; the change of any colour is proven to be within the tolerance (docs/smoe.md)
  window,   ///< centres within a distance of the tile's block, as Avramelos et al. 2020, 4.1: no bound on the error
  all,      ///< every component
};
template <>
inline constexpr auto enum_names<SmoeSelection> = std::array{EnumName<SmoeSelection>{SmoeSelection::bounded, "bounded"},
                                                             EnumName<SmoeSelection>{SmoeSelection::window, "window"},
                                                             EnumName<SmoeSelection>{SmoeSelection::all, "all"}};

enum class SmoePrecision {
  fast,    ///< float32 in coordinates of the tile
  robust,  ///< float64
};
template <>
inline constexpr auto enum_names<SmoePrecision> = std::array{EnumName<SmoePrecision>{SmoePrecision::fast, "fast"},
                                                             EnumName<SmoePrecision>{SmoePrecision::robust, "robust"}};

struct SmoeRenderOptions {
  /// Largest error of a colour against the sum of all components, in units of the model's colours: 1e-7 to 1.
  /// `bounded` only.
  double tolerance = 0.25 / 255;
  SmoeSelection selection = SmoeSelection::bounded;
  /// `window` only: distance from a block's outermost pixels to a component's centre, in x and in y: 0 to 65536 pixels
  /// of the image.
  double window_px = 16;
  /// `window` only: side of the blocks with windows, in pixels from the image's corner: a multiple of 16 up to 65536.
  /// 0: the renderer's own tiles.
  std::int64_t window_block_px = 0;
  SmoePrecision precision = SmoePrecision::fast;
};
template <>
inline constexpr Bounds bounds_of<&SmoeRenderOptions::tolerance>{1e-7, 1};
template <>
inline constexpr Bounds bounds_of<&SmoeRenderOptions::window_px>{0, 65536};
template <>
inline constexpr Bounds bounds_of<&SmoeRenderOptions::window_block_px>{0, 65536};

/// Region and size of a picture of a model. Pixel (row, col) has its centre at
/// x = corner[0] + (col + 0.5) extent[0] / nx and y = corner[1] + (row + 0.5) extent[1] / ny.
struct SmoeView {
  Shape<2> size{};                 ///< {ny, nx}: 1 to 65536 each
  std::array<double, 2> corner{};  ///< upper left corner, in the model's coordinates
  std::array<double, 2> extent{};  ///< > 0; {0, 0}: the model's whole box
  std::vector<double> at;          ///< the other d - 2 coordinates: {u, v} of a light field
};

/// Statistics of the last picture.
struct SmoeRenderInfo {
  double components_per_tile = 0;  ///< mean over the tiles
  std::int64_t max_components = 0;
  Shape<2> tile{};
  std::int64_t robust_tiles = 0;  ///< tiles that needed float64 for their range of densities or tolerance
};

/// Pictures of a steered mixture of experts. One plan renders any number of views of its model.
///
/// Cost of a picture: O(K) to slice and place the components, O(K log(pixels)) to select, O(components per tile) a
/// pixel.
/// Source: Avramelos et al. 2020; slices: Courteaux et al. 2024; the selection's bound: docs/smoe.md.
class SmoeRenderer {
 public:
  /// Throws invalid_argument for a model that require_model rejects or of one dimension, and for options out of range;
  /// unsupported for a device without a renderer in this build.
  explicit SmoeRenderer(SmoeModel model, Queue queue = {}, const SmoeRenderOptions& options = {});
  ~SmoeRenderer();
  SmoeRenderer(SmoeRenderer&&) noexcept;
  SmoeRenderer& operator=(SmoeRenderer&&) noexcept;

  /// Renders one view to `image`: {ny, nx, channels} on the renderer's device. Throws invalid_argument for a view out
  /// of range or an image of another shape, cancelled (on the CPU, which alone reports progress).
  void render(const SmoeView& view, View<float, 3> image, Progress& progress = Progress::none());
  /// Renders views of one size, {views, ny, nx, channels}. On a GPU, the time of many small views is little more than
  /// that of their pixels. Close views share lists of components there: each is within the tolerance, but its last bits
  /// differ from those of a single view.
  void render(std::span<const SmoeView> views, View<float, 4> images);
  /// Renders views as code values (smoe_codes): {views, ny, nx, channels}, or four channels for a texture. A model in
  /// linear light gives sRGB codes.
  void render(std::span<const SmoeView> views, View<std::uint8_t, 4> images);
  void render(std::span<const SmoeView> views, View<std::uint16_t, 4> images, int bits = 16);

  [[nodiscard]] const SmoeModel& model() const;
  [[nodiscard]] SmoeRenderInfo info() const;

  class Engine;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Computes the model's colours at any coordinates by all components: reference for pictures, and for views that are
/// no slices.
///
/// `coordinates`: {count, d} in host memory, `colours`: {count, channels}. `fast`: closed-form inverses in float32;
/// `robust`: Cholesky's factors in float64; both subtract the largest logarithm before exponentials. Throws
/// invalid_argument. Cost O(count K d^2), on all threads.
void evaluate(const SmoeModel& model, View<const float, 2> coordinates, View<float, 2> colours,
              SmoePrecision precision = SmoePrecision::robust);

}  // namespace holotone
