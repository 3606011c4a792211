// Sums over the pixels of a picture for each component, on the CPU.
#include <algorithm>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/smoe/fit/gradient_lanes.hpp>
#include <holotone/smoe/fit/gradient_sums.hpp>
#include <holotone/smoe/model/over_components.hpp>
#include <numbers>

namespace holotone::smoe {
namespace {

constexpr std::int64_t rows = tile_shape[0];
static_assert(tile_shape[1] == lane_count);
/// Lower bound of 1 - w_j in the removal: beyond it, the pixel would be left to components fitted elsewhere.
constexpr float min_rest = 0.02F;
constexpr double log_two = std::numbers::ln2;

/// A component in coordinates of a tile's first pixel.
struct LocalComponent {
  float x;  ///< first pixel minus the centre
  float y;
  float across;
  float skew;
  float down;
  float peak;
  float sharpness;  ///< sharpness of the colour's density: log2 of it falls by sharpness |t - m|^2
  float colour[max_smoe_channels];
  float slope_x[max_smoe_channels];
  float slope_y[max_smoe_channels];
};

/// Numbers of a pair: sums of s, of p and the extra one, padded to whole vectors.
constexpr std::size_t count_sums(int channels) { return channels <= 3 ? 16 : 32; }

/// Workspace of a thread, reused from tile to tile. Arrays because vectors do not align lanes.
struct Workspace {
  std::vector<LocalComponent> components;
  Array<float, 1> columns;  ///< {component, 2 + channels} lanes: terms constant along a column
  Array<float, 1> weights;  ///< {component, row} lanes: gating without its denominator

  void reserve(std::int64_t count, std::int64_t channels) {
    if (weights.size() < count * rows * lane_count) weights = Array<float, 1>({2 * count * rows * lane_count});
    const std::int64_t width = (2 + channels) * lane_count;
    if (columns.size() < count * width) columns = Array<float, 1>({2 * count * width});
  }
};

Lanes* lanes(Array<float, 1>& array) { return reinterpret_cast<Lanes*>(array.data()); }

/// Data of a tile's pixels, in rows of lanes.
template <int Channels>
struct Pixels {
  Lanes target[Channels][rows];
  Lanes mask[rows];
  Lanes inverse[rows];  ///< 1 / sum of weights, 0 beyond the picture
  Lanes residual[Channels][rows];
  Lanes picture[Channels][rows];
  Lanes error[rows];  ///< |r|^2
  Lanes level[rows];  ///< joint: log2 of the largest density, and the sum of weights over 2^that
  Lanes sum[rows];
};

template <int Channels>
HOLOTONE_ALWAYS_INLINE void fill_columns(const LocalComponent* components, std::size_t count, Lanes* columns) {
  constexpr Lanes iota = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  for (std::size_t j = 0; j < count; ++j) {
    const LocalComponent& component = components[j];
    Lanes* const to = columns + j * (2 + Channels);
    const Lanes dx = component.x + iota;
    const Lanes u = component.across * dx;
    to[0] = component.peak - u * u;
    to[1] = component.skew * dx + component.down * component.y;
    for (int c = 0; c < Channels; ++c)
      to[2 + c] = component.colour[c] + component.slope_x[c] * dx + component.slope_y[c] * component.y;
  }
}

/// Computes weights without their denominator, the picture and the residual.
template <int Channels, PixelSum What>
HOLOTONE_ALWAYS_INLINE void weigh(const LocalComponent* components, std::size_t count, const Lanes* columns,
                                  Lanes* weights, Pixels<Channels>& pixels) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto dy = static_cast<float>(row);
    Lanes most = Lanes{} - 3e38F;
    for (std::size_t j = 0; j < count; ++j) {
      const Lanes* const column = columns + j * (2 + Channels);
      const Lanes v = column[1] + components[j].down * dy;
      Lanes density = column[0] - v * v;
      if constexpr (What == PixelSum::joint) {
        Lanes away = {};
        for (int c = 0; c < Channels; ++c) {
          const Lanes off = pixels.target[c][row] - (column[2 + c] + components[j].slope_y[c] * dy);
          away += off * off;
        }
        density -= components[j].sharpness * away;
      }
      weights[j * rows + static_cast<std::size_t>(row)] = density;
      keep_larger(most, density);
    }
    Lanes sum = {};
    Lanes colour[Channels] = {};
    for (std::size_t j = 0; j < count; ++j) {
      Lanes& weight = weights[j * rows + static_cast<std::size_t>(row)];
      Lanes exponent = weight - most;
      raise_two(exponent);
      weight = exponent;
      sum += exponent;
      if constexpr (What != PixelSum::joint) {
        const Lanes* const column = columns + j * (2 + Channels);
        for (int c = 0; c < Channels; ++c) colour[c] += exponent * (column[2 + c] + components[j].slope_y[c] * dy);
      }
    }
    const Lanes inverse = 1.0F / sum;
    pixels.inverse[row] = inverse * pixels.mask[row];
    pixels.level[row] = most;
    pixels.sum[row] = sum;
    Lanes error = {};
    for (int c = 0; c < Channels; ++c) {
      pixels.picture[c][row] = colour[c] * inverse;
      pixels.residual[c][row] = (pixels.picture[c][row] - pixels.target[c][row]) * pixels.mask[row];
      error += pixels.residual[c][row] * pixels.residual[c][row];
    }
    pixels.error[row] = error;
  }
}

