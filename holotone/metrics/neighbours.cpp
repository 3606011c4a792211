#include <algorithm>
#include <bit>
#include <cmath>
#include <holotone/metrics/loops_detail.hpp>
#include <holotone/metrics/neighbours.hpp>
#include <limits>
#include <numbers>
#include <numeric>

namespace holotone {
namespace {

/// Dots of a region sorted into square cells, row by row.
class Cells {
 public:
  Cells(const std::vector<double>& inside, const Region& region, double side) {
    const auto count = inside.size() / 2;
    // Limits the cells to a few per dot: more cells of an almost empty region only cost memory.
    max_cells_ = std::max(4.0 * static_cast<double>(count), 64.0);
    side_ = std::max(side, std::sqrt(region.area() / max_cells_));
    nx_ = cells_along(region.width);
    ny_ = cells_along(region.height);
    begin_.assign(static_cast<std::size_t>(nx_ * ny_) + 1, 0);
    for (std::size_t i = 0; i < count; ++i) ++begin_[find_cell(inside, i) + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    auto next = begin_;
    position_.resize(inside.size());
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = next[find_cell(inside, i)]++;
      position_[2 * at] = inside[2 * i];
      position_[2 * at + 1] = inside[2 * i + 1];
    }
  }

  [[nodiscard]] std::int64_t nx() const { return nx_; }
  [[nodiscard]] std::int64_t ny() const { return ny_; }
  [[nodiscard]] std::int64_t reach(double distance) const { return static_cast<std::int64_t>(distance / side_) + 1; }
  [[nodiscard]] const std::vector<double>& position() const { return position_; }
  /// Dots of cells x0..x1 of a row; they are contiguous.
  [[nodiscard]] std::pair<std::size_t, std::size_t> run(std::int64_t row, std::int64_t x0, std::int64_t x1) const {
    return {begin_[static_cast<std::size_t>(row * nx_ + x0)], begin_[static_cast<std::size_t>(row * nx_ + x1) + 1]};
  }

