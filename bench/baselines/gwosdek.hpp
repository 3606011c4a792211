#pragma once
// The step of Gwosdek et al. 2012 ("Fast electrostatic halftoning") as its text has it, in float32, for comparison with
// the library's: a CUDA kernel for each part, and the same arithmetic in plain loops on the CPU.
#include <bench/baselines/gwosdek_elements.hpp>
#include <holotone/core/array.hpp>
#include <holotone/halftone/electrostatic/settings.hpp>
#include <memory>
#include <vector>

namespace bench {

/// Where an iteration's repulsion comes from.
enum class GwosdekSum {
  direct,  ///< every pair, in float32 (Schmaltz et al. 2010); on CUDA by tiles of 256 dots in shared memory
  fast,    ///< three sums (3) by NFFTs, and the near field through the map
};

/// What the paper leaves open is chosen as follows. The Fourier plane has the power of two n in [2 N, 4 N), N =
/// sqrt(p M). The window's 2 m + 1 nodes are those around the nearest one, b = pi (2 - N / n). epsilon_I = p / N (the
/// text has "p / n ~ p / N"), epsilon_B = 1/16. D transposed, b_j and D are one kernel. The map's cells are as large as
/// a dot's share of the darkest pixel, so that solid black fills it; at most 64 dots are pushed on for one that comes.
/// Textures are plain loads, and interpolation is in float32.
struct GwosdekOptions {
  GwosdekSum sum = GwosdekSum::fast;
  int cutoff = 5;                ///< m, 2 to 5
  int degree = 5;                ///< p, 2 to 12
  double room = 1;               ///< cells for a dot's share of the darkest pixel
  bool radius_by_plane = false;  ///< epsilon_I = p / n: the near field is less than half as wide
};

/// Neighbours within epsilon_I, counted from both sides of a pair.
struct GwosdekNeighbours {
  std::int64_t within = 0;        ///< by every pair
  std::int64_t found = 0;         ///< through the map
  std::int64_t without_cell = 0;  ///< dots for which the map has no cell
};

namespace gwosdek {

/// Transforms between a real plane and its half spectrum, in place and unscaled.
class PlaneTransform {
 public:
  virtual ~PlaneTransform() = default;
  virtual void forward(float* values) = 0;
  virtual void inverse(float* values) = 0;
};

#if HOLOTONE_CUDA
std::unique_ptr<PlaneTransform> plane_transform_cuda(const Plane& plane, const holotone::Queue& queue);
/// Calls body(i) for 0 <= i < count, one thread each. For the bodies of gwosdek_elements.hpp.
template <class Body>
void each_cuda(const Body& body, std::int64_t count, const holotone::Queue& queue);
void clear_cuda(void* target, int byte, std::size_t bytes, const holotone::Queue& queue);
/// Repulsion by every pair, in the dots' units.
void direct_cuda(const Pair* dots, std::int64_t count, Pair* repulsion, const holotone::Queue& queue);
#endif

}  // namespace gwosdek

/// Dots on one device and the paper's iteration.
class GwosdekStep {
 public:
  GwosdekStep(holotone::Shape<2> page, std::int64_t count, holotone::Queue queue, const GwosdekOptions& options = {});

  /// Computes the attraction's table, in float64 on the host, and the size of the map. `ink` in host memory.
  void set_ink(holotone::View<const float, 2> ink);
  /// {count, 2} in pixels on the page, on the queue's device.
  void set_positions(holotone::View<const float, 2> positions);
  void positions(holotone::View<float, 2> positions);
  /// Writes F of Eq. (1) at the present places, 1/px: {count, 2} on the queue's device.
  void forces(holotone::View<float, 2> forces);
  /// One iteration: forces, moves of 0.1 F, projection onto the page.
  void step();
  /// Fills the map and counts. Cost O(count^2).
  GwosdekNeighbours neighbours();

  [[nodiscard]] float radius() const { return static_cast<float>(setup_.inner); }  ///< epsilon_I, scaled units
  [[nodiscard]] double radius_px() const { return setup_.inner / setup_.scale; }
  [[nodiscard]] std::int64_t plane_side() const { return plane_.side; }  ///< n
  /// What the map holds since neighbours(), forces() or step(): rows of map().row_length() cells, in host memory.
  [[nodiscard]] std::vector<unsigned long long> map_cells() const;
  [[nodiscard]] const gwosdek::Map& map() const { return map_; }
  [[nodiscard]] const holotone::Array<gwosdek::Pair, 1>& dots() const { return dots_; }  ///< in scaled units

 private:
  template <class Body>
  void each(const Body& body, std::int64_t count);
  void clear(void* target, int byte, std::size_t bytes);
  void fill_map();
  void sum_repulsion();
  [[nodiscard]] gwosdek::Pair centre_px() const;
  [[nodiscard]] gwosdek::Net net() const;

  holotone::Queue queue_;
  GwosdekOptions options_;
  holotone::electrostatic::Setup setup_;
  std::int64_t count_;
  gwosdek::Pair half_;  ///< half of the page, scaled units
  gwosdek::Window window_{};
  gwosdek::Map map_{};
  gwosdek::Plane plane_{};
  holotone::Array<gwosdek::Pair, 1> dots_;
  holotone::Array<gwosdek::Pair, 1> repulsion_;
  holotone::Array<gwosdek::Pair, 1> attraction_;
  holotone::Array<float, 1> sums_;     ///< {3, count}
  holotone::Array<float, 1> factors_;  ///< b_j
  holotone::Array<float, 1> plane_memory_;
  holotone::Array<unsigned long long, 1> cells_;
  holotone::Array<unsigned long long, 1> counts_;  ///< without a cell, found, within
  std::unique_ptr<gwosdek::PlaneTransform> transform_;
};

}  // namespace bench
