#pragma once
// The lists of select.hpp made on a CUDA device, of components that stand there. Not for users.
#include <holotone/core/array.hpp>
#include <holotone/core/cuda_check.hpp>
#include <holotone/smoe/render/select_bounds.hpp>

namespace holotone::smoe {

/// As TilePairs, on the device.
struct DevicePairs {
  std::int64_t count = 0;
  Array<std::int64_t, 1> begin;
  Array<std::uint32_t, 1> index;
  Array<std::int64_t, 1> first;
  Array<std::uint32_t, 1> places;
};

/// What is known of a box of pixels.
struct BoundedBox {
  double least;   ///< L
  double spread;  ///< B
  Reference reference;
  int cheapest;  ///< classes of costs from here on are dropped
};

/// Selects as select_components does where it is `bounded`, but for boxes that are eight times as wide from level to
/// level.
/// The same lists each time: sums that decide what is dropped are added in fixed order or as whole numbers.
class CudaSelector {
 public:
  CudaSelector(const Shape<2>& size, int channels, Queue queue);

  [[nodiscard]] const Shape<2>& tiles() const { return levels_.front().count; }
  /// Waits for the device: numbers of pairs set the sizes of what is allocated.
  void select(const ImageComponent* components, std::int64_t count, double tolerance, DevicePairs& pairs);

 private:
  struct Level {
    Shape<2> count{};
    std::int64_t side = 1;               ///< tiles of a box
    Array<unsigned long long, 1> least;  ///< of every box, as bits in the order of numbers; 0: none is known
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
  Array<std::uint32_t, 1> numbers_;  ///< of pairs
};

}  // namespace holotone::smoe
