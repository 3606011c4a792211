// Capacity-constrained Voronoi stippling: cells of equal ink, by exchange of samples between dots.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/random.hpp>
#include <holotone/halftone/capacity_voronoi.hpp>
#include <holotone/halftone/ink.hpp>
#include <holotone/halftone/point_bins.hpp>
#include <holotone/halftone/sampling.hpp>
#include <numbers>
#include <span>
#include <utility>

namespace holotone {
namespace {

using Sample = std::array<float, 2>;
using Pair = std::array<std::uint32_t, 2>;

/// Samples owned by a range of dots.
struct Cell {
  std::int64_t first_dot, dots;
};

/// Splits the samples into cells of equal size by halving along lines in random directions.
class FirstCells {
 public:
  FirstCells(std::vector<Sample>& samples, std::int64_t capacity, std::uint64_t seed)
      : samples_(samples), capacity_(capacity), seed_(seed) {}

  void make(std::int64_t dots) {
    std::vector<Cell> cells{{0, dots}};
    while (!cells.empty()) {
      std::vector<std::array<Cell, 2>> halves(cells.size());
      parallel_for(0, static_cast<std::int64_t>(cells.size()), [&](std::int64_t i) {
        halves[static_cast<std::size_t>(i)] = halved(cells[static_cast<std::size_t>(i)]);
      });
      cells.clear();
      for (const auto& pair : halves) {
        for (const Cell& half : pair) {
          if (half.dots > 1) cells.push_back(half);
        }
      }
    }
  }

 private:
  /// Cuts across the longer extent in a random frame.
  std::array<Cell, 2> halved(const Cell& cell) {
    if (cell.dots < 2) return {cell, Cell{cell.first_dot + cell.dots, 0}};
    const auto begin = samples_.begin() + cell.first_dot * capacity_;
    const auto end = begin + cell.dots * capacity_;
    const auto id =
        static_cast<std::uint64_t>(cell.first_dot) * 64 + std::bit_width(static_cast<std::uint64_t>(cell.dots));
    const double angle = std::numbers::pi * random_uniform64(seed_ ^ 0x9e3779b9ULL, id);
    const auto cosine = static_cast<float>(std::cos(angle));
    const auto sine = static_cast<float>(std::sin(angle));
    const auto along = [=](const Sample& s) { return cosine * s[0] + sine * s[1]; };
    const auto across = [=](const Sample& s) { return cosine * s[1] - sine * s[0]; };
    const auto extent = [&](const auto& height) {
      float low = height(*begin);
      float high = low;
      for (auto s = begin; s != end; ++s) {
        low = std::min(low, height(*s));
        high = std::max(high, height(*s));
      }
      return high - low;
    };
    const std::int64_t half = cell.dots / 2;
    const auto cut = begin + half * capacity_;
    const auto split = [&](const auto& height) {
      std::nth_element(begin, cut, end, [&](const Sample& a, const Sample& b) {
        const float p = height(a);
        const float q = height(b);
        return p < q || (p == q && a < b);
      });
    };
    extent(along) >= extent(across) ? split(along) : split(across);
    return {Cell{cell.first_dot, half}, Cell{cell.first_dot + half, cell.dots - half}};
  }

  std::vector<Sample>& samples_;
  std::int64_t capacity_;
  std::uint64_t seed_;
};

/// The samples, their owners (by position) and the sweeps over pairs of dots.
class Swapping {
 public:
  Swapping(std::vector<Sample> samples, std::int64_t dots, std::int64_t capacity)
      : samples_(std::move(samples)),
        capacity_(static_cast<std::size_t>(capacity)),
        centre_(2 * static_cast<std::size_t>(dots)),
        radius_(static_cast<std::size_t>(dots)),
        energy_(radius_.size()),
        moved_(radius_.size()),
        active_(radius_.size(), 1),
        swapped_(radius_.size(), 0) {}

  /// Moves dots to the means of their samples. Returns the energy and the mean distance moved.
  std::pair<double, double> centre() {
    for_each_dot([&](std::size_t j) {
      const auto samples = samples_at(j);
      double x = 0;
      double y = 0;
      for (const Sample& s : samples) {
        x += static_cast<double>(s[0]);
        y += static_cast<double>(s[1]);
      }
      x /= static_cast<double>(capacity_);
      y /= static_cast<double>(capacity_);
      moved_[j] = std::hypot(x - static_cast<double>(centre_[2 * j]), y - static_cast<double>(centre_[2 * j + 1]));
      centre_[2 * j] = static_cast<float>(x);
      centre_[2 * j + 1] = static_cast<float>(y);
      double farthest = 0;
      double energy = 0;
      for (const Sample& s : samples) {
        const double dx = static_cast<double>(s[0]) - x;
        const double dy = static_cast<double>(s[1]) - y;
        farthest = std::max(farthest, dx * dx + dy * dy);
        energy += dx * dx + dy * dy;
      }
      radius_[j] = static_cast<float>(std::sqrt(farthest));
      energy_[j] = energy;
    });
    double energy = 0;
    double moved = 0;
    for (std::size_t j = 0; j < radius_.size(); ++j) {
      energy += energy_[j];
      moved += moved_[j];
    }
    return {energy, moved / static_cast<double>(radius_.size())};
  }

