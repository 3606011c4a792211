#pragma once
// Interface between the plan (stereogram.cpp, the one dispatch) and its engines. Not for users.
#include <holotone/hologram/stereogram.hpp>
#include <holotone/hologram/stereogram/stereogram_math.h>
#include <vector>

namespace holotone::stereogram {

/// Positions of a panel's hogels, and their rays.
class Geometry {
 public:
  explicit Geometry(const StereogramOptions& given);
  [[nodiscard]] Hogel hogel(std::int64_t row, std::int64_t column) const;
  /// Returns the rows of hogels that overlap some rows of pixels.
  [[nodiscard]] RowRange hogel_rows(const RowRange& pixels) const {
    const std::int64_t first = pixels.first_row / options.hogel_px;
    return {first, (pixels.end() - 1) / options.hogel_px + 1 - first};
  }

  StereogramOptions options;
  Shape<2> hogels{};
  double step = 0;               ///< step of direction cosines: lambda / (N pitch)
  std::int64_t max_k = 0;        ///< largest |kx|, |ky|
  double margin_m = 0;           ///< margin around the viewing window
  double max_curvature = 0;      ///< largest |curvature| of a layer's wave, 1 / m
  double curvature_per_px2 = 0;  ///< turns at one pixel from the centre for a curvature of 1 / m: pitch^2 / (2 lambda)
};

/// Light of one hogel without random phases, in host memory.
struct HogelLight {
  Hogel hogel;
  std::vector<float> amplitude;     ///< {rows, columns}; 0: dark or not computed
  std::vector<std::uint8_t> layer;  ///< layer of each ray; layered only
  std::vector<double> curvature;    ///< curvature of each layer, 1 / m; flat: a single 0
  std::vector<std::uint8_t> used;   ///< 1 if a layer has rays
};

/// Memory of a thread, kept between hogels.
struct LightScratch {
  std::vector<float> intensity;
  std::vector<float> distance_m;
  std::vector<double> curvature;
};
StereogramReport look_through(const Geometry& geometry, const ViewSource& source, int channel, std::int64_t row,
                              std::int64_t column, HogelLight& light, LightScratch& scratch);

/// Computes the light of `some` hogels from `first` on, in row order; `scratch` grows to one entry per thread.
StereogramReport look_through_some(const Geometry& geometry, const ViewSource& source, int channel, std::int64_t first,
                                   std::int64_t some, std::vector<HogelLight>& lights,
                                   std::vector<LightScratch>& scratch);

/// Stereogram computation on one device. The range and the output are already checked.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual StereogramReport execute(const ViewSource& source, int channel, const RowRange& part, View<Complex, 2> output,
                                   Progress& progress) = 0;
  [[nodiscard]] virtual std::size_t workspace_bytes() const = 0;
};

using EnginePointer = std::unique_ptr<Engine>;

EnginePointer engine_cpu(const Geometry& geometry);
EnginePointer engine_cuda(const Geometry& geometry, const Queue& queue);
EnginePointer engine_opencl(const Geometry& geometry, const Queue& queue);

}  // namespace holotone::stereogram