/// s, p and the extra summand of one component in one row. `weight` is the gating.
template <int Channels, PixelSum What>
HOLOTONE_ALWAYS_INLINE void summands(const LocalComponent& component, const Lanes* column,
                                     const Pixels<Channels>& pixels, std::int64_t row, const Lanes& weight, Lanes& s,
                                     Lanes* p, Lanes& extra) {
  const auto dy = static_cast<float>(row);
  if constexpr (What == PixelSum::joint) {
    s = weight;
    extra = Lanes{};
    for (int c = 0; c < Channels; ++c) {
      p[c] = weight * pixels.target[c][row];
      extra += p[c] * pixels.target[c][row];
    }
    return;
  }
  for (int c = 0; c < Channels; ++c) p[c] = weight * pixels.residual[c][row];
  if constexpr (What == PixelSum::experts || What == PixelSum::pictures) s = weight * weight;
  if constexpr (What == PixelSum::gradient) {
    s = Lanes{};
    for (int c = 0; c < Channels; ++c) s += p[c] * (column[2 + c] + component.slope_y[c] * dy - pixels.picture[c][row]);
  }
  if constexpr (What == PixelSum::importance) {
    s = weight * pixels.error[row];
    Lanes rest = 1.0F - weight;
    keep_larger(rest, Lanes{} + min_rest);
    const Lanes share = weight / rest;
    extra = Lanes{};
    for (int c = 0; c < Channels; ++c) {
      const Lanes shift = share * (pixels.picture[c][row] - column[2 + c] - component.slope_y[c] * dy);
      extra += shift * (2.0F * pixels.residual[c][row] + shift);
    }
    extra *= pixels.mask[row];
  }
}

/// The sums of one component over one tile about its centre: s {1, dx, dy, dx^2, dx dy, dy^2}, each p {1, dx, dy},
/// extra.
template <int Channels, PixelSum What>
HOLOTONE_ALWAYS_INLINE void sum_component(const LocalComponent& component, const Lanes* column, const Lanes* weights,
                                          const Pixels<Channels>& pixels, float* out) {
  constexpr Lanes iota = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const Lanes dx = component.x + iota;
  Lanes s[3] = {};
  Lanes p[Channels][2] = {};
  Lanes extra = {};
  for (std::int64_t row = 0; row < rows; ++row) {
    const float dy = component.y + static_cast<float>(row);
    Lanes own_s = {};
    Lanes own_p[Channels];
    Lanes own_extra = {};
    const Lanes weight = weights[row] * pixels.inverse[row];
    summands<Channels, What>(component, column, pixels, row, weight, own_s, own_p, own_extra);
    s[0] += own_s;
    s[1] += own_s * dy;
    s[2] += own_s * (dy * dy);
    for (int c = 0; c < Channels; ++c) {
      p[c][0] += own_p[c];
      p[c][1] += own_p[c] * dy;
    }
    extra += own_extra;
  }
  Lanes all[count_sums(Channels)] = {s[0], s[0] * dx, s[1], s[0] * dx * dx, s[1] * dx, s[2]};
  for (int c = 0; c < Channels; ++c) {
    all[6 + 3 * c] = p[c][0];
    all[7 + 3 * c] = p[c][0] * dx;
    all[8 + 3 * c] = p[c][1];
  }
  all[6 + 3 * Channels] = extra;
  for (std::size_t i = 0; i < count_sums(Channels); i += 16) sum_lanes(all + i, out + i);
}