  /// Swaps samples of all pairs whose circles overlap. Returns true if any sample was swapped.
  bool sweep() {
    const auto rounds = make_rounds(overlapping_pairs());
    std::fill(swapped_.begin(), swapped_.end(), std::uint8_t{0});
    for (const auto& round : rounds) work_on(round);
    active_ = swapped_;
    return std::find(swapped_.begin(), swapped_.end(), 1) != swapped_.end();
  }

  [[nodiscard]] const std::vector<float>& centres() const { return centre_; }
  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }

 private:
  static constexpr std::int64_t pairs_a_task = 64;
  static constexpr std::size_t samples_worth_sharing = std::size_t{1} << 16;
  static constexpr std::int64_t dots_a_task = 256;
  static constexpr std::size_t max_rounds = 64;

  [[nodiscard]] std::span<Sample> samples_at(std::size_t j) { return {samples_.data() + j * capacity_, capacity_}; }

  template <class Body>
  void for_each_dot(const Body& body) {
    const auto count = static_cast<std::int64_t>(radius_.size());
    parallel_for(0, (count + dots_a_task - 1) / dots_a_task, [&](std::int64_t task) {
      const std::int64_t end = std::min(count, (task + 1) * dots_a_task);
      for (std::int64_t j = task * dots_a_task; j < end; ++j) body(static_cast<std::size_t>(j));
    });
  }

  /// Swaps the samples of a round's pairs, on one thread if the round is too small to share.
  void work_on(const std::vector<Pair>& round) {
    const auto some = [&](std::int64_t task) {
      const auto end = std::min<std::size_t>(round.size(), static_cast<std::size_t>((task + 1) * pairs_a_task));
      std::vector<std::pair<float, std::uint32_t>> of_first;
      std::vector<std::pair<float, std::uint32_t>> of_second;
      for (auto k = static_cast<std::size_t>(task * pairs_a_task); k < end; ++k) {
        if (!swap_samples(round[k], of_first, of_second)) continue;
        swapped_[round[k][0]] = 1;
        swapped_[round[k][1]] = 1;
      }
    };
    const auto tasks = (static_cast<std::int64_t>(round.size()) + pairs_a_task - 1) / pairs_a_task;
    if (round.size() * capacity_ >= samples_worth_sharing) {
      parallel_for(0, tasks, some);
    } else {
      for (std::int64_t task = 0; task < tasks; ++task) some(task);
    }
  }

  /// Pairs of dots whose circles overlap and of which at least one swapped samples in the last sweep. Each pair is
  /// found from its larger circle.
  std::vector<Pair> overlapping_pairs() {
    const auto bins = halftone::sorted_into_bins(centre_, 2);
    const auto count = static_cast<std::int64_t>(radius_.size());
    std::vector<std::vector<Pair>> found(static_cast<std::size_t>((count + dots_a_task - 1) / dots_a_task));
    parallel_for(0, static_cast<std::int64_t>(found.size()), [&](std::int64_t task) {
      const std::int64_t end = std::min(count, (task + 1) * dots_a_task);
      for (std::int64_t i = task * dots_a_task; i < end; ++i) {
        pairs_of(bins, static_cast<std::uint32_t>(i), found[static_cast<std::size_t>(task)]);
      }
    });
    std::vector<Pair> pairs;
    for (const auto& some : found) pairs.insert(pairs.end(), some.begin(), some.end());
    return pairs;
  }

  void pairs_of(const halftone::PointBins& bins, std::uint32_t i, std::vector<Pair>& pairs) const {
    const float x = centre_[2 * std::size_t{i}];
    const float y = centre_[2 * std::size_t{i} + 1];
    const float reach = 2 * radius_[i];
    for (auto row = bins.find_row(y - reach); row <= bins.find_row(y + reach); ++row) {
      for (auto column = bins.find_column(x - reach); column <= bins.find_column(x + reach); ++column) {
        const auto bin = static_cast<std::size_t>(row * bins.columns + column);
        for (auto k = bins.start[bin]; k < bins.start[bin + 1]; ++k) {
          const std::uint32_t j = bins.index[k];
          const bool larger = radius_[j] < radius_[i] || (radius_[j] == radius_[i] && j < i);
          if (!larger || (active_[i] == 0 && active_[j] == 0)) continue;
          const float both = radius_[i] + radius_[j];
          const float dx = centre_[2 * std::size_t{j}] - x;
          const float dy = centre_[2 * std::size_t{j} + 1] - y;
          if (dx * dx + dy * dy < both * both) pairs.push_back({i, j});
        }
      }
    }
  }

