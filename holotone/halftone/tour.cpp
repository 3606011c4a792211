// A short tour of the dots: 2-opt and Or-opt along neighbours, then random kicks.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/random.hpp>
#include <holotone/halftone/point_bins.hpp>
#include <holotone/halftone/sampling.hpp>
#include <holotone/halftone/tour.hpp>
#include <limits>

namespace holotone {
namespace {

using Index = std::uint32_t;
constexpr Index none = std::numeric_limits<Index>::max();
/// Maximum number of points reversed in one move.
constexpr Index longest_reversal = 50'000;
constexpr Index longest_segment = 3;
/// Maximum number of points in a piece that a kick moves.
constexpr Index longest_piece = 50;
/// Minimum gain of a move, as a share of a step; smaller ones would only be rounding.
constexpr double min_gain = 1e-7;
constexpr std::int64_t points_a_task = 512;

/// Nearest points of each point, nearest first, filled up with `none`. Cost O(points) if they are evenly spread.
std::vector<Index> nearest_neighbours(const std::vector<float>& position, std::size_t wanted) {
  const auto bins = halftone::sorted_into_bins(position, 2);
  const auto count = static_cast<std::int64_t>(position.size() / 2);
  std::vector<Index> neighbours(static_cast<std::size_t>(count) * wanted, none);
  parallel_for(0, (count + points_a_task - 1) / points_a_task, [&](std::int64_t task) {
    std::vector<std::pair<float, Index>> found;
    for (auto i = task * points_a_task; i < std::min(count, (task + 1) * points_a_task); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const float x = position[2 * at];
      const float y = position[2 * at + 1];
      const auto row = bins.find_row(y);
      const auto column = bins.find_column(x);
      found.clear();
      // Searches rings of bins; points beyond ring k are at least k sides away.
      for (std::int64_t ring = 0; ring <= std::max(bins.rows, bins.columns); ++ring) {
        for (auto r = std::max<std::int64_t>(0, row - ring); r <= std::min(bins.rows - 1, row + ring); ++r) {
          const bool whole = std::abs(r - row) == ring;
          for (auto c = column - ring; c <= column + ring; c += whole || ring == 0 ? 1 : 2 * ring) {
            if (c < 0 || c >= bins.columns) continue;
            const auto bin = static_cast<std::size_t>(r * bins.columns + c);
            for (auto k = bins.start[bin]; k < bins.start[bin + 1]; ++k) {
              const auto j = bins.index[k];
              if (j == i) continue;
              const float dx = position[2 * std::size_t{j}] - x;
              const float dy = position[2 * std::size_t{j} + 1] - y;
              found.emplace_back(dx * dx + dy * dy, j);
            }
          }
        }
        if (found.size() < wanted) continue;
        const auto last = found.begin() + static_cast<std::ptrdiff_t>(wanted);
        std::nth_element(found.begin(), last - 1, found.end());
        found.erase(last, found.end());
        const float reach = static_cast<float>(ring) * bins.side;
        if (std::max_element(found.begin(), found.end())->first <= reach * reach) break;
      }
      std::sort(found.begin(), found.end());
      for (std::size_t k = 0; k < std::min(wanted, found.size()); ++k) neighbours[at * wanted + k] = found[k].second;
    }
  });
  return neighbours;
}

/// Closed tour of the points, shortened by 2-opt and Or-opt moves. An open tour is closed through an additional point
/// at distance 0 from all others.
class Way {
 public:
  Way(const std::vector<float>& position, std::vector<Index> order, const TourOptions& options)
      : position_(position),
        points_(static_cast<Index>(position.size() / 2)),
        order_(std::move(order)),
        wanted_(static_cast<std::size_t>(options.neighbours)),
        options_(options) {
    if (!options.closed) order_.push_back(points_);
    at_.resize(order_.size());
    for (Index k = 0; k < order_.size(); ++k) at_[order_[k]] = k;
  }

  void shorten(Progress& progress) {
    if (order_.size() < 5) return;
    neighbours_ = nearest_neighbours(position_, wanted_);
    queue_ = order_;
    waiting_.assign(order_.size(), 1);
    const auto start = std::chrono::steady_clock::now();
    const auto late = [&] {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      return options_.seconds > 0 && spent.count() > options_.seconds;
    };
    for (std::int64_t looked = 0; next_ < queue_.size(); ++looked) {
      if (looked % 1024 == 0) {
        const auto waiting = static_cast<std::int64_t>(queue_.size() - next_);
        progress.step("ordering dots", std::max<std::int64_t>(0, points_ - waiting), points_);
        if (late()) return;
      }
      settle_one();
    }
    const auto kicks = static_cast<std::int64_t>(options_.kicks * points_);
    keep_log_ = true;
    for (std::int64_t kick = 0; kick < kicks && order_.size() >= 8; ++kick) {
      if (kick % 1024 == 0) {
        progress.step("shortening the tour", kick, kicks);
        if (late()) return;
      }
      try_kick(static_cast<std::uint64_t>(kick));
    }
  }

