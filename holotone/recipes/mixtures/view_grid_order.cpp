#include <algorithm>
#include <holotone/core/parallel.hpp>
#include <holotone/recipes/mixtures/view_files_detail.hpp>
#include <limits>

namespace holotone::mixtures {
namespace {

/// A picture of at most about 128 pixels a side: the mean of squares of pixels, over all channels.
std::vector<float> shrunk(const Array<float, 3>& image) {
  constexpr std::int64_t most = 128;
  const auto [ny, nx, channels] = image.shape();
  const std::int64_t scale = std::max<std::int64_t>((std::max(ny, nx) + most - 1) / most, 1);
  std::vector<float> small;
  for (std::int64_t top = 0; top + scale <= ny; top += scale) {
    for (std::int64_t left = 0; left + scale <= nx; left += scale) {
      float sum = 0;
      for (std::int64_t row = top; row < top + scale; ++row) {
        const float* const from = image.data() + (row * nx + left) * channels;
        for (std::int64_t i = 0; i < scale * channels; ++i) sum += from[i];
      }
      small.push_back(sum);
    }
  }
  return small;
}

double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto apart = static_cast<double>(a[i] - b[i]);
    sum += apart * apart;
  }
  return sum / static_cast<double>(a.size());
}

/// Mean difference of pictures at neighbouring places of two rows.
double between_rows(const std::vector<std::vector<float>>& pictures, const ViewsGrid& grid) {
  double sum = 0;
  const auto columns = static_cast<std::size_t>(grid.columns);
  const std::size_t pairs = pictures.size() - columns;
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::size_t below = grid.serpentine ? i / columns * columns + 2 * columns - 1 - i % columns : i + columns;
    sum += difference(pictures[i], pictures[below]);
  }
  return sum / static_cast<double>(pairs);
}

/// Mean difference of the first and the last picture of a row.
double across_row(const std::vector<std::vector<float>>& pictures, const ViewsGrid& grid) {
  double sum = 0;
  const auto columns = static_cast<std::size_t>(grid.columns);
  for (std::size_t i = 0; i < pictures.size(); i += columns) {
    sum += difference(pictures[i], pictures[i + columns - 1]);
  }
  return sum / static_cast<double>(grid.rows);
}

}  // namespace

std::optional<ViewsGrid> find_views_grid(const std::vector<Array<float, 3>>& images) {
  const auto count = std::ssize(images);
  std::vector<std::vector<float>> pictures(images.size());
  parallel_for(0, count, [&](std::int64_t i) {
    pictures[static_cast<std::size_t>(i)] = shrunk(images[static_cast<std::size_t>(i)]);
  });
  if (pictures.empty() || pictures.front().empty()) return std::nullopt;
  std::optional<ViewsGrid> best;
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t columns = 3; 2 * columns <= count; ++columns) {
    if (count % columns != 0) continue;
    for (const bool serpentine : {false, true}) {
      const ViewsGrid grid{columns, count / columns, serpentine};
      const double down = between_rows(pictures, grid);
      constexpr double clearly = 0.5;
      if (!(down < clearly * across_row(pictures, grid)) || !(down < least)) continue;
      least = down;
      best = grid;
    }
  }
  return best;
}

}  // namespace holotone::mixtures
