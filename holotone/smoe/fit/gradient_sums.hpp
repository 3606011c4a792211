#pragma once
// Sums over the pixels of a picture for every component, for fits and gradients. Not for users.
#include <holotone/smoe/render/selection/select.hpp>
#include <memory>

namespace holotone::smoe {

/// Concatenated lists of a picture's tiles, and for each component its positions in them.
struct TilePairs {
  Shape<2> size{};
  Shape<2> tiles{};
  std::vector<std::int64_t> begin;    ///< {tiles + 1}: offsets into index
  std::vector<std::uint32_t> index;   ///< {pairs}: components
  std::vector<std::int64_t> first;    ///< {K + 1}: offsets into places
  std::vector<std::uint32_t> places;  ///< {pairs}: indices of pairs by component, ascending
};
TilePairs pair_up(const Tiles& tiles, const Shape<2>& size, std::int64_t components);

/// Target picture {ny, nx, channels} in tiles; pixels beyond its edges have no weight.
class TargetTiles {
 public:
  explicit TargetTiles(View<const float, 3> image);
  [[nodiscard]] const float* tile(std::int64_t i) const { return data_.data() + i * stride(); }
  [[nodiscard]] int channels() const { return channels_; }
  [[nodiscard]] const Shape<2>& size() const { return size_; }

 private:
  [[nodiscard]] std::int64_t stride() const { return (channels_ + 1) * tile_shape[0] * tile_shape[1]; }

  Shape<2> size_;
  int channels_;
  Shape<2> tiles_;
  std::vector<float> data_;  ///< {tile, channel, row, column}; the last channel is 1 in the picture, 0 beyond
};

/// Kinds of sums. With w_j the gating, y the picture, t the target, r = y - t and (dx, dy) pixels from the component's
/// centre:
enum class PixelSum {
  gradient,  ///< s = w_j r . (m_j - y), p_c = w_j r_c; total: sum of |r|^2
  experts,   ///< s = w_j^2, p_c = w_j r_c; total: sum of |r|^2
  pictures,  ///< as `experts` for a black target
  /// s = w_j |r|^2, p_c = w_j r_c, removal = |r + (y - m_j) w_j / (1 - w_j)|^2 - |r|^2: growth of the squared error
  /// without the component; total: sum of |r|^2
  importance,
  /// s = w_j, p_c = w_j t_c, squares = w_j |t|^2 where w_j is the share of component j in
  /// sum_j pi_j N(x) N(t; m_j, 1 / precision_j); total: sum of the logarithm of that sum, up to constants
  joint,
};

/// True if the total is a squared error of the picture.
constexpr bool is_error(PixelSum what) { return what != PixelSum::pictures && what != PixelSum::joint; }

/// Sums over pixels for one component.
struct ComponentSums {
  std::array<double, 6> s{};                                 ///< sums of s {1, dx, dy, dx^2, dx dy, dy^2}
  std::array<std::array<double, 3>, max_smoe_channels> p{};  ///< sums of p_c {1, dx, dy}
  double extra = 0;                                          ///< sum of `removal` or `squares`
};

/// Computes `sums` {K} and returns the total; `precision` {K} is for `joint` only. The same bits on any number of
/// threads. Cost O(pairs x pixels of a tile), workspace 16 numbers a pair (32 for four channels). Source: gradients of
/// Bochinski et al. 2018, lists by tiles as Kerbl et al. 2023.
double sum_pixels(PixelSum what, std::span<const ImageComponent> components, std::span<const double> precision,
                  const TilePairs& pairs, const TargetTiles& target, std::vector<ComponentSums>& sums);

/// One picture and its tile lists on the device that computes sums over its pixels.
class PixelEngine {
 public:
  virtual ~PixelEngine() = default;
  /// Lists the components that each tile needs for colours within `tolerance` of the sum of all.
  virtual void select(std::span<const ImageComponent> components, double tolerance) = 0;
  /// As sum_pixels, over the lists of the last `select`, for the same number of components.
  virtual double sum(PixelSum what, std::span<const ImageComponent> components, std::span<const double> precision,
                     std::vector<ComponentSums>& sums) = 0;
};
using PixelEnginePointer = std::unique_ptr<PixelEngine>;

/// `picture`: {ny, nx, channels} in host memory; copied. Throws unsupported, naming `where`, for a device that this
/// build lacks.
PixelEnginePointer pixel_engine(const char* where, View<const float, 3> picture, const Queue& queue);
PixelEnginePointer pixel_engine_cpu(View<const float, 3> picture);
PixelEnginePointer pixel_engine_cuda(View<const float, 3> picture, const Queue& queue);

}  // namespace holotone::smoe