  /// Points in visiting order; an open tour starts after its additional point.
  [[nodiscard]] std::vector<Index> visited() const {
    std::vector<Index> result = order_;
    if (options_.closed) return result;
    std::rotate(result.begin(), result.begin() + at_[points_], result.end());
    result.erase(result.begin());
    return result;
  }

 private:
  [[nodiscard]] double distance(Index a, Index b) const {
    if (a == points_ || b == points_) return 0;
    const float dx = position_[2 * std::size_t{a}] - position_[2 * std::size_t{b}];
    const float dy = position_[2 * std::size_t{a} + 1] - position_[2 * std::size_t{b} + 1];
    return std::sqrt(static_cast<double>(dx * dx + dy * dy));
  }
  [[nodiscard]] Index size() const { return static_cast<Index>(order_.size()); }
  [[nodiscard]] Index after(Index point) const { return order_[at_[point] + 1 == size() ? 0 : at_[point] + 1]; }
  [[nodiscard]] Index before(Index point) const { return order_[at_[point] == 0 ? size() - 1 : at_[point] - 1]; }
  [[nodiscard]] Index next(Index point, bool forward) const { return forward ? after(point) : before(point); }

  void look_again(Index point) {
    if (waiting_[point] != 0) return;
    waiting_[point] = 1;
    queue_.push_back(point);
  }

  /// Number of points from a to b going forward, both included.
  [[nodiscard]] Index span(Index a, Index b) const {
    const Index from = at_[a];
    const Index to = at_[b];
    return to >= from ? to - from + 1 : to + size() - from + 1;
  }
  /// Reverses `count` places from i forward to j.
  void reverse(Index i, Index j, Index count) {
    for (Index k = count / 2; k > 0; --k) {
      std::swap(order_[i], order_[j]);
      at_[order_[i]] = i;
      at_[order_[j]] = j;
      i = i + 1 == size() ? 0 : i + 1;
      j = j == 0 ? size() - 1 : j - 1;
    }
  }
  /// Reverses exactly the points from a forward to b.
  void turn_these(Index a, Index b) {
    const std::array<Index, 3> places = {at_[a], at_[b], span(a, b)};
    if (keep_log_) log_.push_back(places);
    reverse(places[0], places[1], places[2]);
  }
  /// Reverses the points from a forward to b or, for the same closed tour, all others. Returns false if both are too
  /// many.
  bool turn(Index a, Index b) {
    const Index inside = span(a, b);
    if (std::min(inside, size() - inside) > longest_reversal) return false;
    2 * inside <= size() ? turn_these(a, b) : turn_these(after(b), before(a));
    return true;
  }

  /// Processes the next waiting point until no move of it shortens the tour.
  void settle_one() {
    const Index point = queue_[next_++];
    waiting_[point] = 0;
    while (point != points_ && (exchange(point) || put_elsewhere(point))) {
    }
    if (next_ <= order_.size()) return;
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
  }

  /// Swaps two consecutive pieces of the tour, applies the moves around them, and undoes all of it unless the tour is
  /// shorter.
  void try_kick(std::uint64_t kick) {
    queue_.clear();
    next_ = 0;
    log_.clear();
    gained_ = 0;
    const Index longest = std::min<Index>(longest_piece, (size() - 2) / 2);
    const auto draw = [&](std::uint64_t k, Index bound) {
      return static_cast<Index>(random_bits(options_.seed, 3 * kick + k) % bound);
    };
    const Index begin = draw(0, size());
    const Index first = 1 + draw(1, longest);
    const Index second = 1 + draw(2, longest);
    const auto at = [&](Index offset) { return order_[(begin + offset) % size()]; };
    const Index a = at(0);
    const Index b = at(first - 1);
    const Index c = at(first);
    const Index d = at(first + second - 1);
    const Index left = before(a);
    const Index right = after(d);
    gained_ = distance(left, a) + distance(b, c) + distance(d, right) - distance(left, c) - distance(d, a) -
              distance(b, right);
    turn_these(a, d);  // d .. c b .. a
    turn_these(d, c);
    turn_these(b, a);
    for (const Index end : {left, a, b, c, d, right}) look_again(end);
    while (next_ < queue_.size()) settle_one();
    if (gained_ > 0) return;
    std::for_each(log_.rbegin(), log_.rend(), [&](const auto& turned) { reverse(turned[0], turned[1], turned[2]); });
  }