/// Computes the sums of a tile's components and the data of its pixels.
template <int Channels, PixelSum What>
HOLOTONE_SIMD_CLONES void sum_tile(const LocalComponent* components, std::size_t count, const float* target,
                                   Lanes* columns, Lanes* weights, Pixels<Channels>& pixels, float* sums) {
  if constexpr (What == PixelSum::pictures) {
    std::memset(pixels.target, 0, sizeof(pixels.target));
  } else {
    std::memcpy(pixels.target, target, sizeof(pixels.target));
  }
  std::memcpy(pixels.mask, target + Channels * rows * lane_count, sizeof(pixels.mask));
  fill_columns<Channels>(components, count, columns);
  weigh<Channels, What>(components, count, columns, weights, pixels);
  for (std::size_t j = 0; j < count; ++j) {
    sum_component<Channels, What>(components[j], columns + j * (2 + Channels), weights + j * rows, pixels,
                                  sums + j * count_sums(Channels));
  }
}

/// The tile's part of the total.
template <int Channels>
double compute_total(PixelSum what, const Pixels<Channels>& pixels) {
  double total = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (int i = 0; i < lane_count; ++i) {
      if (what != PixelSum::joint) {
        total += static_cast<double>(pixels.error[row][i]);
      } else if (pixels.mask[row][i] > 0) {
        total +=
            log_two * static_cast<double>(pixels.level[row][i]) + std::log(static_cast<double>(pixels.sum[row][i]));
      }
    }
  }
  return total;
}

void place_locally(std::span<const ImageComponent> components, std::span<const double> precision,
                   std::span<const std::uint32_t> index, int channels, double left, double top,
                   std::vector<LocalComponent>& local) {
  local.resize(index.size());
  for (std::size_t i = 0; i < index.size(); ++i) {
    const ImageComponent& component = components[index[i]];
    LocalComponent& shifted = local[i];
    shifted.x = static_cast<float>(left - component.x);
    shifted.y = static_cast<float>(top - component.y);
    shifted.across = static_cast<float>(component.across);
    shifted.skew = static_cast<float>(component.skew);
    shifted.down = static_cast<float>(component.down);
    shifted.peak = static_cast<float>(component.peak);
    shifted.sharpness = 0;
    if (!precision.empty()) {
      shifted.sharpness = static_cast<float>(0.5 / log_two * precision[index[i]]);
      shifted.peak += static_cast<float>(0.5 * channels * std::log2(precision[index[i]]));
    }
    std::copy(component.colour.begin(), component.colour.end(), shifted.colour);
    std::copy(component.slope_x.begin(), component.slope_x.end(), shifted.slope_x);
    std::copy(component.slope_y.begin(), component.slope_y.end(), shifted.slope_y);
  }
}

/// Adds the sums of one component over its tiles, in their order.
template <int Channels>
void add_pairs(std::span<const std::uint32_t> pairs, const float* of_pairs, ComponentSums& sums) {
  constexpr std::size_t width = count_sums(Channels);
  std::array<double, width> sum{};
  for (const auto pair : pairs) {
    for (std::size_t i = 0; i < width; ++i) sum[i] += static_cast<double>(of_pairs[pair * width + i]);
  }
  std::copy_n(sum.begin(), sums.s.size(), sums.s.begin());
  for (std::size_t c = 0; c < Channels; ++c) std::copy_n(sum.begin() + 6 + 3 * c, 3, sums.p[c].begin());
  sums.extra = sum[6 + 3 * Channels];
}