  /// Distributes pairs over rounds in which no dot appears twice, so that the pairs of a round can be processed in
  /// parallel: a greedy colouring of the edges. Pairs beyond `max_rounds` wait for the next sweep.
  std::vector<std::vector<Pair>> make_rounds(const std::vector<Pair>& pairs) const {
    std::vector<std::uint64_t> taken(radius_.size(), 0);
    std::vector<std::vector<Pair>> rounds(max_rounds);
    for (const Pair& pair : pairs) {
      const std::uint64_t both = taken[pair[0]] | taken[pair[1]];
      const auto round = static_cast<std::size_t>(std::countr_one(both));
      if (round >= max_rounds) continue;
      rounds[round].push_back(pair);
      taken[pair[0]] |= std::uint64_t{1} << round;
      taken[pair[1]] |= std::uint64_t{1} << round;
    }
    return rounds;
  }

  /// Exchanges samples between two dots: each gets the samples that lie farthest in its direction. Returns false if no
  /// exchange would reduce the energy beyond rounding.
  bool swap_samples(const Pair& pair, std::vector<std::pair<float, std::uint32_t>>& of_first,
                    std::vector<std::pair<float, std::uint32_t>>& of_second) {
    const std::size_t i = pair[0];
    const std::size_t j = pair[1];
    const float dx = centre_[2 * j] - centre_[2 * i];
    const float dy = centre_[2 * j + 1] - centre_[2 * i + 1];
    const auto first = samples_at(i);
    const auto second = samples_at(j);
    // Relative to the midpoint: float32 coordinates on the page would round the differences away.
    const float x = 0.5F * (centre_[2 * j] + centre_[2 * i]);
    const float y = 0.5F * (centre_[2 * j + 1] + centre_[2 * i + 1]);
    const auto height = [=](const Sample& s) { return (s[0] - x) * dx + (s[1] - y) * dy; };
    float highest = -INFINITY;
    float lowest = INFINITY;
    for (const Sample& s : first) highest = std::max(highest, height(s));
    for (const Sample& s : second) lowest = std::min(lowest, height(s));
    // A gain within rounding would be swapped back and forth.
    const float rounding = 1e-6F * (std::abs(highest) + std::abs(lowest));
    if (!(highest > lowest + rounding)) return false;
    of_first.clear();
    of_second.clear();
    for (std::uint32_t k = 0; k < capacity_; ++k) {
      if (const float h = height(first[k]); h > lowest + rounding) of_first.emplace_back(-h, k);
      if (const float h = height(second[k]); h < highest - rounding) of_second.emplace_back(h, k);
    }
    std::sort(of_first.begin(), of_first.end());
    std::sort(of_second.begin(), of_second.end());
    for (std::size_t k = 0; k < std::min(of_first.size(), of_second.size()); ++k) {
      if (!(-of_first[k].first > of_second[k].first + rounding)) break;
      std::swap(first[of_first[k].second], second[of_second[k].second]);
    }
    return true;
  }

  std::vector<Sample> samples_;
  std::size_t capacity_;
  std::vector<float> centre_;
  std::vector<float> radius_;
  std::vector<double> energy_;
  std::vector<double> moved_;
  std::vector<std::uint8_t> active_;
  std::vector<std::uint8_t> swapped_;
};

void check(std::int64_t count, const CapacityVoronoiOptions& options) {
  constexpr std::string_view where = "capacity_voronoi_dots";
  require_range(where, "capacity", static_cast<double>(options.capacity), 2, 4096);
  require_range(where, "sweeps", static_cast<double>(options.sweeps), 0, 1e9);
  require_range(where, "tolerance", options.tolerance, 0, 1e9);
  const std::int64_t most = ((std::int64_t{1} << 31) - 1) / options.capacity;
  if (count < 1 || count > most) {
    throw_argument(where, "count", fmt::format("from 1 to {} dots of {} samples", most, options.capacity),
                   std::to_string(count));
  }
}

}  // namespace

CapacityVoronoiResult capacity_voronoi_dots(View<const float, 2> ink, std::int64_t count,
                                            const CapacityVoronoiOptions& options, Progress& progress) {
  check(count, options);
  const Dots drawn = stratified_dots(ink, count * options.capacity, options.seed);
  std::vector<Sample> samples(static_cast<std::size_t>(drawn.count()));
  for (std::size_t s = 0; s < samples.size(); ++s) samples[s] = {drawn.position[2 * s], drawn.position[2 * s + 1]};
  FirstCells(samples, options.capacity, options.seed).make(count);
  Swapping swapping(std::move(samples), count, options.capacity);
  const double spacing = std::sqrt(drawn.width * drawn.height / static_cast<double>(count));
  const double ink_a_sample = total_ink(ink) / static_cast<double>(drawn.count());
  CapacityVoronoiResult result;
  for (std::int64_t sweep = 0; sweep < options.sweeps && !result.converged; ++sweep) {
    progress.step("swapping samples", sweep, options.sweeps);
    const auto [energy, moved] = swapping.centre();
    result.energy.push_back(energy * ink_a_sample);
    result.converged = (sweep > 0 && moved <= options.tolerance * spacing) || !swapping.sweep();
  }
  (void)swapping.centre();
  result.dots.width = drawn.width;
  result.dots.height = drawn.height;
  result.dots.position = swapping.centres();
  result.sample.reserve(2 * swapping.samples().size());
  for (const Sample& s : swapping.samples()) result.sample.insert(result.sample.end(), s.begin(), s.end());
  return result;
}

}  // namespace holotone
