#pragma once
// A picture's components in groups of neighbours, from which those that reach a box of pixels are found. Not for users.
#include <holotone/smoe/render/select_bounds.hpp>
#include <memory>
#include <span>
#include <vector>

namespace holotone::smoe {

/// Sixteen components side by side, as vector code reads them; their centres relative to (place_x, place_y).
struct alignas(64) Pack {
  static constexpr std::size_t lanes = 16;

  float x[lanes];
  float y[lanes];
  float across[lanes];
  float skew[lanes];
  float down[lanes];
  float peak[lanes];
  float colour[most_smoe_channels][lanes];
  float slope_x[most_smoe_channels][lanes];
  float slope_y[most_smoe_channels][lanes];
  double place_x;
  double place_y;

  void set(std::size_t lane, const ImageComponent& component, std::size_t channels);
};

/// A component of a pack that float32 does not hold: across is this, and nothing but the peak is known of it.
inline constexpr float beyond_float = 1e30F;
/// Numbers of a pack are below, and so are u and v where float32 is to bound them.
inline constexpr double most_of_float = 1e15;

/// What holds for all components of each of some groups: where their centres are and what density they reach at most,
///   U <= peak - max((across dx)^2, (height dy)^2),   dx, dy: how far a box is from the centres.
struct GroupBounds {
  std::vector<double> left;
  std::vector<double> right;
  std::vector<double> top;
  std::vector<double> bottom;
  std::vector<double> across;
  std::vector<double> height;
  std::vector<double> peak;

  /// None of the groups holds anything, yet.
  explicit GroupBounds(std::size_t count);
  [[nodiscard]] std::size_t count() const { return left.size(); }
  void add(std::size_t group, const ImageComponent& component);
  void add(std::size_t group, const GroupBounds& others, std::size_t other);
  /// U of the groups [first, first + count).
  void most(std::size_t first, std::size_t count, const PixelBox& box, double* most) const;
  [[nodiscard]] bool meets(std::size_t group, const PixelBox& box) const;
};

/// All components of a picture: sixteen neighbours are a pack, sixteen packs a bundle. Neighbours in the picture should
/// be neighbours in `components` (order_along_curve).
class Packs {
 public:
  /// On all threads.
  Packs(std::span<const ImageComponent> components, int channels);

  [[nodiscard]] std::size_t components() const { return components_; }
  [[nodiscard]] const Pack& operator[](std::size_t pack) const { return packs_[pack]; }
  [[nodiscard]] const GroupBounds& bounds() const { return bounds_; }

  /// Packs whose centres are around a box, in rising order.
  void around(const PixelBox& box, std::vector<std::uint32_t>& packs) const;
  /// Packs of which some component may have a log2 density of `limit` in a box, in rising order.
  void reaching(const PixelBox& box, double limit, std::vector<std::uint32_t>& packs) const;
  /// The bundle of packs that may be the densest in a box: where no component is near, one to start from.
  void densest(const PixelBox& box, std::vector<std::uint32_t>& packs) const;

 private:
  [[nodiscard]] std::size_t end_of(std::size_t bundle) const;

  std::size_t components_;
  std::unique_ptr<Pack[]> packs_;
  GroupBounds bounds_;
  GroupBounds bundles_;
};

}  // namespace holotone::smoe
