#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/progress.hpp>
#include <memory>
#include <vector>

namespace holotone {

struct BlurOptions {
  std::vector<double> sigma = {1, 1.5, 2, 3,
                               4, 6,   8};  ///< pixels, standard deviations of the blur, 0.3 to 1000, at most 64
  double margin = 0;                        ///< pixels along the page's edges that do not count
  bool structure = true;                    ///< SSIM too (NaN on less than 11 x 11 pixels)
  double tolerance = 1e-5;                  ///< of the non-uniform FFT: relative l2 error of the dots' transform
};

/// One blur's outcome.
struct BlurredSimilarity {
  double sigma = 0;              ///< pixels
  double mean_square_error = 0;  ///< of the blurred dots against the blurred image, over the pixels that count
  double psnr_db = 0;            ///< 10 log10(1 / mean_square_error): the peak is 1, full ink
  double ssim = 0;
};

/// How well dots stand for an image, as an eye sees both from afar: PSNR and SSIM after Gaussian blur, over standard
/// deviations (Gwosdek et al. 2012, figure 4). Dots are point charges at their exact positions, the image the sum of its
/// pixels' ink at their centres:
///   h(x) = sum_j q_j G(x - x_j),   u(x) = sum_p ink_p G(x - x_p),   G(d) = exp(-|d|^2 / (2 sigma^2)) / (2 pi sigma^2)
///   MSE = mean over the pixels' centres x of (h(x) - u(x))^2
/// Beyond the page there is no ink (white paper), for both alike: dots off the page do not count. Positions {count, 2} in pixels, x right and y down, pixel (row,
/// col) covering [col, col + 1) x [row, row + 1); charges are the image's ink over the number of dots on the page unless they are given, in pixels
/// of full ink.
/// Both fields are computed in Fourier space: the dots by a non-uniform FFT of real strengths with all frequencies up to 0.84 / sigma of the
/// smallest sigma, beyond which G has fallen below 1e-6, then folded onto the pixels, which is exact at their centres; the page is padded by six
/// of the largest sigma, so that periods do not meet (1e-8). With tolerance 1e-5 the error of h - u is below 1e-5 rms, which is 100 dB
/// (tests hold it to float64 sums).
/// Cost O(dots log^2(1 / tolerance) + P log P / sigma_min^2) once and O(P log P) a sigma for P padded pixels; memory about 30 P / sigma_min^2 (at
/// least 60 P) bytes. Host memory; on all CPU threads.
class BlurredComparisonPlan {
 public:
  /// `ink` {ny, nx}, 0 none to 1 full, is copied. Throws invalid_argument for an empty ink or one that is not finite, no or too many sigmas, one
  /// out of its range, a margin that leaves no pixel, a tolerance outside 1e-5 to 0.1; out_of_memory.
  explicit BlurredComparisonPlan(View<const float, 2> ink, const BlurOptions& options = {});
  ~BlurredComparisonPlan();
  BlurredComparisonPlan(BlurredComparisonPlan&&) noexcept;
  BlurredComparisonPlan& operator=(BlurredComparisonPlan&&) noexcept;

  /// One entry a sigma. Throws invalid_argument for positions or charges that are not finite or do not match; cancelled.
  std::vector<BlurredSimilarity> execute(View<const float, 2> position, View<const float, 1> charge = {},
                                         Progress& progress = Progress::none());

  /// h and u of the options' sigma number `index` as the last execute has them, {ny, nx}. Throws invalid_argument for an index out of
  /// range or before execute.
  struct Fields {
    Array<float, 2> dots;
    Array<float, 2> image;
  };
  [[nodiscard]] Fields blurred(std::size_t index);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A plan used once.
std::vector<BlurredSimilarity> compare_blurred(View<const float, 2> position, View<const float, 2> ink,
                                               const BlurOptions& options = {}, View<const float, 1> charge = {},
                                               Progress& progress = Progress::none());

}  // namespace holotone
