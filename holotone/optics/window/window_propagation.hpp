#pragma once
// Propagation from tiles of one plane to a window of another, for EyePlan. Not for users.
#include <array>
#include <holotone/optics/field.hpp>
#include <holotone/optics/window/window_propagation_math.h>
#include <memory>

namespace holotone::window {

/// Interval of an axis. Axis 0 runs down, axis 1 to the right, like rows and columns; metres from the panel's axis.
struct Span {
  double middle_m = 0;
  double half_m = 0;
};

/// One axis of the route from a plane's samples to a window.
struct RouteAxis {
  double pitch_m = 0;         ///< sample pitch of the source
  Span source = {};           ///< extent of the light sources
  std::int64_t tile = 0;      ///< largest number of samples of a tile
  double band_middle = 0;     ///< the source's light has frequencies within band_half of this, 1/m
  double band_half = 0;       ///< half width of the source's band, 1/m
  Span target = {};           ///< extent of valid output
  double target_pitch_m = 0;  ///< sample pitch of the window, at most 1 / (the width of find_band)
  double target_first_m = 0;  ///< position of the first sample
  // Set by complete().
  std::int64_t period = 0;  ///< transform length: the window's samples and those beyond the target
  std::int64_t bins = 0;    ///< largest number of frequencies of a tile
  std::int64_t length = 0;  ///< length of the transforms that compute the bins
  [[nodiscard]] double step() const { return 1 / (static_cast<double>(period) * target_pitch_m); }
};

struct Route {
  double wavelength_m = 0;
  double distance_m = 0;  ///< signed
  std::array<RouteAxis, 2> axis = {};
  double blur_m = 0;  ///< sqrt(lambda r^3 / d^2); set by complete()
};

/// Frequencies along an axis of all light from source to target; empty if high <= low.
struct Band {
  double low = 0;
  double high = 0;
};
Band find_band(const Route& route, int axis);

/// Sets the blur; call before find_band.
void set_blur(Route& route);

/// Sets the blur and the last members of the axes. Throws invalid_argument, "where: argument: ...", for more than
/// 65536 samples a side.
void complete(Route& route, std::string_view where, std::string_view argument);

/// Route of a tile whose first sample is at first_m. No bins along an axis: none of its light reaches the window.
TileWay way_of(const Route& route, const Shape<2>& shape, const std::array<double, 2>& first_m);

/// Samples in memory of the engine's device; rows are `stride` apart.
struct Samples {
  const Complex* data = nullptr;
  std::int64_t stride = 0;
  Shape<2> shape{};
};

struct TargetSamples {
  Complex* data = nullptr;
  std::int64_t stride = 0;
  Shape<2> shape{};
};

/// Field of one window on one device.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void clear() = 0;
  virtual void add(const Samples& tile, const TileWay& way) = 0;
  /// Ends adding: transforms the spectrum to samples {period of axis 0, period of axis 1}, of which `rows` rows are
  /// valid.
  virtual void transform(std::int64_t rows) = 0;
  /// Multiplies the first mask.count samples by a pupil; keeps the others. Returns the sum of their squared moduli.
  virtual double crop(const Mask& mask) = 0;
  /// Mean squared modulus of blocks of `every` x `every` samples, one block per pixel, from the first sample on.
  virtual void intensity(View<float, 2> output, std::array<std::int64_t, 2> every) = 0;
  [[nodiscard]] virtual const Complex* samples() const = 0;
};

/// Engine with the adjoints of its steps. All factors of the steps are numbers of the route: the adjoint takes their
/// conjugates, with source and target exchanged.
class AdjointEngine : public Engine {
 public:
  /// Writes the window's first samples, after transform.
  virtual void get_samples(View<Complex, 2> samples) const = 0;
  /// Adjoint of crop and transform: sets the spectrum of samples times a pupil at the window's first places, zeros
  /// elsewhere. mask: {} for none.
  virtual void set_samples(View<const Complex, 2> samples, const Mask& mask) = 0;
  /// Adjoint of add: writes the tile's samples; zeros if none of its light reaches the window.
  virtual void take(const TargetSamples& tile, const TileWay& way) = 0;
};

using EnginePointer = std::unique_ptr<Engine>;
using AdjointEnginePointer = std::unique_ptr<AdjointEngine>;
/// Engine of a queue's device; throws unsupported, "where: ...", if this build or the device has none.
EnginePointer make_engine(std::string_view where, const Route& route, const Queue& queue);
AdjointEnginePointer make_adjoint_engine(std::string_view where, const Route& route, const Queue& queue);
AdjointEnginePointer engine_cpu(const Route& route);
AdjointEnginePointer engine_cuda(const Route& route, const Queue& queue);
EnginePointer engine_opencl(const Route& route, const Queue& queue);

/// Columns that the CPU transforms together: two cache lines of complex numbers.
inline constexpr std::int64_t lines_at_once = 16;

/// Bytes of an engine on its device.
std::size_t engine_bytes(const Route& route, Device device);

/// Transform of the kernel of one axis' chirp, divided by its length. Host memory.
Array<Complex, 1> chirp_spectrum(const RouteAxis& axis);

}  // namespace holotone::window
