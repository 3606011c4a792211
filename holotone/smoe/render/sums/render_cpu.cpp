// Rendering of models on the CPU, tile by tile.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/smoe/render/render_engine.hpp>
#include <holotone/smoe/render/sums/tile_sums.hpp>
#include <type_traits>

namespace holotone::smoe {
namespace {

/// Largest range of log2 densities in a tile that float32 holds without a maximum for each pixel.
constexpr double widest_range = 200;
/// Share of the tolerance for rounding in float32.
constexpr double rounding_share = 0.1;

/// Components per pass: a first-level cache holds them.
constexpr std::size_t at_once = 64;

/// Converts a component to coordinates of a tile's first pixel, with its density reduced by the tile's shift.
template <int Channels>
HOLOTONE_ALWAYS_INLINE void place(const ImageComponent& component, const PixelBox& box, double shift,
                                  TileColumns<Channels>& columns) {
  const auto x = static_cast<float>(box.left - component.x);
  const auto y = static_cast<float>(box.top - component.y);
  const auto across = static_cast<float>(component.across);
  const auto skew = static_cast<float>(component.skew);
  const auto peak = static_cast<float>(component.peak - shift);
  columns.down = static_cast<float>(component.down);
  float middle[Channels];
  float slope_x[Channels];
  for (std::size_t c = 0; c < Channels; ++c) {
    columns.slope_y[c] = component.slope_y[c];
    slope_x[c] = component.slope_x[c];
    middle[c] = component.colour[c] + component.slope_y[c] * y;
  }
  const float down = columns.down * y;
  for (int i = 0; i < tile_columns; ++i) {
    const float dx = x + static_cast<float>(i);
    const float u = across * dx;
    columns.base[i] = peak - u * u;
    columns.skewed[i] = skew * dx + down;
    for (int c = 0; c < Channels; ++c) columns.colour[c][i] = middle[c] + slope_x[c] * dx;
  }
}

/// Computes the picture in a tile, which may be partly outside.
template <int Channels>
HOLOTONE_SIMD_CLONES void sum_tile(const ImageComponent* components, const std::uint32_t* index, std::size_t count,
                                   const PixelBox& box, double shift, const View<float, 3>& image) {
  TileColumns<Channels> placed[at_once];
  alignas(64) TileSums<Channels> sums = {};
  for (std::size_t from = 0; from < count; from += at_once) {
    const std::size_t number = std::min(at_once, count - from);
    for (std::size_t j = 0; j < number; ++j) place<Channels>(components[index[from + j]], box, shift, placed[j]);
    add_components<Channels>(placed, number, sums);
  }
  const auto left = static_cast<std::int64_t>(box.left);
  const auto top = static_cast<std::int64_t>(box.top);
  const auto width = static_cast<std::int64_t>(box.right) + 1 - left;
  const auto height = static_cast<std::int64_t>(box.bottom) + 1 - top;
  for (std::int64_t row = 0; row < height; ++row) {
    alignas(64) float colours[tile_columns][Channels];
    for (int i = 0; i < tile_columns; ++i) {
      const float scale = 1 / sums[row][Channels][i];
      for (int c = 0; c < Channels; ++c) colours[i][c] = sums[row][c][i] * scale;
    }
    std::copy_n(colours[0], width * Channels, &image(top + row, left, 0));
  }
}

class CpuEngine final : public SmoeRenderer::Engine {
 public:
  CpuEngine(const SmoeModel& model, const SmoeRenderOptions& options)
      : model_(model), options_(options), order_(order_along_curve(model)) {}

  void render(std::span<const SmoeView> views, View<float, 4> images, Progress& progress) override {
    info_ = {};
    info_.tile = tile_shape;
    const auto& [count, ny, nx, channels] = images.shape();
    for (std::int64_t i = 0; i < count; ++i) {
      render(views[static_cast<std::size_t>(i)], {&images(i, 0, 0, 0), {ny, nx, channels}}, progress);
    }
    info_.components_per_tile /= static_cast<double>(count);
  }
  [[nodiscard]] SmoeRenderInfo info() const override { return info_; }

 private:
  void render(const SmoeView& view, View<float, 3> image, Progress& progress) {
    const auto tiles = count_tiles(view.size);
    const std::int64_t total = tiles[0] * tiles[1];
    constexpr std::int64_t tiles_a_report = 64;
    std::atomic<std::int64_t> done = 0;
    std::int64_t reported = -1;  // by the calling thread
    const auto components = image_components(model_, view, order_);
    std::atomic<std::int64_t> sum = 0;
    std::atomic<std::int64_t> robust = 0;
    std::atomic<std::int64_t> most = 0;
    list_tiles(components, model_.channels, view.size, options_, [&](std::int64_t i, TileComponents&& tile) {
      if (const auto before = done++; omp_get_thread_num() == 0 && before / tiles_a_report != reported) {
        reported = before / tiles_a_report;
        progress.step("rendering", before, total);
      }
      const auto box = tile_box(i, view.size);
      if (needs_float64(tile)) {
        exact_tile(components, tile, box, image);
        ++robust;
      } else {
        float_tile(components, tile, box, image);
      }
      const auto count = std::ssize(tile.index);
      sum += count;
      for (auto before = most.load(); before < count && !most.compare_exchange_weak(before, count);) {
      }
    });
    info_.max_components = std::max<std::int64_t>(info_.max_components, most);
    info_.robust_tiles += robust;
    info_.components_per_tile += static_cast<double>(sum) / static_cast<double>(total);
  }

  /// True if float32 is not precise enough. Errors of exponents are some units in the last place of their size. Weights
  /// have the same error, relatively, and colours that error times their spread.
  [[nodiscard]] bool needs_float64(const TileComponents& tile) const {
    if (options_.precision == SmoePrecision::robust) return true;
    const double range = tile.most - tile.least;
    const double rounding = 8 * 0x1p-24 * std::log(2.0) * (range + 30) * tile.spread;
    return !(range <= widest_range) ||
           (options_.selection == SmoeSelection::bounded && !(rounding <= rounding_share * options_.tolerance));
  }

  void float_tile(const std::vector<ImageComponent>& components, const TileComponents& tile, const PixelBox& box,
                  View<float, 3> image) const {
    // The largest weight of every pixel is between 2^-100 and 2^100.
    const double shift = tile.most - tile.least > 100 ? 0.5 * (tile.most + tile.least) : tile.least;
    const auto sum = [&]<int Channels>(std::integral_constant<int, Channels>) {
      sum_tile<Channels>(components.data(), tile.index.data(), tile.index.size(), box, shift, image);
    };
    switch (model_.channels) {
      case 1: sum(std::integral_constant<int, 1>{}); break;
      case 2: sum(std::integral_constant<int, 2>{}); break;
      case 3: sum(std::integral_constant<int, 3>{}); break;
      default: sum(std::integral_constant<int, 4>{}); break;
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
        std::array<double, max_smoe_channels> sum{};
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
  std::vector<std::uint32_t> order_;
  SmoeRenderInfo info_;
};

}  // namespace

EnginePointer engine_cpu(const SmoeModel& model, const SmoeRenderOptions& options) {
  return std::make_unique<CpuEngine>(model, options);
}

}  // namespace holotone::smoe
