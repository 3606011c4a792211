// The far force of the Ewald split on the CPU: charge spread over the grid, convolved, interpolated at dots.
#include <algorithm>
#include <cmath>
#include <holotone/core/simd.hpp>
#include <holotone/halftone/electrostatic/ewald_cpu.hpp>
#include <holotone/halftone/electrostatic/transform_cpu.hpp>
#include <utility>

namespace holotone::electrostatic {
namespace {

/// Share of the tolerance for the error of the window's polynomial.
constexpr double polynomial_share = 0.1;
constexpr std::int64_t min_strip_nodes = 24;
/// Number of columns transformed together: they and their two images fit into a core's cache.
constexpr std::int64_t block = 8;

constexpr int padded(int width) { return (width + 3) / 4 * 4; }

/// Computes phi at the nodes of one axis.
template <int Width>
HOLOTONE_ALWAYS_INLINE void weights(const float* coefficient, int degree, float place, float* result) {
  constexpr int size = padded(Width);
  const float* row = coefficient + static_cast<std::ptrdiff_t>(degree) * size;
  for (int i = 0; i < size; ++i) result[i] = row[i];
  for (int k = degree - 1; k >= 0; --k) {
    row -= size;
    for (int i = 0; i < size; ++i) result[i] = result[i] * place + row[i];
  }
}

/// First node that a dot's window touches on an axis, and the dot's place between nodes (WindowPolynomial's t).
template <int Width>
HOLOTONE_ALWAYS_INLINE std::int64_t find_node(float coordinate, double nodes_a_px, double margin, float& place) {
  const double left = static_cast<double>(coordinate) * nodes_a_px + (margin - 0.5 * Width);
  const double first = std::ceil(left);
  place = static_cast<float>(2 * (first - left) - 1);
  return static_cast<std::int64_t>(first);
}

/// Parameters of the grid for the loops.
struct Nodes {
  double nodes_a_px_x;
  double nodes_a_px_y;
  double margin;
  std::int64_t row_step;
  const float* coefficient;
  int degree;
};

template <int Width>
HOLOTONE_SIMD_CLONES void spread_run(const Nodes& nodes, const float* x, const float* y, std::int64_t count,
                                     float* grid) {
  constexpr int size = padded(Width);
  for (std::int64_t i = 0; i < count; ++i) {
    alignas(64) float across[size];
    alignas(64) float down[size];
    float place_x = 0;
    float place_y = 0;
    const std::int64_t column = find_node<Width>(x[i], nodes.nodes_a_px_x, nodes.margin, place_x);
    const std::int64_t row = find_node<Width>(y[i], nodes.nodes_a_px_y, nodes.margin, place_y);
    weights<Width>(nodes.coefficient, nodes.degree, place_x, across);
    weights<Width>(nodes.coefficient, nodes.degree, place_y, down);
    float* const corner = grid + row * nodes.row_step + column;
    for (int j = 0; j < Width; ++j) {
      float* const to = corner + j * nodes.row_step;
      for (int k = 0; k < size; ++k) to[k] += down[j] * across[k];
    }
  }
}

template <int Width>
HOLOTONE_SIMD_CLONES void interpolate_run(const Nodes& nodes, const float* x, const float* y, std::int64_t count,
                                          const float* grid, float* force_x, float* force_y) {
  constexpr int size = padded(Width);
  for (std::int64_t i = 0; i < count; ++i) {
    alignas(64) float across[size];
    alignas(64) float down[size];
    float place_x = 0;
    float place_y = 0;
    const std::int64_t column = find_node<Width>(x[i], nodes.nodes_a_px_x, nodes.margin, place_x);
    const std::int64_t row = find_node<Width>(y[i], nodes.nodes_a_px_y, nodes.margin, place_y);
    weights<Width>(nodes.coefficient, nodes.degree, place_x, across);
    weights<Width>(nodes.coefficient, nodes.degree, place_y, down);
    const float* const corner = grid + (row * nodes.row_step + column) * 2;
    alignas(64) float line[2 * size] = {};
    for (int j = 0; j < Width; ++j) {
      const float* const from = corner + j * nodes.row_step * 2;
      for (int k = 0; k < 2 * size; ++k) line[k] += down[j] * from[k];
    }
    float sum_x = 0;
    float sum_y = 0;
    for (int k = 0; k < Width; ++k) {
      sum_x += across[k] * line[2 * k];
      sum_y += across[k] * line[2 * k + 1];
    }
    force_x[i] = sum_x;
    force_y[i] = sum_y;
  }
}

/// Calls action(constant) for a run-time width.
template <class Action>
void with_width(int width, const Action& action) {
  constexpr int narrowest = 3;
  constexpr int widths = 8;
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (void)((width == I + narrowest && (action(std::integral_constant<int, I + narrowest>{}), true)) || ...);
  }
  (std::make_integer_sequence<int, widths>{});
}

Nodes nodes_of(const Setup& setup, const nufft::SpreadKernel<float>& kernel, std::int64_t row_step) {
  return {1 / setup.step_x, 1 / setup.step_y,          static_cast<double>(setup.margin),
          row_step,         kernel.coefficient.data(), kernel.degree};
}

}  // namespace