 private:
  [[nodiscard]] std::int64_t cells_along(double length) const {
    return static_cast<std::int64_t>(std::clamp(std::ceil(length / side_), 1.0, max_cells_));
  }
  [[nodiscard]] std::size_t find_cell(const std::vector<double>& inside, std::size_t i) const {
    const auto x = std::min(static_cast<std::int64_t>(inside[2 * i] / side_), nx_ - 1);
    const auto y = std::min(static_cast<std::int64_t>(inside[2 * i + 1] / side_), ny_ - 1);
    return static_cast<std::size_t>(y * nx_ + x);
  }
  double max_cells_ = 1;
  double side_ = 1;
  std::int64_t nx_ = 1;
  std::int64_t ny_ = 1;
  std::vector<std::size_t> begin_;
  std::vector<double> position_;
};

/// Calls body(first, last) for the runs of cells around (row, column).
template <class Body>
void around(const Cells& cells, std::int64_t row, std::int64_t column, std::int64_t reach, const Body& body) {
  const std::int64_t x0 = std::max<std::int64_t>(column - reach, 0);
  const std::int64_t x1 = std::min(column + reach, cells.nx() - 1);
  const std::int64_t last = std::min(row + reach, cells.ny() - 1);
  for (std::int64_t y = std::max<std::int64_t>(row - reach, 0); y <= last; ++y) {
    const auto [first, end] = cells.run(y, x0, x1);
    if (first < end) body(first, end);
  }
}

/// Candidate pairs of each row of cells if no dot is skipped.
std::vector<double> candidate_pairs(const Cells& cells, std::int64_t reach) {
  std::vector<double> pairs(static_cast<std::size_t>(cells.ny()));
  metrics::loop(cells.ny(), cells.ny() * cells.nx(), [&](std::int64_t row) {
    double total = 0;
    for (std::int64_t column = 0; column < cells.nx(); ++column) {
      const auto [first, end] = cells.run(row, column, column);
      if (first == end) continue;
      std::size_t near = 0;
      around(cells, row, column, reach, [&](std::size_t a, std::size_t b) { near += b - a; });
      total += static_cast<double>(end - first) * static_cast<double>(near);
    }
    pairs[static_cast<std::size_t>(row)] = total;
  });
  return pairs;
}

/// Unit of counting: dots `first`, `first` + `step` and so on of a row of cells.
struct CountedPart {
  std::int64_t row = 0;
  std::int64_t first = 0;
  std::int64_t step = 1;
  double pairs = 0;
};

/// Splits rows of cells into parts with about equal numbers of pairs, for any distribution of dots.
std::vector<CountedPart> split_rows(const std::vector<double>& pairs, std::int64_t every) {
  constexpr double max_pairs = 1 << 23;
  std::vector<CountedPart> parts;
  for (std::size_t row = 0; row < pairs.size(); ++row) {
    const double counted = pairs[row] / static_cast<double>(every);
    if (counted == 0) continue;
    const auto split = static_cast<std::int64_t>(std::ceil(counted / max_pairs));
    for (std::int64_t k = 0; k < split; ++k) {
      parts.push_back({static_cast<std::int64_t>(row), k * every, split * every, counted / static_cast<double>(split)});
    }
  }
  return parts;
}

void count_part(const Cells& cells, const CountedPart& part, std::int64_t reach, double largest,
                std::vector<std::int64_t>& bins) {
  const auto& position = cells.position();
  const double square = largest * largest;
  const double scale = static_cast<double>(bins.size()) / largest;
  for (std::int64_t column = 0; column < cells.nx(); ++column) {
    const auto [first, end] = cells.run(part.row, column, column);
    const auto step = static_cast<std::size_t>(part.step);
    // First dot from `first` on whose index belongs to the part.
    const auto offset = static_cast<std::size_t>(part.first);
    for (std::size_t i = first + (offset + step - first % step) % step; i < end; i += step) {
      const double x = position[2 * i];
      const double y = position[2 * i + 1];
      around(cells, part.row, column, reach, [&](std::size_t a, std::size_t b) {
        for (std::size_t j = a; j < b; ++j) {
          const double dx = position[2 * j] - x;
          const double dy = position[2 * j + 1] - y;
          const double distance = dx * dx + dy * dy;
          if (distance >= square || j == i) continue;
          ++bins[std::min(static_cast<std::size_t>(std::sqrt(distance) * scale), bins.size() - 1)];
        }
      });
    }
  }
}

/// Integral of 2 pi r c(r) from 0 to r.
double expected_area(double r, const Region& region) {
  const double w = region.width;
  const double h = region.height;
  return std::numbers::pi * r * r * w * h - 4.0 / 3 * r * r * r * (w + h) + r * r * r * r / 2;
}

double largest_distance(const PairCorrelationOptions& options, double density) {
  const double shorter = std::min(options.region.width, options.region.height);
  if (options.largest_distance == 0) return std::min(5 / std::sqrt(density), shorter);
  require_positive("pair_correlation", "largest_distance", options.largest_distance);
  require_range("pair_correlation", "largest_distance", options.largest_distance, 0, shorter);
  return options.largest_distance;
}

/// Balanced k-d tree without pointers: each range is split at its median, down to leaves.
class NeighbourTree {
 public:
  NeighbourTree(View<const float, 2> position, Progress& progress)
      : position_(position.data()), order_(static_cast<std::size_t>(position.shape()[0])), axis_(order_.size()) {
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
    build(progress);
    sorted_.resize(2 * order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      sorted_[2 * i] = position_[2 * order_[i]];
      sorted_[2 * i + 1] = position_[2 * order_[i] + 1];
    }
  }

  /// Squared distance from the dot at index `at` of the tree's order to its nearest other dot.
  [[nodiscard]] double nearest(std::size_t at) const {
    double best = std::numeric_limits<double>::infinity();
    search(0, order_.size(), at, best);
    return best;
  }
  [[nodiscard]] std::uint32_t dot(std::size_t at) const { return order_[at]; }

 private:
  static constexpr std::size_t leaf = 12;
  static constexpr std::size_t large = 16384;

  struct Box {
    float low[2] = {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()};
    float high[2] = {-std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  };

