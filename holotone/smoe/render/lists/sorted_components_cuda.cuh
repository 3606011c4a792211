#pragma once
// Components of planes on a CUDA device, sorted by size and position: a part of a picture visits those near it and
// bounds all others. Not for users.
#include <array>
#include <holotone/core/array.hpp>
#include <holotone/core/cuda_check.hpp>
#include <holotone/smoe/render/moving_component.hpp>
#include <vector>

namespace holotone::smoe {

/// Position of a component in its plane, and its density (PlaneShape, in the model's coordinates); `peak` is relative
/// to the largest peak of the plane, rounded.
struct alignas(16) Place {
  double x;
  double y;
  float across;
  float skew;
  float down;
  float peak;
  float reach;  ///< |colour - 1/2| at the centre, of any channel
  float steep;  ///< largest change of the colour, of any channel, at a log2 density 1 below its peak
};

/// The same shape for sums in float64.
struct alignas(16) ExactShape {
  double across;
  double skew;
  double down;
  double peak;
};

/// Close planes whose components have one order: that of their positions in the middle plane.
struct PlaneBundle {
  unsigned first;
  unsigned planes;
  unsigned middle;  ///< number of the middle plane: the only one itself, or one after those of all bundles

  bool operator==(const PlaneBundle&) const = default;
};
inline constexpr unsigned max_planes_log2 = 2;

/// Largest deviations of a component in any plane of a bundle from the middle plane.
struct alignas(16) Span {
  float x;
  float y;
  float rise;  ///< increase of its peak
  float drop;
  float colour;  ///< largest change of a channel
};

/// Number of classes of components by their largest standard deviation, a factor of sqrt(2) each; the last one has no
/// limit. A class has its own grid of cells, four times as wide as its deviations.
inline constexpr int size_classes = 20;

struct CellClass {
  double side;
  double a_cell;  ///< 1 / side
  int columns;
  int rows;
  int first;  ///< number of its first cell
};

struct CellLayout {
  double x;  ///< the first cells' corner
  double y;
  double first_deviation;  ///< largest of the first class
  int cells;
  CellClass classes[size_classes];
};

/// Least mass of a component in sums: float32 has no smaller normal powers of two.
inline constexpr float min_mass = 1.2e-38F;

/// Upper bounds over the components of a class, as ordered_bits.
struct ClassMost {
  unsigned peak;
  unsigned deviation;
  unsigned reach;
  unsigned steep;
  unsigned mass;    ///< sum of 2^peak over a cell
  unsigned extent;  ///< extent of Span's x and y; 0: none
};

/// Input of kernels: the components of each plane in the order of its bundle's cells, those of plane v from v * count.
struct Components {
  const Place* place;
  const ExactShape* exact;
  const Expert* expert;
  const Span* span;  ///< {bundles, count}; nullptr: all are zero
  /// {bundles * cells + 1}: first component of each cell; the order of bundle b begins at b * count.
  const unsigned* begin;
  const ClassMost* most;  ///< {bundles, size_classes}
  const CellLayout* layout;
  unsigned count;
};

#if defined(__CUDACC__)

/// Maps floats to unsigned numbers of the same order, and back.
__device__ __forceinline__ unsigned ordered_bits(float value) {
  const unsigned bits = __float_as_uint(value);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}
__device__ __forceinline__ float from_ordered(unsigned bits) {
  return __uint_as_float((bits & 0x80000000U) != 0 ? bits & 0x7FFFFFFFU : ~bits);
}

#endif

class ComponentCells {
 public:
  /// For a model that has passed require_slices.
  ComponentCells(const SmoeModel& model, Queue queue);

  /// Sets the planes with the last d - 2 coordinates at[plane * (d - 2)] ..., in consecutive bundles. Does nothing if
  /// they are set already. Cost O(planes K log K).
  void set_planes(const std::vector<double>& at, const std::vector<PlaneBundle>& bundles);
  /// Groups close planes into bundles of up to `most`, for pictures of `pixels` pixels per unit of the model's
  /// coordinates.
  [[nodiscard]] std::vector<PlaneBundle> bundle_planes(const std::vector<double>& at, unsigned planes, unsigned most,
                                                       double pixels) const;
  [[nodiscard]] Components components() const;

 private:
  template <int Dimensions>
  void prepare(const SmoeModel& model);
  void set_means(const SmoeModel& model);
  /// The steps of set_planes. `all_at`: the planes' fixed coordinates, then the bundles' middles.
  void upload_planes(const std::vector<double>& all_at);
  void reserve_planes(std::int64_t planes);
  void sort_by_cell();
  void place_in_order();
  [[nodiscard]] std::int64_t in_bundles() const { return std::ssize(bundles_) * count_; }
  [[nodiscard]] std::int64_t cells_of_bundles() const { return std::ssize(bundles_) * layout_.cells; }

  Queue queue_;
  int dimensions_;
  std::int64_t count_;
  CellLayout layout_{};
  Array<CellLayout, 1> device_layout_;
  double mean_shift_[2] = {};  ///< means per unit of each fixed coordinate: shift of centres, distance in deviations
  double mean_fall_[2] = {};
  std::vector<double> at_;
  std::vector<PlaneBundle> bundles_;
  bool spans_ = false;  ///< some bundle has several planes
  Array<MovingComponent, 1> moving_;
  Array<double, 1> fixed_;  ///< at_, on the device
  Array<PlaneBundle, 1> device_bundles_;
  Array<unsigned, 1> keys_;  ///< keys, component numbers, and both sorted
  Array<std::byte, 1> sort_memory_;
  Array<Place, 1> place_;
  Array<Span, 1> span_;
  Array<ExactShape, 1> exact_;
  Array<Expert, 1> expert_;
  Array<unsigned, 1> begin_;
  Array<unsigned, 1> highest_;  ///< peak of every plane, as ordered_bits
  Array<ClassMost, 1> most_;
};

}  // namespace holotone::smoe
