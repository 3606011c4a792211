#pragma once
// Between the plan (stereogram.cpp, the one dispatch) and what computes. Not for users.
#include <holotone/hologram/stereogram.hpp>
#include <holotone/hologram/stereogram_math.h>
#include <vector>

namespace holotone::stereogram {

/// Where the hogels of a panel stand and which rays they send out.
class Geometry {
 public:
  explicit Geometry(const StereogramOptions& given);
  [[nodiscard]] Hogel hogel(std::int64_t row, std::int64_t column) const;
  /// The rows of hogels that some rows of pixels meet.
  [[nodiscard]] RowRange hogel_rows(const RowRange& pixels) const {
    const std::int64_t first = pixels.first_row / options.hogel_px;
    return {first, (pixels.end() - 1) / options.hogel_px + 1 - first};
  }

  StereogramOptions options;
  Shape<2> hogels{};
  double step = 0;               ///< of direction cosines: lambda / (N pitch)
  std::int64_t most_k = 0;       ///< |kx|, |ky| at most
  double margin_m = 0;           ///< around the viewing window
  double most_curvature = 0;     ///< 1 / m
  double curvature_per_px2 = 0;  ///< turns at one pixel from the middle by a curvature of 1 / m: pitch^2 / (2 lambda)
};

/// The light of one hogel, before its phases: on the host, from any source.
struct HogelLight {
  Hogel hogel;
  std::vector<float> amplitude;     ///< {rows, columns}; 0: dark or not wanted
  std::vector<std::uint8_t> layer;  ///< of each ray; layered only
  std::vector<double> curvature;    ///< of each layer in 1 / m; flat: one, 0
  std::vector<std::uint8_t> used;   ///< whether a layer has rays
};

/// Asks the source and sorts what it says. `scratch`: what this thread keeps between hogels.
struct LightScratch {
  std::vector<float> intensity;
  std::vector<float> distance_m;
  std::vector<double> curvature;
};
StereogramReport look_through(const Geometry& geometry, const ViewSource& source, int channel, std::int64_t row,
                              std::int64_t column, HogelLight& light, LightScratch& scratch);

/// The same of `some` hogels from one on, row by row, side by side; `scratch` grows to one for each thread.
StereogramReport look_through_some(const Geometry& geometry, const ViewSource& source, int channel, std::int64_t first,
                                   std::int64_t some, std::vector<HogelLight>& lights,
                                   std::vector<LightScratch>& scratch);

/// A plan's work on one device. The range and the output arrive checked.
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

}  // namespace holotone::stereogram