  /// Splits large ranges level by level, one thread per range; then each thread builds the subtree of one range.
  void build(Progress& progress) {
    using Range = std::pair<std::size_t, std::size_t>;
    std::vector<Range> ranges{{0, order_.size()}};
    const auto levels = static_cast<std::int64_t>(std::bit_width(order_.size() / large)) + 1;
    for (std::int64_t level = 0; level < levels; ++level) {
      progress.step("sorting dots", level, levels);
      const bool last = level + 1 == levels;
      std::vector<Range> halves(last ? 0 : 2 * ranges.size());
      metrics::loop(std::ssize(ranges), static_cast<std::int64_t>(order_.size()), [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        const auto [begin, end] = ranges[at];
        if (last) {
          build_below(begin, end);
          return;
        }
        const std::size_t middle = split(begin, end);
        halves[2 * at] = {begin, middle};
        halves[2 * at + 1] = {middle + 1, end};
      });
      ranges = std::move(halves);
    }
  }

  void build_below(std::size_t begin, std::size_t end) {
    if (end - begin <= leaf) return;
    const std::size_t middle = split(begin, end);
    build_below(begin, middle);
    build_below(middle + 1, end);
  }

  /// Splits a range along its longer axis, which is stored with the median's index.
  std::size_t split(std::size_t begin, std::size_t end) {
    Box box;
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t a = 0; a < 2; ++a) {
        const float value = position_[2 * order_[i] + a];
        box.low[a] = std::min(box.low[a], value);
        box.high[a] = std::max(box.high[a], value);
      }
    }
    const std::size_t axis = box.high[1] - box.low[1] > box.high[0] - box.low[0] ? 1 : 0;
    const std::size_t middle = begin + (end - begin) / 2;
    const auto place = order_.begin();
    std::nth_element(place + static_cast<std::ptrdiff_t>(begin), place + static_cast<std::ptrdiff_t>(middle),
                     place + static_cast<std::ptrdiff_t>(end), [&](std::uint32_t a, std::uint32_t b) {
                       return position_[2 * a + axis] < position_[2 * b + axis];
                     });
    axis_[middle] = static_cast<std::uint8_t>(axis);
    return middle;
  }

  void search(std::size_t begin, std::size_t end, std::size_t at, double& best) const {
    while (end - begin > leaf) {
      const std::size_t middle = begin + (end - begin) / 2;
      compare(middle, at, best);
      const std::size_t axis = axis_[middle];
      const double away = static_cast<double>(sorted_[2 * at + axis]) - static_cast<double>(sorted_[2 * middle + axis]);
      const bool left = away < 0;
      search(left ? begin : middle + 1, left ? middle : end, at, best);
      if (away * away >= best) return;
      (left ? begin : end) = left ? middle + 1 : middle;
    }
    for (std::size_t i = begin; i < end; ++i) compare(i, at, best);
  }

  void compare(std::size_t i, std::size_t at, double& best) const {
    if (i == at) return;
    const double dx = static_cast<double>(sorted_[2 * i]) - static_cast<double>(sorted_[2 * at]);
    const double dy = static_cast<double>(sorted_[2 * i + 1]) - static_cast<double>(sorted_[2 * at + 1]);
    best = std::min(best, dx * dx + dy * dy);
  }

  const float* position_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint8_t> axis_;
  std::vector<float> sorted_;
};

constexpr double pairs_between_reports = 1 << 27;

}  // namespace

