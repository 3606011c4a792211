#pragma once
// Dropping components from boxes of pixels on a CPU, many at once (select.hpp has the formula). Not for users.
#include <holotone/smoe/render/select_packs.hpp>

namespace holotone::smoe {

/// Components side by side in whole vectors, the last one repeated, relative to a pixel of the picture: what float32
/// knows of them.
///
/// In a box whose coordinates are between 0 and `width`, `height`, u and v of a point are off by roundings of their
/// terms, together by d = 2^-20 (A + V) at most (sixteen roundings; the point of a box nearest to the centre included,
/// which is found with as many), with
///   X = |x| + width + 1,   Y = |y| + height + 1,   A = across X,   V = |skew| X + down Y
/// so that of the true and the computed q = u^2 + v^2 each is within 2^-14 of itself and (2^14 + 1) d^2 of the other.
/// `above` and `below`
/// are the peak with d^2 and the rest added and taken off. Likewise `rounding` bounds what an expert's colour is off
/// by.
class Candidates {
 public:
  static constexpr std::size_t lanes = Pack::lanes;
  enum Row { x, y, across, skew, down, along_x, along_y, above, below, rounding, experts };
  static constexpr std::size_t rows = experts + 3 * most_smoe_channels;

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

  /// All components of some packs, in rising order; the boxes to come are in `box`.
  void load(const Packs& packs, std::span<const std::uint32_t> which, const PixelBox& box);
  /// Components one by one.
  void load(std::span<const ImageComponent> components, std::span<const std::uint32_t> which, const PixelBox& box);
  /// The places of some of others, for the boxes that these were loaded for; `index` is that among them.
  void take_places(const Candidates& from, std::span<const std::uint32_t> which);
  /// Some of those whose places were taken from `whole`, with their experts.
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

/// Bounds of candidates in a box, and which of them it needs. A thread has its own.
class Pruner {
 public:
  /// What candidates, at least one, have in a box, which is within what they were loaded for. Sets `best`, `most` and
  /// `densest`.
  void locate(const Candidates& candidates, const PixelBox& box);

  /// The largest density that some candidate has all over a box, of those packs that were loaded in these places.
  [[nodiscard]] static float best_of(const Candidates& candidates, std::span<const std::uint32_t> packs,
                                     const PixelBox& box);

  /// How far the farthest expert is from 0 in a box.
  [[nodiscard]] float farthest(const Candidates& candidates, const PixelBox& box);

  /// Places of those that have a log2 density of `limit` somewhere in the box that was located.
  [[nodiscard]] std::span<const std::uint32_t> reaching(float limit);

  /// Measures how far experts are, in a box or a larger one around it, from the colour of candidate `from`.
  void measure(const Candidates& candidates, const PixelBox& box, std::size_t from);

  /// Weights the candidates that were located and measured. Sets `spread`.
  void weigh(float least);

  /// Those of a box that was weighed that stay, where the dropped ones change no colour by more than `budget`.
  [[nodiscard]] std::vector<std::uint32_t> kept(double budget) const;

  float best = 0;           ///< some candidate has this density all over the box
  float most = 0;           ///< the largest density, which stays
  std::size_t densest = 0;  ///< the candidate that has it
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
