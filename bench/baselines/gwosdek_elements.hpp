#pragma once
// The steps of Gwosdek et al. 2012 for one dot or one mode: the same code in the CPU's loops and the CUDA kernels
// (gwosdek.hpp). Dots are in the paper's scaled units, the page around 0 in a disc of radius (1 - epsilon_B) / 4.
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <holotone/core/random.hpp>  // HOLOTONE_HOST_DEVICE

namespace bench::gwosdek {

struct alignas(8) Pair {
  float x;
  float y;
};

/// Two NaNs: a cell without a dot.
constexpr unsigned long long empty_cell = ~0ULL;
/// Number of exchanges after which the dot in hand is left out.
constexpr int longest_way = 64;
/// Cells to the right of the near field that are also searched.
constexpr int extra_cells = 2;
constexpr int max_terms = 20;
constexpr int widest_cutoff = 5;

/// value += more, while others add to it.
template <class T>
HOLOTONE_HOST_DEVICE inline void add_atomic(T& value, T more) {
#ifdef __CUDA_ARCH__
  atomicAdd(&value, more);
#else
  std::atomic_ref<T>(value).fetch_add(more, std::memory_order_relaxed);
#endif
}

HOLOTONE_HOST_DEVICE inline unsigned long long exchange(unsigned long long& cell, unsigned long long with) {
#ifdef __CUDA_ARCH__
  return atomicExch(&cell, with);
#else
  return std::atomic_ref<unsigned long long>(cell).exchange(with, std::memory_order_relaxed);
#endif
}

/// The squared distance, with the same rounding wherever neighbours are counted.
HOLOTONE_HOST_DEVICE inline float squared_distance(Pair a, Pair b) {
  const float dx = a.x - b.x;
  const float dy = a.y - b.y;
#ifdef __CUDA_ARCH__
  return __fmaf_rn(dx, dx, __fmul_rn(dy, dy));
#else
  return dx * dx + dy * dy;
#endif
}

/// The Kaiser-Bessel window phi(d) = I0(b sqrt(m^2 - d^2)) / I0(b m), |d| <= m nodes, as Chebyshev polynomials of
/// 2 (d / m)^2 - 1, and its Fourier coefficients, Eq. (19): n c_k = 2 sinh(m s) / (s I0(b m)), s^2 = b^2 - (2 pi k /
/// n)^2.
struct Window {
  int cutoff;           ///< m
  int terms;            ///< of `chebyshev`
  float shape;          ///< b
  float scaled_bessel;  ///< I0(b m) exp(-b m)
  float turn;           ///< 2 pi / n
  float chebyshev[max_terms];

  [[nodiscard]] HOLOTONE_HOST_DEVICE float at(float distance) const {
    const float share = distance / static_cast<float>(cutoff);
    const float u = 2 * share * share - 1;
    if (u > 1) return 0;
    float last = 0;  // Clenshaw's recurrence
    float before = 0;
    for (int k = terms - 1; k > 0; --k) {
      const float next = chebyshev[k] + 2 * u * last - before;
      before = last;
      last = next;
    }
    return chebyshev[0] + u * last - before;
  }

  [[nodiscard]] HOLOTONE_HOST_DEVICE float transform(float mode) const {
    const float omega = turn * mode;
    const float s = std::sqrt(shape * shape - omega * omega);
    const auto m = static_cast<float>(cutoff);
    return (std::exp(m * (s - shape)) - std::exp(-m * (s + shape))) / (s * scaled_bessel);
  }
};

/// The Fourier plane: `side` rows (n) of `row_length` floats, of which `side` are in use.
struct Plane {
  float* values;
  std::int64_t side;
  std::int64_t row_length;

