#pragma once
#include <holotone/core/progress.hpp>
#include <holotone/optics/field.hpp>
#include <memory>

namespace holotone {

/// Part of the picture in which light is asked for; outside it light may be anything.
struct SignalRegion {
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t rows = 0;     ///< 0: the whole picture
  std::int64_t columns = 0;  ///< 0: the whole picture
};

struct PhaseRetrievalOptions {
  FieldGrid grid = {};       ///< panel, and picture of the same pixels
  double distance_m = 0.2;   ///< of the picture behind the panel, finite; negative in front, as for points
  SignalRegion region = {};  ///< within the picture
  /// The loss compares light and picture also half a pixel beside the samples, along x, along y and along both: four
  /// positions. False: at the samples alone, which leaves the light between them to chance.
  bool between_samples = true;
};

/// How near a phase's light comes to the target in the signal region.
struct RetrievalQuality {
  double psnr_db = 0;        ///< of the amplitude at the picture's samples, scale free, peak: the target's largest
  double psnr_worst_db = 0;  ///< the least of the four half-pixel positions
  double efficiency = 0;     ///< light in the signal region over light from the panel
};

/// Limited-memory BFGS: Liu and Nocedal, "On the limited memory BFGS method for large scale optimization", 1989.
struct LbfgsOptions {
  int iterations = 30;  ///< >= 0
  int pairs = 8;        ///< of steps and differences of gradients that are kept, 1 to 64
};

struct RetrievalResult {
  int iterations = 0;   ///< steps made
  int evaluations = 0;  ///< of loss and gradient
  double loss = 0;
};

/// Phase of a panel whose light, propagated, has the amplitude of a picture.
///   L(phi) = 1/2 sum_p sum_r (s a_p(r) - T_p(r))^2,  a_p = |P_p exp(i phi)|,  s = <a, T> / <a, a>
///   dL/dphi = Im( conj(exp(i phi)) sum_p P_p^H [ s (s a_p - T_p) r_p / a_p ] ),  r_p = P_p exp(i phi)
/// over the pixels r of the signal region and the positions p. P is the band-limited angular spectrum over -distance_m
/// on an array of twice the panel (PropagationPlan), P_p the same with the picture's samples moved by half a pixel; T_p
/// is the target there, interpolated by its Fourier series with mirrored borders. The light is that of the modulator
/// alone: uniform illumination, any phase.
/// Source of the gradient: Wirtinger calculus as in Chakravarthula et al., "Wirtinger holography for near-eye
/// displays", 2019.
/// Relative error of the gradient against float64: below 1e-4.
/// Cost of a gradient: 2 + 2 P transforms of the padded array, P the number of positions. Memory: three padded complex
/// arrays, four fields of the region and four targets. CPU only so far.
class PhaseRetrievalPlan {
 public:
  /// Throws invalid_argument for a grid out of range, a distance that is not finite, or a region outside the picture;
  /// unsupported for a GPU.
  explicit PhaseRetrievalPlan(const PhaseRetrievalOptions& options, Queue queue = {});
  ~PhaseRetrievalPlan();
  PhaseRetrievalPlan(PhaseRetrievalPlan&&) noexcept;
  PhaseRetrievalPlan& operator=(PhaseRetrievalPlan&&) noexcept;

  /// Amplitude {ny, nx} of the picture, finite, >= 0, not zero everywhere in the region. Throws invalid_argument.
  void set_target(View<const float, 2> amplitude);

  /// Loss of a phase {ny, nx} in radians; writes its derivative {ny, nx}. Throws invalid_argument without a target.
  double gradient(View<const float, 2> phase_rad, View<float, 2> derivative);

  /// Lowers the loss from a given start. `phase_rad` holds the best phase at any time, also if `progress` cancels.
  RetrievalResult optimize(View<float, 2> phase_rad, const LbfgsOptions& solver = {},
                           Progress& progress = Progress::none());

  [[nodiscard]] RetrievalQuality quality(View<const float, 2> phase_rad);
  [[nodiscard]] const PhaseRetrievalOptions& options() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Start of an optimization: uniform in [-spread_rad, spread_rad] by seed. 0.5 rad gives a smooth phase, whose picture
/// is sharp, with hardly any defocus; pi a random phase, which fills the pupil, with speckle.
Array<float, 2> starting_phase(Shape<2> shape, double spread_rad = 0.5, std::uint64_t seed = 1);

}  // namespace holotone
