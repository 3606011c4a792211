#pragma once
// Dropping components from boxes of pixels on a CPU, many at once (select.hpp has the formula). Not for users.
#include <holotone/smoe/render/selection/select_packs.hpp>

namespace holotone::smoe {

/// Float32 data of components in whole vectors, padded by the last one, relative to a pixel of the picture.
///
/// In a box with coordinates from 0 to `width` and `height`, rounding changes u and v of a point by d = 2^-20 (A + V)
/// together at most. This counts sixteen roundings, and also holds for the point of a box nearest to the centre, which
/// is computed with as many. Here
///   X = |x| + width + 1,   Y = |y| + height + 1,   A = across X,   V = |skew| X + down Y
/// Each of the true and the computed q = u^2 + v^2 is therefore within 2^-14 of itself plus (2^14 + 1) d^2 of the
/// other. `above` and `below` are the peak plus and minus d^2 and the rest. `rounding` bounds the rounding error of an
/// expert's colour.
class Candidates {
 public:
  static constexpr std::size_t lanes = Pack::lanes;
  enum Row { x, y, across, skew, down, along_x, along_y, above, below, rounding, experts };
  static constexpr std::size_t rows = experts + 3 * max_smoe_channels;

  explicit Candidates(int channels) : channels_(static_cast<std::size_t>(channels)) {}

  [[nodiscard]] std::size_t size() const { return index_.size(); }
  [[nodiscard]] std::size_t padded() const { return (size() + lanes - 1) / lanes * lanes; }
  [[nodiscard]] std::size_t channels() const { return channels_; }
  [[nodiscard]] const std::uint32_t* index() const { return index_.data(); }
  [[nodiscard]] const float* operator[](std::size_t row) const { return numbers_.get() + row * stride_; }
  [[nodiscard]] const float* colour(std::size_t channel) const { return (*this)[experts + 3 * channel]; }
  [[nodiscard]] const float* slope_x(std::size_t channel) const { return (*this)[experts + 3 * channel + 1]; }
  [[nodiscard]] const float* slope_y(std::size_t channel) const { return (*this)[experts + 3 * channel + 2]; }
  [[nodiscard]] const PixelBox& box() const { return box_; }

  /// Loads all components of some packs, in ascending order; later boxes lie in `box`.
  void load(const Packs& packs, std::span<const std::uint32_t> which, const PixelBox& box);
  /// Loads single components.
  void load(std::span<const ImageComponent> components, std::span<const std::uint32_t> which, const PixelBox& box);
  /// Copies the geometry of some candidates of `from`, without experts. `index` then counts within `from`.
  void take_places(const Candidates& from, std::span<const std::uint32_t> which);
  /// Copies some candidates of `places`, which was taken from `whole`, with their experts from `whole`.
  void take(const Candidates& places, std::span<const std::uint32_t> which, const Candidates& whole);

 private:
  void reserve(std::size_t count);
  void load(const Pack& pack, std::size_t first);
  void take_row(std::size_t row, const Candidates& from, const std::uint32_t* which);

  std::size_t channels_;
  std::size_t capacity_ = 0;
  std::size_t stride_ = 0;
  std::unique_ptr<float[]> numbers_;
  std::vector<std::uint32_t> index_;
  PixelBox box_;
};

/// Bounds of candidates in a box, and selection of those that it needs. One per thread.
class Pruner {
 public:
  /// Bounds the densities of candidates, at least one, in a box inside the one they were loaded for. Sets `best`,
  /// `most` and `densest`.
  void locate(const Candidates& candidates, const PixelBox& box);

  /// Largest density that some candidate reaches all over a box, among the packs loaded at these positions.
  [[nodiscard]] static float best_of(const Candidates& candidates, std::span<const std::uint32_t> packs,
                                     const PixelBox& box);

  /// Largest distance of an expert from 0 in a box.
  [[nodiscard]] float farthest(const Candidates& candidates, const PixelBox& box);

  /// Positions of the candidates that may reach the log2 density `limit` in the located box.
  [[nodiscard]] std::span<const std::uint32_t> reaching(float limit);

  /// Computes the distances of experts, in the located box or a larger one around it, from the colour of candidate
  /// `from`.
  void measure(const Candidates& candidates, const PixelBox& box, std::size_t from);

  /// Computes the costs of the candidates that were located and measured. Sets `spread`.
  void weigh(float least);

  /// Components kept in the weighed box; the dropped ones change no colour by more than `budget`.
  [[nodiscard]] std::vector<std::uint32_t> kept(double budget) const;

  float best = 0;           ///< some candidate reaches this density all over the box
  float most = 0;           ///< largest density of a candidate, which is never dropped
  std::size_t densest = 0;  ///< the candidate of that density
  double spread = 0;        ///< B

 private:
  [[nodiscard]] float largest_dropped(double budget) const;
  void reserve(std::size_t padded);
  void reach(const Candidates& candidates, const PixelBox& box, const float* reference);

  const Candidates* candidates_ = nullptr;
  std::size_t capacity_ = 0;
  std::unique_ptr<float[]> most_;
  std::unique_ptr<float[]> reach_;
  std::unique_ptr<float[]> costs_;
  std::unique_ptr<std::uint32_t[]> places_;
};

}  // namespace holotone::smoe
