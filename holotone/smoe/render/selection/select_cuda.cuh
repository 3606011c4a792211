#pragma once
// The lists of select.hpp on a CUDA device, for components in its memory. Not for users.
#include <holotone/core/array.hpp>
#include <holotone/core/cuda_check.hpp>
#include <holotone/smoe/render/selection/select_bounds.hpp>

namespace holotone::smoe {

/// As TilePairs, on the device.
struct DevicePairs {
  std::int64_t count = 0;
  Array<std::int64_t, 1> begin;
  Array<std::uint32_t, 1> index;
  Array<std::int64_t, 1> first;
  Array<std::uint32_t, 1> places;
};

/// Bounds of a box of pixels.
struct BoundedBox {
  double least;   ///< L
  double spread;  ///< B
  Reference reference;
  int cheapest;  ///< first class of costs that is dropped
};

/// Makes the lists of select_components for `bounded`, with boxes eight times as wide from level to level. The same
/// lists in every run: sums that decide on dropped components are added in fixed order or as whole numbers.
class CudaSelector {
 public:
  CudaSelector(const Shape<2>& size, int channels, Queue queue);

  [[nodiscard]] const Shape<2>& tiles() const { return levels_.front().count; }
  /// Waits for the device: the numbers of pairs determine the sizes of allocations.
  void select(const ImageComponent* components, std::int64_t count, double tolerance, DevicePairs& pairs);

 private:
  struct Level {
    Shape<2> count{};
    std::int64_t side = 1;               ///< tiles per side of a box
    Array<unsigned long long, 1> least;  ///< L of every box, as ordered_bits; 0: unknown
    Array<BoundedBox, 1> boxes;
    Array<std::int64_t, 1> numbers;  ///< {boxes + 1}: components of each box
    Array<std::int64_t, 1> begin;    ///< {boxes + 1}
    Array<std::uint32_t, 1> index;
  };

  void find_least(const ImageComponent* components, std::int64_t count);
  void list(std::size_t level, const ImageComponent* components, std::int64_t count, double budget, DevicePairs& pairs);
  void sort_pairs(std::int64_t count, DevicePairs& pairs);

  Shape<2> size_;
  int channels_;
  Queue queue_;
  std::vector<Level> levels_;  ///< tiles first
  Array<std::byte, 1> workspace_;
  Array<std::uint32_t, 1> sorted_;   ///< components of pairs
  Array<std::uint32_t, 1> numbers_;  ///< numbers of pairs
};

}  // namespace holotone::smoe