ChargeGrid::ChargeGrid(const Setup& setup)
    : setup_(setup),
      kernel_(setup.window, polynomial_share * setup.options.tolerance),
      row_length_(2 * fft::line_distance(setup.grid[1] / 2 + 1)),
      cells_({setup.used[0] * row_length_}) {
  // Dots and ink cancel a thousandfold. The polynomials therefore need the charge of the exact window, from which the
  // ink's grid is computed.
  double integral = 0;
  for (int k = 0; k <= kernel_.degree; k += 2) {
    for (int i = 0; i < kernel_.width; ++i) {
      integral += static_cast<double>(kernel_.coefficient[static_cast<std::size_t>(k * kernel_.stride + i)]) / (k + 1);
    }
  }
  const auto correction = static_cast<float>(window_transform(setup.window, 0) / integral);
  for (float& coefficient : kernel_.coefficient) coefficient *= correction;
  const double charge = std::pow(window_transform(setup.window, 0), 2);
  density_scale_ = static_cast<float>(1 / (charge * setup.step_x * setup.step_y));
  min_density_ = static_cast<float>(min_density / static_cast<double>(element_count(setup.page)));
}

void ChargeGrid::spread(const DotList& dots, const Cells& order) {
  const auto charge = static_cast<float>(dots.count);
  parallel_for(0, setup_.used[0], [&](std::int64_t y) {
    float* const row = cells_.data() + y * row_length_;
    const float* const ink = ink_.data() + y * setup_.used[1];
    for (std::int64_t x = 0; x < setup_.used[1]; ++x) row[x] = -charge * ink[x];
    std::fill(row + setup_.used[1], row + row_length_, 0.0F);
  });
  // Strips of rows of cells, each higher than a window: dots of strips that are two apart share no node.
  const double nodes = std::max<double>(min_strip_nodes, setup_.window.width + 1);
  const auto high = static_cast<std::int64_t>(std::ceil(nodes * setup_.step_y / order.side()));
  const std::int64_t strips = (order.rows() + high - 1) / high;
  const Nodes grid_nodes = nodes_of(setup_, kernel_, row_length_);
  with_width(setup_.window.width, [&](auto width) {
    for (const std::int64_t parity : {0, 1}) {
      parallel_for(0, (strips + 1 - parity) / 2, [&](std::int64_t pair) {
        const std::int64_t first = (2 * pair + parity) * high;
        const std::int64_t begin = order.start(first, 0);
        const std::int64_t end = order.start(std::min(first + high, order.rows()), 0);
        spread_run<width.value>(grid_nodes, dots.x.data() + begin, dots.y.data() + begin, end - begin, cells_.data());
      });
    }
  });
}

void ChargeGrid::densities(const DotList& dots, std::int64_t begin, std::int64_t end, float* density) const {
  const auto margin = static_cast<double>(setup_.margin) + 0.5;
  for (std::int64_t i = begin; i < end; ++i) {
    const auto dot = static_cast<std::size_t>(i);
    const auto column = static_cast<std::int64_t>(static_cast<double>(dots.x[dot]) / setup_.step_x + margin);
    const auto row = static_cast<std::int64_t>(static_cast<double>(dots.y[dot]) / setup_.step_y + margin);
    const float ink = ink_[static_cast<std::size_t>(row * setup_.used[1] + column)];
    density[i - begin] = std::max(density_scale_ * ink, min_density_);
  }
}

