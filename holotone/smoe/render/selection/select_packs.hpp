#pragma once
// Components of a picture in groups of neighbours, for the search of those that reach a box of pixels. Not for users.
#include <holotone/smoe/render/selection/select_bounds.hpp>
#include <memory>
#include <span>
#include <vector>

namespace holotone::smoe {

/// Sixteen components in vectors; centres relative to (place_x, place_y).
struct alignas(64) Pack {
  static constexpr std::size_t lanes = 16;

  float x[lanes];
  float y[lanes];
  float across[lanes];
  float skew[lanes];
  float down[lanes];
  float peak[lanes];
  float colour[max_smoe_channels][lanes];
  float slope_x[max_smoe_channels][lanes];
  float slope_y[max_smoe_channels][lanes];
  double place_x;
  double place_y;

  void set(std::size_t lane, const ImageComponent& component, std::size_t channels);
};

/// Value of `across` for a component that float32 does not hold: only its peak is used.
inline constexpr float beyond_float = 1e30F;
/// Upper limit of a pack's numbers, and of u and v that are bounded in float32.
inline constexpr double max_of_float = 1e15;

/// Bounds over all components of each group: the box of their centres, and their largest density
///   U <= peak - max((across dx)^2, (height dy)^2),   dx, dy: distance of a box from the centres.
struct GroupBounds {
  std::vector<double> left;
  std::vector<double> right;
  std::vector<double> top;
  std::vector<double> bottom;
  std::vector<double> across;
  std::vector<double> height;
  std::vector<double> peak;

  /// Empty groups.
  explicit GroupBounds(std::size_t count);
  [[nodiscard]] std::size_t count() const { return left.size(); }
  void add(std::size_t group, const ImageComponent& component);
  void add(std::size_t group, const GroupBounds& others, std::size_t other);
  /// Computes U of the groups [first, first + count).
  void most(std::size_t first, std::size_t count, const PixelBox& box, double* most) const;
  [[nodiscard]] bool meets(std::size_t group, const PixelBox& box) const;
};

/// All components of a picture: sixteen neighbours are a pack, sixteen packs a bundle. Neighbours in the picture should
/// be neighbours in `components` (order_along_curve).
class Packs {
 public:
  /// Builds the packs, on all threads.
  Packs(std::span<const ImageComponent> components, int channels);

  [[nodiscard]] std::size_t components() const { return components_; }
  [[nodiscard]] const Pack& operator[](std::size_t pack) const { return packs_[pack]; }
  [[nodiscard]] const GroupBounds& bounds() const { return bounds_; }

  /// Packs whose box of centres meets `box`, in ascending order.
  void around(const PixelBox& box, std::vector<std::uint32_t>& packs) const;
  /// Packs with a component that may reach a log2 density of `limit` in a box, in ascending order.
  void reaching(const PixelBox& box, double limit, std::vector<std::uint32_t>& packs) const;
  /// Packs of the bundle that may be the densest in a box: a starting point if no component is near.
  void densest(const PixelBox& box, std::vector<std::uint32_t>& packs) const;

 private:
  [[nodiscard]] std::size_t end_of(std::size_t bundle) const;

  std::size_t components_;
  std::unique_ptr<Pack[]> packs_;
  GroupBounds bounds_;
  GroupBounds bundles_;
};

}  // namespace holotone::smoe
