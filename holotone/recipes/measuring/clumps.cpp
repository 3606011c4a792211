#include <algorithm>
#include <cstdint>
#include <holotone/recipes/measure.hpp>
#include <vector>

namespace holotone {
namespace {

/// Pixels x0 .. x1 of a row.
struct Run {
  std::int64_t row, x0, x1;
};

std::vector<Run> find_runs(const Dots& dots) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < dots.position.size(); i += 2) {
    const auto x = static_cast<std::int64_t>(dots.position[i]);
    const auto row = static_cast<std::int64_t>(dots.position[i + 1]);
    if (!runs.empty() && runs.back().row == row && runs.back().x1 + 1 == x) {
      runs.back().x1 = x;
    } else {
      runs.push_back({row, x, x});
    }
  }
  return runs;
}

/// Complement of the runs in each row.
std::vector<Run> gaps_between(const std::vector<Run>& runs, const Dots& dots) {
  const auto nx = static_cast<std::int64_t>(dots.width);
  std::vector<Run> gaps;
  std::size_t next = 0;
  for (std::int64_t row = 0; row < static_cast<std::int64_t>(dots.height); ++row) {
    std::int64_t x = 0;
    for (; next < runs.size() && runs[next].row == row; ++next) {
      if (runs[next].x0 > x) gaps.push_back({row, x, runs[next].x0 - 1});
      x = runs[next].x1 + 1;
    }
    if (x < nx) gaps.push_back({row, x, nx - 1});
  }
  return gaps;
}

/// Union-find forest over runs; each root is a clump.
class Forest {
 public:
  explicit Forest(std::size_t count) : parent_(count) {
    for (std::size_t i = 0; i < count; ++i) parent_[i] = i;
  }
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[root(a)] = root(b); }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

DotClumps find_clumps(const Dots& dots) {
  DotClumps clumps;
  clumps.gaps = 2 * static_cast<double>(dots.count()) > dots.width * dots.height;
  auto runs = find_runs(dots);
  if (clumps.gaps) runs = gaps_between(runs, dots);
  Forest forest(runs.size());
  // Runs of both rows are sorted by x: the run that ends first touches no later one.
  std::size_t above = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Run& run = runs[i];
    const auto is_before = [&](const Run& other) {
      return other.row + 1 < run.row || (other.row + 1 == run.row && other.x1 < run.x0);
    };
    while (above < i && is_before(runs[above])) ++above;
    for (std::size_t k = above; k < i && runs[k].row + 1 == run.row && runs[k].x0 <= run.x1; ++k) forest.join(i, k);
  }
  std::vector<std::int64_t> area(runs.size(), 0);
  for (std::size_t i = 0; i < runs.size(); ++i) area[forest.root(i)] += runs[i].x1 - runs[i].x0 + 1;
  std::erase(area, 0);
  clumps.count = std::ssize(area);
  if (area.empty()) return clumps;
  const auto middle = area.begin() + std::ssize(area) / 2;
  std::nth_element(area.begin(), middle, area.end());
  clumps.median = *middle;
  clumps.large = std::count_if(area.begin(), area.end(), [&](auto pixels) { return pixels > 4 * clumps.median; });
  return clumps;
}

}  // namespace holotone