  /// 2-opt: a-b and c-d become a-c and b-d, with b after a and d after c, or b before a and d before c.
  bool exchange(Index a) {
    for (const bool forward : {true, false}) {
      const Index b = next(a, forward);
      const double step = distance(a, b);
      for (std::size_t k = 0; k < wanted_; ++k) {
        const Index c = neighbours_[a * wanted_ + k];
        if (c == none) break;
        const double nearer = step - distance(a, c);
        if (nearer <= 0) break;
        const Index d = next(c, forward);
        if (c == b || d == a) continue;
        const double gain = nearer + distance(c, d) - distance(b, d);
        if (gain <= min_gain * step) continue;
        if (!(forward ? turn(b, c) : turn(a, d))) continue;
        gained_ += gain;
        for (const Index end : {a, b, c, d}) look_again(end);
        return true;
      }
    }
    return false;
  }

  /// Or-opt: moves up to three consecutive points that begin with `a` between a near point c and one of its neighbours,
  /// with a beside c.
  bool put_elsewhere(Index a) {
    for (const bool forward : {true, false}) {
      const Index outside = next(a, !forward);  // neighbour of a that stays
      Index last = a;
      for (Index length = 1; length <= longest_segment; ++length, last = next(last, forward)) {
        const Index beyond = next(last, forward);
        if (last == outside || beyond == outside) break;
        const double freed = distance(outside, a) + distance(last, beyond) - distance(outside, beyond);
        for (std::size_t k = 0; k < wanted_; ++k) {
          const Index c = neighbours_[a * wanted_ + k];
          if (c == none) break;
          const double there = distance(a, c);
          if (freed - there <= 0) break;
          if (in_segment(c, a, length, forward)) continue;
          for (const bool side : {true, false}) {
            const Index d = next(c, side);
            if (in_segment(d, a, length, forward)) continue;
            const double gain = freed + distance(c, d) - there - distance(last, d);
            if (gain <= min_gain * (freed + there)) continue;
            if (!insert(a, last, forward, c, d, side)) continue;
            gained_ += gain;
            for (const Index end : {outside, a, last, beyond, c, d}) look_again(end);
            return true;
          }
        }
      }
    }
    return false;
  }

  [[nodiscard]] bool in_segment(Index point, Index a, Index length, bool forward) const {
    Index member = a;
    for (Index k = 0; k < length; ++k, member = next(member, forward)) {
      if (member == point) return true;
    }
    return false;
  }

  /// Moves the segment a .. last into the gap between c and d = next(c, side), with a beside c. Returns false if the
  /// reversals would be too long.
  bool insert(Index a, Index last, bool forward, Index c, Index d, bool side) {
    const Index first = forward ? a : last;  // of the segment, in tour order
    const Index final = forward ? last : a;
    const Index left = side ? c : d;  // of the gap
    const Index right = side ? d : c;
    const Index before_first = before(first);
    const Index after_final = after(final);
    const Index ahead = span(after_final, left);
    const Index behind = span(right, before_first);
    if (std::min(ahead, behind) > longest_reversal) return false;
    // Reversing the segment together with the points between it and the gap, then these points alone, swaps the two.
    // The segment is then in the gap from `final` to `first`.
    if (ahead <= behind) {
      turn_these(first, left);
      turn_these(left, after_final);
    } else {
      turn_these(right, final);
      turn_these(before_first, right);
    }
    if ((c == left ? a : last) != final) turn_these(final, first);
    return true;
  }

