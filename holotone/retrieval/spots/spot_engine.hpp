#pragma once
// Interface between SpotPlan and its engines. Not for users.
#include <complex>
#include <holotone/retrieval/spots/spot_plan.hpp>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace holotone::spots {

using Wave = std::complex<double>;

/// A spot as its wave on the panel's pixels.
struct SpotPlace {
  double fx = 0;  ///< cycles a pixel
  double fy = 0;
  double z_m = 0;
};

/// The spots of a plan, each list of the same length but for an empty one.
struct SpotScene {
  std::vector<SpotPlace> place;
  std::vector<double> target;  ///< amplitude T, at most 1
  std::vector<double> shade;   ///< factor of u by the pixels' aperture
  std::vector<double> share;   ///< of the gain of kept and held steps; empty: 1
};

/// SpotPlan has the formulas of steps.
enum class StepKind {
  free,    ///< E from the weights; then t and w from u
  locked,  ///< E from the weights; then w from u
  kept,    ///< E and what the spots lack; then t from u
  held,    ///< E and what the spots lack of the phases t, which stay
};
/// True of steps that add to E.
constexpr bool keeps_field(StepKind kind) { return kind == StepKind::kept || kind == StepKind::held; }
struct Step {
  StepKind kind = StepKind::free;
  double gain = 0;  ///< of a kept or held step
  int levels = 0;   ///< > 0: u is that of the phase rounded to them
};

/// Change of a weight by one step.
inline constexpr double max_weight_change = 4;

/// The panel's field E = exp(i phi) and the spots on one device: their targets T, weights w, phases t, fields u. The
/// light is that of options: of mean square 1.
class Engine {
 public:
  virtual ~Engine() = default;
  /// Null: even light. E has its phase from now on.
  virtual void set_light(const Complex* light) = 0;
  /// Weights and phases stay if the number of spots does.
  virtual void set_spots(const SpotScene& scene) = 0;
  /// Locked steps take changes of the weights of `is_free` whole (SpotPace); empty: none is free.
  virtual void start(std::span<const double> weight, std::span<const Wave> unit,
                     std::span<const std::uint8_t> is_free) = 0;
  /// w = T and random t: 2 pi random_uniform64(seed, m).
  virtual void start(std::uint64_t seed) = 0;
  /// Weights and phases as the last step left them.
  virtual void read_state(std::span<double> weight, std::span<Wave> unit) const = 0;
  /// Takes steps, the first of them from u as it is; a GPU only enqueues them.
  virtual void take(std::span<const Step> steps) = 0;
  /// The sum of |u|^2 after each of the last steps taken at once.
  [[nodiscard]] virtual std::vector<double> light() const = 0;
  /// Steps to ask for at a time: where waiting for one costs more than taking it, several.
  [[nodiscard]] virtual int batch() const = 0;
  /// u of E, or of its phase rounded to levels.
  virtual void look(int levels) = 0;
  /// The last u.
  virtual void read(std::span<Wave> value) const = 0;
  /// Rounds the phase, without the light's, to the nearest of equally spaced levels.
  virtual void round(int levels) = 0;
  virtual void set_phase(const float* phase_rad) = 0;
  virtual void phase(float* phase_rad) const = 0;
  /// round(256 phase / (2 pi)) modulo 256, on the host or on the engine's device, where it is only enqueued.
  virtual void codes(View<std::uint8_t, 2> codes) const = 0;
};

std::unique_ptr<Engine> make_engine_cpu(const SpotOptions& options);
std::unique_ptr<Engine> make_engine_cuda(const SpotOptions& options, const Queue& queue);
/// packed: tables as CPUs read them; none: as the device does.
std::unique_ptr<Engine> make_engine_opencl(const SpotOptions& options, const Queue& queue,
                                           std::optional<bool> packed = {});

}  // namespace holotone::spots
