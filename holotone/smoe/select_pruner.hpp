#pragma once
// Dropping components from boxes of pixels on a CPU, many at once (select.hpp has the formula). Not for users.
#include <holotone/smoe/select_bounds.hpp>
#include <memory>
#include <span>
#include <vector>

namespace holotone::smoe {

/// Components as vector code reads them: some hundred, side by side.
struct Candidates {
  static constexpr std::size_t most = 512;
  static constexpr std::size_t row =
      most + 16;  // rows of a page would all fall on the same lines of a first-level cache

  double x[row];
  double y[row];
  double across[row];
  double skew[row];
  double down[row];
  double peak[row];
  // The expert of a channel, from the picture's first pixel.
  double origin[most_smoe_channels][row];
  double slope_x[most_smoe_channels][row];
  double slope_y[most_smoe_channels][row];
};

/// Drops components from boxes that have the same candidates: loads these once for all. A thread has its own.
class Pruner {
 public:
  static constexpr std::size_t most_boxes = 4;

  Pruner(std::span<const ImageComponent> components, int channels) : components_(components), channels_(channels) {}

  /// What candidates, at least one, have in boxes: densities, and the best of them.
  void locate(std::span<const std::uint32_t> candidates, std::span<const PixelBox> boxes);

  /// Those that have a log2 density of `limit` somewhere in a box that was located.
  [[nodiscard]] std::vector<std::uint32_t> reaching(std::size_t box, double limit);

  /// Locates them, and measures distances of colours.
  void measure(std::span<const std::uint32_t> candidates, std::span<const PixelBox> boxes);

  /// The largest density that a candidate has all over a box that was located.
  [[nodiscard]] double best(std::size_t box) const { return best_[box]; }

  /// The same of one box without the rest.
  [[nodiscard]] double best_of(std::span<const std::uint32_t> candidates, const PixelBox& box);

  /// Weights the candidates of a box that was measured. Sets `most` and `spread`.
  void weigh(std::size_t box, double least);

  /// Those of a box that was weighed that stay, where the dropped ones change no colour by more than `budget`.
  [[nodiscard]] std::vector<std::uint32_t> kept(double budget);

  double most = 0;    ///< largest density, which stays
  double spread = 0;  ///< B

 private:
  void load_places(std::size_t begin, std::size_t count);
  void load_experts(std::size_t begin, std::size_t count);
  [[nodiscard]] float largest_dropped(double budget) const;
  void reserve(std::size_t padded);

  std::span<const ImageComponent> components_;
  int channels_;
  std::span<const std::uint32_t> candidates_;
  std::size_t padded_ = 0;  ///< in whole vectors: the last candidate is repeated
  std::size_t capacity_ = 0;
  Candidates at_;
  double best_[most_boxes] = {};
  double largest_[most_boxes] = {};
  const ImageComponent* densest_[most_boxes] = {};
  std::unique_ptr<double[]> most_[most_boxes];
  std::unique_ptr<double[]> reach_[most_boxes];
  std::unique_ptr<float[]> costs_;
  std::unique_ptr<std::uint32_t[]> kept_;
};

}  // namespace holotone::smoe