  const std::vector<float>& position_;
  Index points_;
  std::vector<Index> order_;
  std::vector<Index> at_;
  std::size_t wanted_;
  const TourOptions& options_;
  std::vector<Index> neighbours_;
  std::vector<Index> queue_;
  std::size_t next_ = 0;                   ///< index of the next waiting point in the queue
  std::vector<std::array<Index, 3>> log_;  ///< reversals since a kick: first and last place, number of points
  bool keep_log_ = false;
  double gained_ = 0;  ///< reduction of the tour's length since a kick
  std::vector<std::uint8_t> waiting_;
};

double compute_length(const std::vector<float>& position, const std::vector<Index>& order, bool closed) {
  double sum = 0;
  for (std::size_t k = closed ? 0 : 1; k < order.size(); ++k) {
    const std::size_t a = order[k == 0 ? order.size() - 1 : k - 1];
    const std::size_t b = order[k];
    sum += std::hypot(static_cast<double>(position[2 * a]) - static_cast<double>(position[2 * b]),
                      static_cast<double>(position[2 * a + 1]) - static_cast<double>(position[2 * b + 1]));
  }
  return sum;
}

std::vector<Index> along_hilbert(const std::vector<float>& position) {
  constexpr int order = 20;
  constexpr double cells = 1 << order;
  std::array<double, 2> low = {INFINITY, INFINITY};
  double side = 0;
  for (std::size_t i = 0; i < position.size(); ++i) low[i % 2] = std::min(low[i % 2], static_cast<double>(position[i]));
  for (std::size_t i = 0; i < position.size(); ++i)
    side = std::max(side, static_cast<double>(position[i]) - low[i % 2]);
  const auto cell = [&](std::size_t i) {
    const double share = side > 0 ? (static_cast<double>(position[i]) - low[i % 2]) / side : 0;
    return static_cast<std::uint32_t>(std::min(share * cells, cells - 1));
  };
  std::vector<std::pair<std::uint64_t, Index>> keyed(position.size() / 2);
  for (std::size_t j = 0; j < keyed.size(); ++j) {
    keyed[j] = {hilbert_index(order, cell(2 * j), cell(2 * j + 1)), static_cast<Index>(j)};
  }
  std::sort(keyed.begin(), keyed.end());
  std::vector<Index> result(keyed.size());
  for (std::size_t k = 0; k < keyed.size(); ++k) result[k] = keyed[k].second;
  return result;
}

void check(const Dots& dots, const TourOptions& options) {
  constexpr std::string_view where = "visiting_order";
  require_range(where, "neighbours", static_cast<double>(options.neighbours), 1, 64);
  require_range(where, "kicks", options.kicks, 0, 1e6);
  require_range(where, "seconds", options.seconds, 0, 1e9);
  if (dots.count() > std::numeric_limits<std::int32_t>::max() - 1) {
    throw_argument(where, "dots", "less than 2^31 dots", std::to_string(dots.count()));
  }
  constexpr float farthest = 1e9F;  // squares of distances stay finite
  for (std::size_t i = 0; i < dots.position.size(); ++i) {
    if (!(std::abs(dots.position[i]) <= farthest)) {
      throw_argument(where, "dots", fmt::format("positions of at most {:g} pixels", farthest),
                     fmt::format("{} of dot {}", dots.position[i], i / 2));
    }
  }
  if (!dots.colour_class.empty() && dots.colour_class.size() != dots.position.size() / 2) {
    throw_argument(where, "dots", fmt::format("a class for each of {} dots, or none", dots.count()),
                   std::to_string(dots.colour_class.size()));
  }
}

}  // namespace

Tour visiting_order(const Dots& dots, const TourOptions& options, Progress& progress) {
  check(dots, options);
  std::array<std::vector<Index>, 256> classes;
  for (std::size_t j = 0; j < dots.position.size() / 2; ++j) {
    classes[dots.colour_class.empty() ? 0 : dots.colour_class[j]].push_back(static_cast<Index>(j));
  }
  Tour tour;
  tour.order.reserve(dots.position.size() / 2);
  for (const auto& members : classes) {
    if (members.empty()) continue;
    std::vector<float> position;
    position.reserve(2 * members.size());
    for (const std::size_t j : members) {
      position.push_back(dots.position[2 * j]);
      position.push_back(dots.position[2 * j + 1]);
    }
    auto order = along_hilbert(position);
    const double start = compute_length(position, order, options.closed);
    Way way(position, order, options);
    way.shorten(progress);
    auto shortened = way.visited();
    double length = compute_length(position, shortened, options.closed);
    if (length > start) {
      shortened = std::move(order);
      length = start;
    }
    tour.start_length += start;
    tour.length += length;
    for (const Index k : shortened) tour.order.push_back(members[k]);
  }
  return tour;
}

Dots reordered(const Dots& dots, const std::vector<std::uint32_t>& order) {
  constexpr std::string_view where = "reordered";
  const auto count = dots.position.size() / 2;
  std::vector<std::uint8_t> seen(count, 0);
  for (const auto j : order) {
    if (j < count) seen[j] = 1;
  }
  if (order.size() != count || std::find(seen.begin(), seen.end(), 0) != seen.end()) {
    throw_argument(where, "order", fmt::format("each of {} dots once", count), fmt::format("{} numbers", order.size()));
  }
  Dots result = dots;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t j = order[k];
    result.position[2 * k] = dots.position[2 * j];
    result.position[2 * k + 1] = dots.position[2 * j + 1];
    if (!dots.radius.empty()) result.radius[k] = dots.radius[j];
    if (!dots.colour_class.empty()) result.colour_class[k] = dots.colour_class[j];
  }
  return result;
}

}  // namespace holotone