PairCorrelation pair_correlation(View<const float, 2> position, const PairCorrelationOptions& options,
                                 Progress& progress) {
  constexpr std::string_view where = "pair_correlation";
  require_region(where, options.region);
  require_positions(where, position);
  require_range(where, "bins", static_cast<double>(options.bins), 1, 1 << 20);
  require_range(where, "max_pairs", static_cast<double>(options.max_pairs), 1, 1e18);
  const auto inside = positions_in(position, options.region);
  const auto count = static_cast<std::int64_t>(inside.size() / 2);
  if (count < 2) throw_argument(where, "position", "at least two dots in the region", std::to_string(count));

  PairCorrelation result;
  result.points = count;
  result.density = static_cast<double>(count) / options.region.area();
  const double largest = largest_distance(options, result.density);
  const Cells cells(inside, options.region, largest / 3);
  const std::int64_t reach = cells.reach(largest);
  const auto of_rows = candidate_pairs(cells, reach);
  const double candidates = std::accumulate(of_rows.begin(), of_rows.end(), 0.0);
  result.every = std::max<std::int64_t>(
      static_cast<std::int64_t>(std::ceil(candidates / static_cast<double>(options.max_pairs))), 1);
  result.every = std::min(result.every, count);

  result.pairs.assign(static_cast<std::size_t>(options.bins), 0);
  std::vector<std::vector<std::int64_t>> bins(static_cast<std::size_t>(thread_count()), result.pairs);
  const auto parts = split_rows(of_rows, result.every);
  const auto all = std::ssize(parts);
  for (std::int64_t begin = 0, end = 0; begin < all; begin = end) {
    progress.step("counting pairs", begin, all);
    for (double pairs = 0; end < all && pairs < pairs_between_reports; ++end) {
      pairs += parts[static_cast<std::size_t>(end)].pairs;
    }
#pragma omp parallel for schedule(dynamic) if (candidates > 64.0 * metrics::worth_threads)
    for (std::int64_t i = begin; i < end; ++i) {
      count_part(cells, parts[static_cast<std::size_t>(i)], reach, largest,
                 bins[static_cast<std::size_t>(omp_get_thread_num())]);
    }
  }
  for (const auto& part : bins) {
    for (std::size_t i = 0; i < part.size(); ++i) result.pairs[i] += part[i];
  }

  result.step = largest / static_cast<double>(options.bins);
  const double asked = std::ceil(static_cast<double>(count) / static_cast<double>(result.every));
  const double scale = options.region.area() * options.region.area() / (asked * static_cast<double>(count - 1));
  for (std::int64_t i = 0; i < options.bins; ++i) {
    const double a = static_cast<double>(i) * result.step;
    const double expected = expected_area(a + result.step, options.region) - expected_area(a, options.region);
    result.distance.push_back(a + result.step / 2);
    result.value.push_back(static_cast<double>(result.pairs[static_cast<std::size_t>(i)]) * scale / expected);
  }
  return result;
}

std::vector<float> nearest_distances(View<const float, 2> position, Progress& progress) {
  require_positions("nearest_distances", position);
  const std::int64_t count = position.shape()[0];
  if (count > static_cast<std::int64_t>(UINT32_MAX)) {
    throw_argument("nearest_distances", "position", "at most 2^32 - 1 dots", std::to_string(count));
  }
  const NeighbourTree tree(position, progress);
  std::vector<float> distances(static_cast<std::size_t>(count));
  constexpr std::int64_t block = 1 << 17;
  for (std::int64_t begin = 0; begin < count; begin += block) {
    progress.step("finding neighbours", begin, count);
    const std::int64_t end = std::min(begin + block, count);
#pragma omp parallel for schedule(dynamic, 256) if (count >= metrics::worth_threads / 4)
    for (std::int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      distances[tree.dot(at)] = static_cast<float>(std::sqrt(tree.nearest(at)));
    }
  }
  return distances;
}

NearestSummary summarise_nearest(View<const float, 2> position, const std::vector<float>& distances,
                                 const Region& region) {
  require_region("summarise_nearest", region);
  if (position.shape() != Shape<2>{static_cast<std::int64_t>(distances.size()), 2}) {
    throw_argument("summarise_nearest", "distances", "one for each dot", std::to_string(distances.size()));
  }
  NearestSummary summary;
  summary.smallest = std::numeric_limits<double>::infinity();
  double sum = 0;
  std::int64_t inside = 0;
  const auto values = position.host();
  for (std::size_t i = 0; i < distances.size(); ++i) {
    if (!region.holds(static_cast<double>(values[2 * i]), static_cast<double>(values[2 * i + 1]))) continue;
    ++inside;
    if (!std::isfinite(distances[i])) continue;
    ++summary.points;
    summary.coincident += distances[i] == 0;
    summary.smallest = std::min(summary.smallest, static_cast<double>(distances[i]));
    sum += static_cast<double>(distances[i]);
  }
  if (summary.points == 0) {
    summary.smallest = std::numeric_limits<double>::quiet_NaN();
    summary.mean = summary.smallest_relative = summary.mean_relative = summary.smallest;
    return summary;
  }
  summary.mean = sum / static_cast<double>(summary.points);
  const double hexagonal = hexagonal_distance(static_cast<double>(inside) / region.area());
  summary.smallest_relative = summary.smallest / hexagonal;
  summary.mean_relative = summary.mean / hexagonal;
  return summary;
}

}  // namespace holotone