template <int Channels, PixelSum What>
double sum_tiles(std::span<const ImageComponent> components, std::span<const double> precision, const TilePairs& pairs,
                 const TargetTiles& target, std::vector<ComponentSums>& sums) {
  constexpr std::size_t width = count_sums(Channels);
  const auto tiles = std::ssize(pairs.begin) - 1;
  const auto of_pairs = std::make_unique_for_overwrite<float[]>(pairs.index.size() * width);
  std::vector<double> totals(static_cast<std::size_t>(tiles));
  parallel_for(0, tiles, [&](std::int64_t i) {
    static thread_local Workspace workspace;
    const auto begin = static_cast<std::size_t>(pairs.begin[static_cast<std::size_t>(i)]);
    const auto count = static_cast<std::size_t>(pairs.begin[static_cast<std::size_t>(i) + 1]) - begin;
    place_locally(components, precision, std::span(pairs.index).subspan(begin, count), Channels,
                  static_cast<double>(i % pairs.tiles[1] * tile_shape[1]),
                  static_cast<double>(i / pairs.tiles[1] * tile_shape[0]), workspace.components);
    workspace.reserve(static_cast<std::int64_t>(count), Channels);
    Pixels<Channels> pixels;
    sum_tile<Channels, What>(workspace.components.data(), count, target.tile(i), lanes(workspace.columns),
                             lanes(workspace.weights), pixels, of_pairs.get() + begin * width);
    totals[static_cast<std::size_t>(i)] = compute_total<Channels>(What, pixels);
  });
  sums.resize(components.size());
  over_components(std::ssize(components), [&](std::size_t j) {
    const auto first = static_cast<std::size_t>(pairs.first[j]);
    const auto count = static_cast<std::size_t>(pairs.first[j + 1]) - first;
    add_pairs<Channels>(std::span(pairs.places).subspan(first, count), of_pairs.get(), sums[j]);
  });
  double total = 0;
  for (const double of_tile : totals) total += of_tile;
  return total;
}

template <int Channels>
double sum_channels(PixelSum what, std::span<const ImageComponent> components, std::span<const double> precision,
                    const TilePairs& pairs, const TargetTiles& target, std::vector<ComponentSums>& sums) {
  switch (what) {
    case PixelSum::gradient: return sum_tiles<Channels, PixelSum::gradient>(components, {}, pairs, target, sums);
    case PixelSum::experts: return sum_tiles<Channels, PixelSum::experts>(components, {}, pairs, target, sums);
    case PixelSum::pictures: return sum_tiles<Channels, PixelSum::pictures>(components, {}, pairs, target, sums);
    case PixelSum::importance: return sum_tiles<Channels, PixelSum::importance>(components, {}, pairs, target, sums);
    case PixelSum::joint: break;
  }
  return sum_tiles<Channels, PixelSum::joint>(components, precision, pairs, target, sums);
}

}  // namespace

double sum_pixels(PixelSum what, std::span<const ImageComponent> components, std::span<const double> precision,
                  const TilePairs& pairs, const TargetTiles& target, std::vector<ComponentSums>& sums) {
  switch (target.channels()) {
    case 1: return sum_channels<1>(what, components, precision, pairs, target, sums);
    case 2: return sum_channels<2>(what, components, precision, pairs, target, sums);
    case 3: return sum_channels<3>(what, components, precision, pairs, target, sums);
    default: break;
  }
  return sum_channels<4>(what, components, precision, pairs, target, sums);
}

namespace {

class CpuEngine final : public PixelEngine {
 public:
  explicit CpuEngine(View<const float, 3> picture) : target_(picture) {}

  void select(std::span<const ImageComponent> components, double tolerance) override {
    SmoeRenderOptions how;
    how.tolerance = tolerance;
    pairs_ = pair_up(select_components(components, target_.channels(), target_.size(), how), target_.size(),
                     std::ssize(components));
  }
  double sum(PixelSum what, std::span<const ImageComponent> components, std::span<const double> precision,
             std::vector<ComponentSums>& sums) override {
    return sum_pixels(what, components, precision, pairs_, target_, sums);
  }

 private:
  TargetTiles target_;
  TilePairs pairs_;
};

}  // namespace

PixelEnginePointer pixel_engine_cpu(View<const float, 3> picture) { return std::make_unique<CpuEngine>(picture); }

}  // namespace holotone::smoe
