#pragma once
// Sums over the pixels of a picture that a fit needs of every component. Not for users.
#include <holotone/smoe/render/select.hpp>
#include <memory>

namespace holotone::smoe {

/// The lists of a picture's tiles one after the other, and for each component the places where it stands in them.
struct TilePairs {
  Shape<2> size{};
  Shape<2> tiles{};
  std::vector<std::int64_t> begin;    ///< {tiles + 1}: into index
  std::vector<std::uint32_t> index;   ///< {pairs}: components
  std::vector<std::int64_t> first;    ///< {K + 1}: into places
  std::vector<std::uint32_t> places;  ///< {pairs}: numbers of pairs by component, ascending
};
TilePairs pair_up(const Tiles& tiles, const Shape<2>& size, std::int64_t components);

/// The picture {ny, nx, channels} that is fitted, cut in tiles; pixels beyond its edges have no weight.
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

/// What is summed. With w_j the gating, y the picture, t the target, r = y - t and (dx, dy) pixels from the component's
/// centre:
enum class PixelSum {
  gradient,  ///< s = w_j r . (m_j - y), p_c = w_j r_c; total: sum of |r|^2
  experts,   ///< s = w_j^2, p_c = w_j r_c; total: sum of |r|^2
  pictures,  ///< as `experts` for a black target
  /// s = w_j |r|^2, p_c = w_j r_c, removal = |r + (y - m_j) w_j / (1 - w_j)|^2 - |r|^2: what the squared error grows by
  /// without the component; total: sum of |r|^2
  importance,
  /// s = w_j, p_c = w_j t_c, squares = w_j |t|^2 where w_j is the share of component j in
  /// sum_j pi_j N(x) N(t; m_j, 1 / precision_j); total: sum of the logarithm of that sum but for constants
  joint,
};

/// Whether the total is a picture's sum of squares.
constexpr bool is_error(PixelSum what) { return what != PixelSum::pictures && what != PixelSum::joint; }

/// Sums over pixels for one component.
struct ComponentSums {
  std::array<double, 6> s{};                                  ///< of s {1, dx, dy, dx^2, dx dy, dy^2}
  std::array<std::array<double, 3>, most_smoe_channels> p{};  ///< of p_c {1, dx, dy}
  double extra = 0;                                           ///< of `removal` or `squares`
};

/// Fills `sums` {K}; `precision` {K} is for `joint` alone. The same bits on any number of threads. Cost O(pairs x
/// pixels of a tile), workspace 16 numbers a pair (32 for four channels). Source: gradients of Bochinski et al. 2018,
/// lists by tiles as Kerbl et al. 2023.
double sum_pixels(PixelSum what, std::span<const ImageComponent> components, std::span<const double> precision,
                  const TilePairs& pairs, const TargetTiles& target, std::vector<ComponentSums>& sums);

/// One picture and the lists of its tiles, where sums over its pixels are computed.
class PixelEngine {
 public:
  virtual ~PixelEngine() = default;
  /// Lists of the components that tiles need for colours within `tolerance` of the sum of all.
  virtual void select(std::span<const ImageComponent> components, double tolerance) = 0;
  /// As sum_pixels, over the lists that were selected last, for as many components.
  virtual double sum(PixelSum what, std::span<const ImageComponent> components, std::span<const double> precision,
                     std::vector<ComponentSums>& sums) = 0;
};
using PixelEnginePointer = std::unique_ptr<PixelEngine>;

/// `picture`: {ny, nx, channels} in host memory; copied. Throws unsupported, named by `where`, for a device that this
/// build has not.
PixelEnginePointer pixel_engine(const char* where, View<const float, 3> picture, const Queue& queue);
PixelEnginePointer pixel_engine_cpu(View<const float, 3> picture);
PixelEnginePointer pixel_engine_cuda(View<const float, 3> picture, const Queue& queue);

}  // namespace holotone::smoe
