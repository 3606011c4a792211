#pragma once
// The components of planes on a CUDA device, sorted by size and place, so that a part of a picture finds those near it
// and knows a bound on all others. Not for users.
#include <array>
#include <holotone/core/array.hpp>
#include <holotone/core/cuda_check.hpp>
#include <holotone/smoe/model/small_matrix.hpp>
#include <vector>

namespace holotone::smoe {

/// Where a component stands in its plane and its density (PlaneShape, in the model's coordinates); `peak` is less the
/// largest peak of the plane, rounded.
struct alignas(16) Place {
  double x;
  double y;
  float across;
  float skew;
  float down;
  float peak;
  float reach;  ///< |colour - 1/2| at the centre, of any channel
  float steep;  ///< change of the colour, of any channel, where the log2 density is 1 below its peak, at most
};

/// The same shape for sums in float64.
struct alignas(16) ExactShape {
  double across;
  double skew;
  double down;
  double peak;
};

struct alignas(16) Expert {
  float colour[most_smoe_channels];
  float slope_x[most_smoe_channels];
  float slope_y[most_smoe_channels];
};

/// Planes close to each other, whose components stand in one order: that of their places in a plane amid them.
struct PlaneBundle {
  unsigned first;
  unsigned planes;
  unsigned middle;  ///< number of that plane: the only one itself, or one after those of all bundles

  bool operator==(const PlaneBundle&) const = default;
};
inline constexpr unsigned most_planes_log2 = 2;

/// How far a component in any plane of a bundle is from what it is in the plane amid them, at most.
struct alignas(16) Span {
  float x;
  float y;
  float rise;  ///< of its peak
  float drop;
  float colour;  ///< of any channel
};

/// A component of any plane: it moves along with the fixed coordinates, and its weight falls with their distance from
/// its own.
struct alignas(16) MovingComponent {
  double at[2];  ///< its own fixed coordinates; there it stands at (x, y)
  double x;
  double y;
  double shift_x[2];
  double shift_y[2];
  double scale[2][2];  ///< L^-1 of the fixed coordinates' covariance
  PlaneShape shape;
  Expert expert;
  float drift[2][most_smoe_channels];  ///< of the colour at its centre
  float steep;
  float deviation;
  int size;  ///< class
};

/// Components fall in classes by their largest standard deviation, a factor of sqrt(2) each; the last one has no limit.
/// A class has its
/// own grid of cells, four times as wide as its deviations.
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

/// Components weigh no less in sums: float32 knows no smaller powers of two.
inline constexpr float least_mass = 1.2e-38F;

/// What no component of a class exceeds, as ordered_bits.
struct ClassMost {
  unsigned peak;
  unsigned deviation;
  unsigned reach;
  unsigned steep;
  unsigned mass;    ///< sum of 2^peak over a cell
  unsigned extent;  ///< of Span's x and y; 0: none
};

/// What kernels read: the components of each plane in the order of its bundle's cells, those of plane v from v * count.
struct Components {
  const Place* place;
  const ExactShape* exact;
  const Expert* expert;
  const Span* span;  ///< {bundles, count}; nullptr: all are zero
  /// {bundles * cells + 1}: first component of each cell, that of bundle b's order b * count and so on.
  const unsigned* begin;
  const ClassMost* most;  ///< {bundles, size_classes}
  const CellLayout* layout;
  unsigned count;
};

/// Unsigned numbers in the order of floats.
__device__ __forceinline__ unsigned ordered_bits(float value) {
  const unsigned bits = __float_as_uint(value);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}
__device__ __forceinline__ float from_ordered(unsigned bits) {
  return __uint_as_float((bits & 0x80000000U) != 0 ? bits & 0x7FFFFFFFU : ~bits);
}

class ComponentCells {
 public:
  /// For a model that has passed require_slices.
  ComponentCells(const SmoeModel& model, Queue queue);

  /// The planes where the last d - 2 coordinates are at[plane * (d - 2)] ..., in bundles one behind the other. Keeps
  /// what stands there already.
  /// Cost O(planes K log K).
  void set_planes(const std::vector<double>& at, const std::vector<PlaneBundle>& bundles);
  /// Up to `most` planes a bundle that are close, for pictures of so many pixels to one of the model's coordinates.
  [[nodiscard]] std::vector<PlaneBundle> bundles_of(const std::vector<double>& at, unsigned planes, unsigned most,
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
  double mean_shift_[2] = {};  ///< of places and of log2 densities with each of the fixed coordinates
  double mean_fall_[2] = {};
  std::vector<double> at_;
  std::vector<PlaneBundle> bundles_;
  bool spans_ = false;  ///< some bundle has several planes
  Array<MovingComponent, 1> moving_;
  Array<double, 1> fixed_;  ///< at_, on the device
  Array<PlaneBundle, 1> device_bundles_;
  Array<unsigned, 1> keys_;  ///< keys, numbers, and both sorted
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
