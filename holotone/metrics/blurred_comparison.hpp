#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/progress.hpp>
#include <memory>
#include <vector>

namespace holotone {

struct BlurOptions {
  std::vector<double> sigma = {1, 1.5, 2, 3,
                               4, 6,   8};  ///< standard deviations of the blur, pixels: 0.3 to 1000, at most 64
  double margin = 0;                        ///< width of the page's border excluded from the comparison, pixels
  bool structure = true;                    ///< true: also computes SSIM (NaN on less than 11 x 11 pixels)
  double tolerance = 1e-5;                  ///< relative l2 error of the dots' transform by the non-uniform FFT
};

/// Comparison at one standard deviation of the blur.
struct BlurredSimilarity {
  double sigma = 0;              ///< standard deviation of the blur, pixels
  double mean_square_error = 0;  ///< blurred dots against blurred image, over the compared pixels
  double psnr_db = 0;            ///< 10 log10(1 / mean_square_error): the peak is 1, full ink
  double ssim = 0;
};

/// Similarity of dots and image after Gaussian blur, which models an eye at a distance: PSNR and SSIM over standard
/// deviations (Gwosdek et al. 2012, figure 4). Dots are point charges at their exact positions. The image is the sum
/// of its pixels' ink at their centres:
///   h(x) = sum_j q_j G(x - x_j),   u(x) = sum_p ink_p G(x - x_p),   G(d) = exp(-|d|^2 / (2 sigma^2)) / (2 pi sigma^2)
///   MSE = mean over the pixels' centres x of (h(x) - u(x))^2
/// Outside the page both have no ink (white paper); dots outside the page are ignored. Positions {count, 2} are in
/// pixels, x right and y down; pixel (row, col) covers [col, col + 1) x [row, row + 1). Charges are in pixels of full
/// ink. Default charges: the image's ink divided by the number of dots on the page.
/// Both fields are computed in Fourier space. A non-uniform FFT of real strengths transforms the dots at all
/// frequencies up to 0.84 / sigma of the smallest sigma; beyond them G is below 1e-6. Folding onto the pixels' grid is
/// exact at their centres. The page is padded by six of the largest sigma, which keeps periods apart (1e-8). With
/// tolerance 1e-5 the error of h - u is below 1e-5 rms, which is 100 dB (tests compare with float64 sums).
/// Cost O(dots log^2(1 / tolerance) + P log P / sigma_min^2) once and O(P log P) a sigma for P padded pixels; memory
/// about 30 P / sigma_min^2 (at least 60 P) bytes. Host memory; on all CPU threads.
class BlurredComparisonPlan {
 public:
  /// `ink` {ny, nx}, 0 none to 1 full, is copied. Throws invalid_argument for an ink that is empty or not finite; for
  /// no sigma, too many, or one out of its range; for a margin that excludes every pixel; for a tolerance outside 1e-5
  /// to 0.1. Throws out_of_memory.
  explicit BlurredComparisonPlan(View<const float, 2> ink, const BlurOptions& options = {});
  ~BlurredComparisonPlan();
  BlurredComparisonPlan(BlurredComparisonPlan&&) noexcept;
  BlurredComparisonPlan& operator=(BlurredComparisonPlan&&) noexcept;

  /// Returns the similarity at each sigma. Throws invalid_argument for positions or charges that are not finite or
  /// differ in number; cancelled.
  std::vector<BlurredSimilarity> execute(View<const float, 2> position, View<const float, 1> charge = {},
                                         Progress& progress = Progress::none());

  /// Blurred dots h and blurred image u of the last execute, {ny, nx}, at sigma number `index` of the options.
  /// Throws invalid_argument for an index out of range or before execute.
  struct Fields {
    Array<float, 2> dots;
    Array<float, 2> image;
  };
  [[nodiscard]] Fields blurred(std::size_t index);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One-shot BlurredComparisonPlan.
std::vector<BlurredSimilarity> compare_blurred(View<const float, 2> position, View<const float, 2> ink,
                                               const BlurOptions& options = {}, View<const float, 1> charge = {},
                                               Progress& progress = Progress::none());

}  // namespace holotone