  /// Calls body(value, weight) for the (2 m + 1)^2 nodes of a dot's window; the plane is periodic.
  template <class Body>
  HOLOTONE_HOST_DEVICE void over_window(const Window& window, Pair dot, const Body& body) const {
    const auto nodes = static_cast<float>(side);
    const auto column = static_cast<std::int64_t>(std::rint(dot.x * nodes));
    const auto row = static_cast<std::int64_t>(std::rint(dot.y * nodes));
    const int m = window.cutoff;
    float across[2 * widest_cutoff + 1];
    for (int i = -m; i <= m; ++i) across[i + m] = window.at(dot.x * nodes - static_cast<float>(column + i));
    for (int j = -m; j <= m; ++j) {
      const float down = window.at(dot.y * nodes - static_cast<float>(row + j));
      float* const line = values + ((row + j) & (side - 1)) * row_length;
      for (int i = -m; i <= m; ++i) body(line[(column + i) & (side - 1)], down * across[i + m]);
    }
  }
};

/// gamma(beta) of Eq. (6) for sum 0, 1, 2.
HOLOTONE_HOST_DEVICE inline float strength(Pair dot, int sum) { return sum == 0 ? 1.0F : sum == 1 ? dot.x : dot.y; }

/// B transposed, Eq. (23), by atomic additions.
struct Spread {
  const Pair* dots;
  int sum;
  Window window;
  Plane plane;
  HOLOTONE_HOST_DEVICE void operator()(std::int64_t i) const {
    const Pair dot = dots[i];
    const float gamma = strength(dot, sum);
    plane.over_window(window, dot, [&](float& node, float weight) { add_atomic(node, gamma * weight); });
  }
};

/// B, Eq. (22).
struct Gather {
  const Pair* dots;
  Window window;
  Plane plane;
  float* values;  ///< of each dot
  HOLOTONE_HOST_DEVICE void operator()(std::int64_t i) const {
    float sum = 0;
    plane.over_window(window, dots[i], [&](float& node, float weight) { sum += weight * node; });
    values[i] = sum;
  }
};

/// D transposed, the scaling by b_j and D in one pass, in place: modes |k| < N / 2 on both axes, 0 elsewhere.
struct Scale {
  Window window;
  Plane plane;
  std::int64_t modes;    ///< N
  const float* factors;  ///< b_j, {N / 2, N / 2}, j >= 0: they are even in both axes
  HOLOTONE_HOST_DEVICE void operator()(std::int64_t index) const {
    const std::int64_t columns = plane.side / 2 + 1;
    const std::int64_t row = index / columns;
    const std::int64_t column = index % columns;
    const std::int64_t frequency = 2 * row < plane.side ? row : plane.side - row;
    auto& mode = *reinterpret_cast<Pair*>(plane.values + row * plane.row_length + 2 * column);
    if (2 * frequency >= modes || 2 * column >= modes) {
      mode = {0, 0};
      return;
    }
    const float transform =
        window.transform(static_cast<float>(frequency)) * window.transform(static_cast<float>(column));
    const float factor = factors[frequency * (modes / 2) + column] / (transform * transform);
    mode = {factor * mode.x, factor * mode.y};
  }
};

/// The look-up map (5.2): square cells that hold one dot's place each.
struct Map {
  unsigned long long* cells;
  std::int64_t rows;
  std::int64_t columns;
  Pair corner;    ///< of the page
  float inverse;  ///< 1 / side of a cell
  /// A row has longest_way more cells than columns, for dots pushed to the right.
  [[nodiscard]] HOLOTONE_HOST_DEVICE std::int64_t row_length() const { return columns + longest_way; }
  [[nodiscard]] HOLOTONE_HOST_DEVICE static std::int64_t place(float cell, std::int64_t count) {
    const auto whole = static_cast<std::int64_t>(cell);
    return cell < 0 ? 0 : whole < count ? whole : count - 1;
  }
  [[nodiscard]] HOLOTONE_HOST_DEVICE std::int64_t row(float y) const { return place((y - corner.y) * inverse, rows); }
  [[nodiscard]] HOLOTONE_HOST_DEVICE std::int64_t column(float x) const {
    return place((x - corner.x) * inverse, columns);
  }

