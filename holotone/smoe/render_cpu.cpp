#include <algorithm>
#include <cmath>
#include <cstring>
#include <holotone/core/parallel.hpp>
#include <holotone/core/simd.hpp>
#include <holotone/smoe/render_engine.hpp>
#include <holotone/smoe/select.hpp>

namespace holotone::smoe {
namespace {

constexpr std::int64_t rows = tile_shape[0];
constexpr std::int64_t columns = tile_shape[1];
/// Range of log2 densities in a tile that float32 holds without a maximum for each pixel.
constexpr double widest_range = 200;
/// Of the tolerance: what rounding in float32 may take.
constexpr double rounding_share = 0.1;

/// A component in coordinates of a tile's first pixel, float32.
struct LocalComponent {
  float x;  ///< first pixel less the centre
  float y;
  float across;
  float skew;
  float down;
  float peak;  ///< less the tile's shift
  float colour[most_smoe_channels];
  float slope_x[most_smoe_channels];
  float slope_y[most_smoe_channels];
};

/// 2^x for -126 <= x <= 127, relative error below 3e-7: the whole part goes to the exponent, a polynomial takes the rest
/// in -1/2..1/2 (Taylor's, to the sixth power).
HOLOTONE_ALWAYS_INLINE float power_of_two(float x) {
  const float clamped = std::max(x, -126.0F);
  constexpr float magic = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
  const float shifted = clamped + magic;
  const float rest = clamped - (shifted - magic);
  float sum = 1.5403530e-4F;
  sum = sum * rest + 1.3333558e-3F;
  sum = sum * rest + 9.6181291e-3F;
  sum = sum * rest + 5.5504109e-2F;
  sum = sum * rest + 2.4022651e-1F;
  sum = sum * rest + 6.9314718e-1F;
  sum = sum * rest + 1.0F;
  std::int32_t whole = 0;
  std::memcpy(&whole, &shifted, sizeof(whole));
  std::int32_t bits = 0;
  std::memcpy(&bits, &sum, sizeof(bits));
  bits += whole << 23;
  float result = 0;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

/// Sums of weights, and of weights by colours: [channel][row][column], the weights last.
template <int Channels>
HOLOTONE_SIMD_CLONES void sum_tile(const LocalComponent* components, std::size_t count, float* __restrict sums) {
  constexpr std::int64_t pixels = rows * columns;
  std::fill_n(sums, (Channels + 1) * pixels, 0.0F);
  for (std::size_t j = 0; j < count; ++j) {
    const LocalComponent& own = components[j];
    alignas(64) float base[columns];
    alignas(64) float skewed[columns];
    alignas(64) float colour[Channels][columns];
    for (std::int64_t i = 0; i < columns; ++i) {
      const float dx = own.x + static_cast<float>(i);
      const float u = own.across * dx;
      base[i] = own.peak - u * u;
      skewed[i] = own.skew * dx + own.down * own.y;
      for (int c = 0; c < Channels; ++c) {
        colour[c][i] = own.colour[c] + own.slope_x[c] * dx + own.slope_y[c] * own.y;
      }
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto dy = static_cast<float>(row);
      float* const to = sums + row * columns;
      alignas(64) float weight[columns];
      for (std::int64_t i = 0; i < columns; ++i) {
        const float v = skewed[i] + own.down * dy;
        weight[i] = power_of_two(base[i] - v * v);
        to[Channels * pixels + i] += weight[i];
      }
      for (int c = 0; c < Channels; ++c) {
        for (std::int64_t i = 0; i < columns; ++i) {
          to[c * pixels + i] += weight[i] * (colour[c][i] + own.slope_y[c] * dy);
        }
      }
    }
  }
}

class CpuEngine final : public SmoeRenderer::Engine {
 public:
  CpuEngine(const SmoeModel& model, const SmoeRenderOptions& options) : model_(model), options_(options) {}

  void render(std::span<const SmoeView> views, View<float, 4> images) override {
    info_ = {};
    info_.tile = tile_shape;
    const auto& [count, ny, nx, channels] = images.shape();
    for (std::int64_t i = 0; i < count; ++i) {
      render(views[static_cast<std::size_t>(i)], {&images(i, 0, 0, 0), {ny, nx, channels}});
    }
    info_.components_per_tile /= static_cast<double>(count);
  }
  [[nodiscard]] SmoeRenderInfo info() const override { return info_; }

 private:
  void render(const SmoeView& view, View<float, 3> image) {
    const auto components = image_components(model_, view);
    const Tiles tiles = select_components(components, model_.channels, view.size, options_);
    std::vector<char> robust(tiles.tiles.size());
    parallel_for(0, std::ssize(tiles.tiles), [&](std::int64_t i) {
      const auto& tile = tiles.tiles[static_cast<std::size_t>(i)];
      const auto box = tiles.box(i, view.size);
      robust[static_cast<std::size_t>(i)] = needs_float64(tile);
      if (robust[static_cast<std::size_t>(i)]) {
        exact_tile(components, tile, box, image);
      } else {
        float_tile(components, tile, box, image);
      }
    });
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < tiles.tiles.size(); ++i) {
      const auto count = std::ssize(tiles.tiles[i].index);
      sum += count;
      info_.most_components = std::max<std::int64_t>(info_.most_components, count);
      info_.robust_tiles += robust[i];
    }
    info_.components_per_tile += static_cast<double>(sum) / static_cast<double>(tiles.tiles.size());
  }

  /// Exponents are off by some units of their size in the last place: so are weights, relatively, and colours by that of their spread.
  [[nodiscard]] bool needs_float64(const TileComponents& tile) const {
    if (options_.precision == SmoePrecision::robust) return true;
    const double range = tile.most - tile.least;
    const double rounding = 4 * 0x1p-24 * std::log(2.0) * (range + 30) * tile.spread;
    return !(range <= widest_range) ||
           (options_.selection == SmoeSelection::bounded && !(rounding <= rounding_share * options_.tolerance));
  }

  void float_tile(const std::vector<ImageComponent>& components, const TileComponents& tile, const PixelBox& box,
                  View<float, 3> image) const {
    // The best of every pixel is between 2^-100 and 2^100.
    const double shift = tile.most - tile.least > 100 ? 0.5 * (tile.most + tile.least) : tile.least;
    std::vector<LocalComponent> local(tile.index.size());
    for (std::size_t i = 0; i < local.size(); ++i) {
      const auto& component = components[tile.index[i]];
      LocalComponent& own = local[i];
      own.x = static_cast<float>(box.left - component.x);
      own.y = static_cast<float>(box.top - component.y);
      own.across = static_cast<float>(component.across);
      own.skew = static_cast<float>(component.skew);
      own.down = static_cast<float>(component.down);
      own.peak = static_cast<float>(component.peak - shift);
      std::copy(component.colour.begin(), component.colour.end(), own.colour);
      std::copy(component.slope_x.begin(), component.slope_x.end(), own.slope_x);
      std::copy(component.slope_y.begin(), component.slope_y.end(), own.slope_y);
    }
    alignas(64) float sums[(most_smoe_channels + 1) * rows * columns];
    switch (model_.channels) {
      case 1: sum_tile<1>(local.data(), local.size(), sums); break;
      case 2: sum_tile<2>(local.data(), local.size(), sums); break;
      case 3: sum_tile<3>(local.data(), local.size(), sums); break;
      default: sum_tile<4>(local.data(), local.size(), sums); break;
    }
    const auto q = static_cast<std::int64_t>(model_.channels);
    const auto left = static_cast<std::int64_t>(box.left);
    const auto top = static_cast<std::int64_t>(box.top);
    for (std::int64_t row = 0; top + row <= static_cast<std::int64_t>(box.bottom); ++row) {
      for (std::int64_t column = 0; left + column <= static_cast<std::int64_t>(box.right); ++column) {
        const std::int64_t pixel = row * columns + column;
        const float scale = 1 / sums[q * rows * columns + pixel];
        for (std::int64_t c = 0; c < q; ++c) {
          image(top + row, left + column, c) = sums[c * rows * columns + pixel] * scale;
        }
      }
    }
  }

  void exact_tile(const std::vector<ImageComponent>& components, const TileComponents& tile, const PixelBox& box,
                  View<float, 3> image) const {
    const auto q = static_cast<std::size_t>(model_.channels);
    std::vector<double> density(tile.index.size());
    for (auto row = static_cast<std::int64_t>(box.top); row <= static_cast<std::int64_t>(box.bottom); ++row) {
      for (auto column = static_cast<std::int64_t>(box.left); column <= static_cast<std::int64_t>(box.right);
           ++column) {
        const auto x = static_cast<double>(column);
        const auto y = static_cast<double>(row);
        double most = -INFINITY;
        for (std::size_t i = 0; i < density.size(); ++i) {
          density[i] = components[tile.index[i]].log2_density(x, y);
          most = std::max(most, density[i]);
        }
        double weights = 0;
        std::array<double, most_smoe_channels> sum{};
        for (std::size_t i = 0; i < density.size(); ++i) {
          const auto& component = components[tile.index[i]];
          const double weight = std::exp2(density[i] - most);
          weights += weight;
          for (std::size_t c = 0; c < q; ++c) {
            sum[c] += weight * (static_cast<double>(component.colour[c]) +
                                static_cast<double>(component.slope_x[c]) * (x - component.x) +
                                static_cast<double>(component.slope_y[c]) * (y - component.y));
          }
        }
        float* const pixel = &image(row, column, 0);
        for (std::size_t c = 0; c < q; ++c) pixel[c] = weights > 0 ? static_cast<float>(sum[c] / weights) : 0;
      }
    }
  }

  const SmoeModel& model_;
  SmoeRenderOptions options_;
  SmoeRenderInfo info_;
};

}  // namespace

EnginePointer engine_cpu(const SmoeModel& model, const SmoeRenderOptions& options) {
  return std::make_unique<CpuEngine>(model, options);
}

}  // namespace holotone::smoe
