#pragma once
#include <array>
#include <holotone/core/array.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/smoe/aperture.hpp>
#include <holotone/smoe/render.hpp>
#include <optional>
#include <vector>

// Pictures of models: any size, part and view, through an aperture, and epipolar-plane images.
namespace holotone {

struct MixtureViewOptions {
  /// {ny, nx}; {0, 0}: one pixel for each of the model's, 120 rows of an epipolar-plane image.
  Shape<2> size{};
  std::optional<std::array<double, 4>> crop{};  ///< x, y, width, height in the model's pixels; none: all
  std::vector<double> at{};                     ///< view_position; empty: the middle
  std::optional<double> epipolar_y{};           ///< row in the model's pixels, of epipolar_image
};

/// The view of a model that these options ask for. Throws invalid_argument for more than 65536 pixels a side without a
/// size, and as view_position.
SmoeView mixture_view(const SmoeModel& model, const MixtureViewOptions& options = {});

/// Colours of the model, unconverted, as {ny, nx, channels} in host memory; through an aperture, if there is one
/// (render_aperture). `device`: the renderer's. Throws as SmoeRenderer::render.
Array<float, 3> render_mixture(SmoeRenderer& renderer, const SmoeView& view,
                               const std::optional<SmoeAperture>& aperture = {}, Device device = {},
                               Progress& progress = Progress::none());

/// Epipolar-plane image {ny, nx, channels} in host memory: row i is one row of pixels of `view`, seen from the first
/// coordinate u of the view that lies i / (ny - 1) of the way from `first` to `last`. Throws invalid_argument for a
/// model without views; cancelled; as SmoeRenderer::render. Reports `rendering`.
Array<float, 3> epipolar_image(SmoeRenderer& renderer, const SmoeView& view, double first, double last,
                               Device device = {}, Progress& progress = Progress::none());

/// `count` evenly spaced positions from the first to the last, or the one in their middle. Throws invalid_argument for
/// positions of different dimensions, or count < 1.
std::vector<std::vector<double>> positions_on_line(const std::vector<double>& first, const std::vector<double>& last,
                                                   std::int64_t count);

}  // namespace holotone
