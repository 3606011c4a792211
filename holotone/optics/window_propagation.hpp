#pragma once
// Propagation from tiles of one plane to a window of another, for EyePlan. Not for users.
#include <array>
#include <holotone/optics/field.hpp>
#include <holotone/optics/window_propagation_math.h>
#include <memory>

namespace holotone::window {

/// A stretch of an axis. Axis 0 runs down, axis 1 to the right, as rows and columns do; metres from the panel's axis.
struct Span {
  double middle_m = 0;
  double half_m = 0;
};

/// One axis of the way from a plane's samples to a window.
struct RouteAxis {
  double pitch_m = 0;         ///< of the source
  Span source = {};           ///< where light may come from
  std::int64_t tile = 0;      ///< the most samples of a tile
  double band_middle = 0;     ///< the source's light has frequencies within band_half of this, 1/m
  double band_half = 0;       ///<
  Span target = {};           ///< what has to be right
  double target_pitch_m = 0;  ///< of the window's samples, at most 1 / (the width of band_of)
  double target_first_m = 0;  ///< where the first of them is
  // What complete adds.
  std::int64_t period = 0;  ///< the window's samples, with those beyond the target: a transform's length
  std::int64_t bins = 0;    ///< the most frequencies of a tile
  std::int64_t length = 0;  ///< of the transforms that make them
  [[nodiscard]] double step() const { return 1 / (static_cast<double>(period) * target_pitch_m); }
};

struct Route {
  double wavelength_m = 0;
  double distance_m = 0;  ///< signed
  std::array<RouteAxis, 2> axis = {};
  double blur_m = 0;  ///< sqrt(lambda r^3 / d^2); complete adds it
};

/// Frequencies along an axis of all light from source to target; high <= low: there is none.
struct Band {
  double low = 0;
  double high = 0;
};
Band band_of(const Route& route, int axis);

/// Sets the blur, which band_of needs.
void set_blur(Route& route);

/// Adds what of the axes is still missing. Throws invalid_argument, "where: argument: ...", for more than 65536 samples a
/// side.
void complete(Route& route, std::string_view where, std::string_view argument);

/// The way of a tile whose first sample is at first_m. No bins along an axis: no light of it reaches the window.
TileWay way_of(const Route& route, const Shape<2>& shape, const std::array<double, 2>& first_m);

/// Samples in memory of the engine's device, row after row `stride` apart.
struct Samples {
  const Complex* data = nullptr;
  std::int64_t stride = 0;
  Shape<2> shape{};
};

/// One window's field on one device.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void clear() = 0;
  virtual void add(const Samples& tile, const TileWay& way) = 0;
  /// Ends the adding: from the spectrum to samples {period of axis 0, period of axis 1}, of which this many rows count.
  virtual void transform(std::int64_t rows) = 0;
  /// Multiplies the first mask.count samples by a pupil; the others stay as they are. The sum of their squared moduli.
  virtual double crop(const Mask& mask) = 0;
  /// Of `every` x `every` samples from the first on the mean squared modulus, each a pixel.
  virtual void intensity(View<float, 2> output, std::array<std::int64_t, 2> every) = 0;
  [[nodiscard]] virtual const Complex* samples() const = 0;
};

using EnginePointer = std::unique_ptr<Engine>;
EnginePointer make_engine(std::string_view where, const Route& route, const Queue& queue);
EnginePointer engine_cpu(const Route& route);
EnginePointer engine_cuda(const Route& route, const Queue& queue);

/// Columns that the CPU transforms together: a cache line of complex numbers, twice.
inline constexpr std::int64_t lines_at_once = 16;

/// Bytes that an engine takes on its device.
std::size_t engine_bytes(const Route& route, Device device);

/// The transform of the kernel of one axis' chirp, divided by its length. Host memory.
Array<Complex, 1> chirp_spectrum(const RouteAxis& axis);

}  // namespace holotone::window