  /// Calls body(place, squared distance) for the dots of the searched cells within the radius, but not for one at `dot`
  /// itself.
  template <class Body>
  HOLOTONE_HOST_DEVICE void over_near(Pair dot, float radius, const Body& body) const {
    const std::int64_t last_row = row(dot.y + radius);
    const std::int64_t first = column(dot.x - radius);
    const std::int64_t last = column(dot.x + radius) + extra_cells;
    for (std::int64_t j = row(dot.y - radius); j <= last_row; ++j) {
      const unsigned long long* const line = cells + j * row_length();
      for (std::int64_t i = first; i <= last; ++i) {
        const unsigned long long cell = line[i];
        if (cell == empty_cell) continue;
        Pair other;
        memcpy(&other, &cell, sizeof other);
        const float square = squared_distance(dot, other);
        if (square > 0 && square < radius * radius) body(other, square);
      }
    }
  }
};

/// Puts a dot into its cell; a dot that was there goes to the next cell on the right, and so on.
struct Insert {
  const Pair* dots;
  Map map;
  unsigned long long* left_out;  ///< number of dots that found no cell
  HOLOTONE_HOST_DEVICE void operator()(std::int64_t i) const {
    const Pair dot = dots[i];
    unsigned long long* const cell = map.cells + map.row(dot.y) * map.row_length() + map.column(dot.x);
    unsigned long long hand = 0;
    memcpy(&hand, &dot, sizeof hand);
    for (int k = 0; k < longest_way; ++k) {
      hand = exchange(cell[k], hand);
      if (hand == empty_cell) return;
    }
    add_atomic(*left_out, 1ULL);
  }
};

/// The three sums of the far field, extended by K_N = s^p / r^2, s = 1 - (r / radius)^2, of the neighbours that the map
/// finds, and joined to the repulsion, Eq. (3).
struct Near {
  const Pair* dots;
  Map map;
  float radius;       ///< epsilon_I
  int degree;         ///< p
  const float* sums;  ///< {3, count}
  std::int64_t count;
  Pair* repulsion;
  HOLOTONE_HOST_DEVICE void operator()(std::int64_t i) const {
    const Pair dot = dots[i];
    float sum = sums[i];
    float sum_x = sums[count + i];
    float sum_y = sums[2 * count + i];
    map.over_near(dot, radius, [&](Pair other, float square) {
      const float s = 1 - square / (radius * radius);
      float power = s;
      for (int k = 1; k < degree; ++k) power *= s;
      const float kernel = power / square;
      sum += kernel;
      sum_x += kernel * other.x;
      sum_y += kernel * other.y;
    });
    repulsion[i] = {dot.x * sum - sum_x, dot.y * sum - sum_y};
  }
};

/// Counts the neighbours that the map finds.
struct CountFound {
  const Pair* dots;
  Map map;
  float radius;
  unsigned long long* found;
  HOLOTONE_HOST_DEVICE void operator()(std::int64_t i) const {
    unsigned long long nearest = 0;
    map.over_near(dots[i], radius, [&](Pair, float) { ++nearest; });
    add_atomic(*found, nearest);
  }
};

/// Counts all neighbours, by every pair.
struct CountWithin {
  const Pair* dots;
  std::int64_t count;
  float radius;
  unsigned long long* within;
  HOLOTONE_HOST_DEVICE void operator()(std::int64_t i) const {
    const Pair dot = dots[i];
    unsigned long long nearest = 0;
    for (std::int64_t j = 0; j < count; ++j) {
      const float square = squared_distance(dot, dots[j]);
      nearest += square > 0 && square < radius * radius ? 1 : 0;
    }
    add_atomic(*within, nearest);
  }
};

/// The net force, 1/px: repulsion and the attraction table, linear between the pixels' centres.
struct Net {
  const Pair* dots;
  const Pair* repulsion;
  const Pair* attraction;  ///< {ny + 4, nx + 4}, entry (row + 2, column + 2) belongs to pixel (row, column)
  std::int64_t columns;    ///< nx + 4
  Pair centre;             ///< of the page, px
  float scale;             ///< scaled units a pixel
  float charge;            ///< number of dots

  [[nodiscard]] HOLOTONE_HOST_DEVICE Pair operator()(std::int64_t i) const {
    const float x = dots[i].x / scale + centre.x - 0.5F;
    const float y = dots[i].y / scale + centre.y - 0.5F;
    const float left = std::floor(x);
    const float top = std::floor(y);
    const float u = x - left;
    const float v = y - top;
    const Pair* const corner =
        attraction + (static_cast<std::int64_t>(top) + 2) * columns + static_cast<std::int64_t>(left) + 2;
    const auto blend = [&](float a, float b, float c, float d) {
      return (1 - v) * ((1 - u) * a + u * b) + v * ((1 - u) * c + u * d);
    };
    const Pair* const below = corner + columns;
    return {scale * repulsion[i].x + charge * blend(corner[0].x, corner[1].x, below[0].x, below[1].x),
            scale * repulsion[i].y + charge * blend(corner[0].y, corner[1].y, below[0].y, below[1].y)};
  }
};

struct WriteForce {
  Net net;
  Pair* forces;
  HOLOTONE_HOST_DEVICE void operator()(std::int64_t i) const { forces[i] = net(i); }
};

/// Eq. (1), then the projection onto the page.
struct Move {
  Net net;
  Pair* dots;
  Pair half;  ///< of the page, scaled units
  HOLOTONE_HOST_DEVICE void operator()(std::int64_t i) const {
    constexpr float tau = 0.1F;
    const Pair force = net(i);
    const float x = dots[i].x + tau * net.scale * force.x;
    const float y = dots[i].y + tau * net.scale * force.y;
    dots[i] = {std::fmin(std::fmax(x, -half.x), half.x), std::fmin(std::fmax(y, -half.y), half.y)};
  }
};

/// Places between pixels and scaled units: to = factor (from - origin).
struct Place {
  const Pair* from;
  Pair* to;
  Pair origin;
  float factor;
  HOLOTONE_HOST_DEVICE void operator()(std::int64_t i) const {
    to[i] = {factor * (from[i].x - origin.x), factor * (from[i].y - origin.y)};
  }
};

}  // namespace bench::gwosdek