FarField::FarField(const Setup& setup)
    : setup_(setup),
      distance_(fft::gathered_distance(setup.grid[0])),
      force_step_(fft::line_distance(setup.grid[1])),
      rows_(setup.grid[1], 1, fft::line_distance(setup.grid[1] / 2 + 1), FftDirection::forward),
      forward_(setup.grid[0], block, distance_, FftDirection::forward),
      inverse_(setup.grid[0], 2 * block, distance_, FftDirection::inverse),
      rows_back_(setup.grid[1], 1, force_step_, FftDirection::inverse),
      force_({setup.used[0] * force_step_}) {
  const auto table = far_spectrum(setup);
  spectrum_.assign(table.begin(), table.end());
}

std::size_t FarField::bytes() const { return spectrum_.capacity() * sizeof(float) + force_.bytes() + memory_.bytes(); }

void FarField::transform(ChargeGrid& grid) {
  auto* const all = reinterpret_cast<Complex*>(grid.data());
  const std::int64_t step = grid.row_length() / 2;
  parallel_for(0, setup_.used[0], [&](std::int64_t y) { rows_.execute(all + y * step); });
  memory_.reserve(3 * block * distance_);
  const std::int64_t half = setup_.grid[1] / 2;  // without the last column, where the influence is 0
  parallel_for(0, (half + block - 1) / block, [&](std::int64_t i) {
    columns(all, step, i * block, std::min(block, half - i * block), memory_.thread_block());
  });
  parallel_for(0, setup_.used[0], [&](std::int64_t y) {
    Complex* const row = force_.data() + y * force_step_;
    row[half] = 0;
    rows_back_.execute(row);
  });
}

/// Transforms the columns k_x = first .. first + count - 1 and their mirror images: H[k] = R[k] (G_y - i G_x), and
/// R[-k] is the conjugate of R[k]. A grid of real charges gives both components of the force in one complex grid.
void FarField::columns(const Complex* rows, std::int64_t row_step, std::int64_t first, std::int64_t count,
                       Complex* memory) {
  const std::int64_t ny = setup_.grid[0];
  const std::int64_t nx = setup_.grid[1];
  Complex* const charges = memory;
  Complex* const force = memory + block * distance_;
  Complex* const mirrored = force + block * distance_;
  for (std::int64_t b = 0; b < block; ++b) {
    std::fill(charges + b * distance_ + setup_.used[0], charges + (b + 1) * distance_, Complex());
  }
  for (std::int64_t y = 0; y < setup_.used[0]; ++y) {
    const Complex* const row = rows + y * row_step + first;
    for (std::int64_t b = 0; b < block; ++b) charges[b * distance_ + y] = b < count ? row[b] : Complex();
  }
  forward_.execute(charges);
  const std::int64_t table_columns = nx / 2 + 1;
  for (std::int64_t b = 0; b < block; ++b) {
    const Complex* const line = charges + b * distance_;
    Complex* const to = force + b * distance_;
    Complex* const to_mirrored = mirrored + b * distance_;
    const float* const table = spectrum_.data() + (first + std::min(b, count - 1)) * 2;
    for (std::int64_t y = 0; y < ny; ++y) {
      const bool up = 2 * y > ny;
      const std::int64_t opposite = y == 0 ? 0 : ny - y;
      const float* const entry = table + (up ? opposite : y) * table_columns * 2;
      const float gx = entry[0];
      const float gy = up ? -entry[1] : entry[1];
      const Complex r = line[y];
      const Complex m = line[opposite];
      to[y] = {r.real() * gy + r.imag() * gx, r.imag() * gy - r.real() * gx};
      // conj(m) (gy + i gx)
      to_mirrored[y] = {m.real() * gy + m.imag() * gx, m.real() * gx - m.imag() * gy};
    }
  }
  inverse_.execute(force);
  for (std::int64_t y = 0; y < setup_.used[0]; ++y) {
    Complex* const row = force_.data() + y * force_step_;
    for (std::int64_t b = 0; b < count; ++b) {
      row[first + b] = force[b * distance_ + y];
      if (first + b > 0) row[nx - first - b] = mirrored[b * distance_ + y];
    }
  }
}

void FarField::interpolate(const ChargeGrid& grid, const DotList& dots, std::int64_t begin, std::int64_t end,
                           float* force_x, float* force_y) const {
  const Nodes nodes = nodes_of(setup_, grid.kernel(), force_step_);
  with_width(setup_.window.width, [&](auto width) {
    interpolate_run<width.value>(nodes, dots.x.data() + begin, dots.y.data() + begin, end - begin,
                                 reinterpret_cast<const float*>(force_.data()), force_x + begin, force_y + begin);
  });
}

}  // namespace holotone::electrostatic
