#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/retrieval/retrieval_engine.hpp>
#include <holotone/retrieval/transport/transport.hpp>
#include <holotone/retrieval/transport/transport_cells.hpp>
#include <numbers>

namespace holotone {
namespace {

using retrieval::SinkhornEngine;
using retrieval::Span;
using retrieval::TransportCells;
using retrieval::TransportLight;

constexpr std::string_view name = "transport_phase";
constexpr double turn = 2 * std::numbers::pi;

constexpr int iterations = 12;  ///< at each epsilon
constexpr double first_epsilon = 0.1;
constexpr double last_epsilon = 1e-4;

/// Places of cells in another set of cells along an axis: cell `first` and the share of the next; beyond the ends the
/// last two go on.
struct Between {
  std::size_t first = 0;
  double share = 0;
};
std::vector<Between> between(const std::vector<double>& coarse, const std::vector<double>& fine) {
  std::vector<Between> result;
  for (const double x : fine) {
    if (coarse.size() < 2) {
      result.emplace_back();
      continue;
    }
    const double step = coarse[1] - coarse[0];
    const double at = (x - coarse[0]) / step;
    const double first = std::clamp(std::floor(at), 0.0, static_cast<double>(coarse.size() - 2));
    result.push_back({static_cast<std::size_t>(first), at - first});
  }
  return result;
}

std::vector<float> refine(const std::vector<float>& potential, const TransportCells& coarse,
                          const TransportCells& fine) {
  const auto down = between(coarse.places[0], fine.places[0]);
  const auto across = between(coarse.places[1], fine.places[1]);
  const std::size_t columns = coarse.places[1].size();
  const auto at = [&](std::size_t row, std::size_t column) {
    const std::size_t last = potential.size() / columns - 1;
    return static_cast<double>(potential[std::min(row, last) * columns + std::min(column, columns - 1)]);
  };
  std::vector<float> result;
  for (const auto& y : down) {
    for (const auto& x : across) {
      const double upper = at(y.first, x.first) * (1 - x.share) + at(y.first, x.first + 1) * x.share;
      const double lower = at(y.first + 1, x.first) * (1 - x.share) + at(y.first + 1, x.first + 1) * x.share;
      result.push_back(static_cast<float>(upper * (1 - y.share) + lower * y.share));
    }
  }
  return result;
}

/// Potential of the source's finest cells.
Array<double, 2> find_potential(SinkhornEngine& engine, const TransportLight& source, const TransportLight& target,
                                const std::array<double, 2>& weights) {
  TransportCells cells;
  std::vector<float> potential;
  std::int64_t coarser = 0;
  for (double epsilon = first_epsilon; epsilon > 0.9 * last_epsilon; epsilon /= 2) {
    // Cells are at most half as wide as the kernel exp(-(x - y)^2 / (2 epsilon)).
    const std::int64_t wanted = epsilon > 4e-3 ? 4 : epsilon > 1e-3 ? 2 : 1;
    const bool is_first = coarser == 0;
    if (wanted != coarser) {
      if (!is_first) potential = engine.potential();
      auto finer = source.cells(wanted);
      potential = is_first ? std::vector<float>(finer.log_mass.size()) : refine(potential, cells, finer);
      cells = std::move(finer);
      engine.start(cells, target.cells(wanted), potential);
      coarser = wanted;
      engine.set_epsilon(epsilon, weights);
      engine.update_target(0);
    } else {
      engine.set_epsilon(epsilon, weights);
    }
    for (int i = 0; i < iterations; ++i) {
      const float kept = i + 1 == iterations ? 0.0F : 0.5F;
      engine.update_target(kept);
      engine.update_source(is_first && i == 0 ? 0.0F : kept);
    }
  }
  potential = engine.potential();
  Array<double, 2> result(source.finest());
  std::ranges::copy(potential, result.data());
  return result;
}

/// Weights of cubic B-splines at pixels, on cells with two more beyond each end.
struct SplineLine {
  explicit SplineLine(std::int64_t cells, std::int64_t pixels) {
    for (std::int64_t i = 0; i < pixels; ++i) {
      const double at = (static_cast<double>(i) + 0.5) * static_cast<double>(cells) / static_cast<double>(pixels) - 0.5;
      const double t = at - std::floor(at);
      const double u = 1 - t;
      first.push_back(static_cast<std::int64_t>(std::floor(at)) - 1 + margin);
      weights.push_back(
          {u * u * u / 6, 2.0 / 3 - t * t + t * t * t / 2, 2.0 / 3 - u * u + u * u * u / 2, t * t * t / 6});
    }
  }
  static constexpr std::int64_t margin = 2;
  std::vector<std::int64_t> first;
  std::vector<std::array<double, 4>> weights;
};

/// The line with two values beyond each end, by its last parabola.
std::vector<double> extended(const std::vector<double>& line) {
  std::vector<double> longer = line;
  const auto extend = [&](auto at) {
    const std::size_t count = line.size();
    if (count == 1) return at(0);
    if (count == 2) return 2 * at(0) - at(1);
    return 3 * at(0) - 3 * at(1) + at(2);
  };
  for (std::int64_t i = 0; i < SplineLine::margin; ++i) {
    longer.insert(longer.begin(), extend([&](std::size_t k) { return longer[k]; }));
    longer.push_back(extend([&](std::size_t k) { return longer[longer.size() - 1 - k]; }));
  }
  return longer;
}

std::vector<double> spread(const std::vector<double>& line, const SplineLine& spline) {
  const auto longer = extended(line);
  std::vector<double> values;
  for (std::size_t i = 0; i < spline.first.size(); ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      sum += spline.weights[i][k] * longer[static_cast<std::size_t>(spline.first[i]) + k];
    }
    values.push_back(sum);
  }
  return values;
}

/// The potential at pixels, by cubic B-splines.
class Surface {
 public:
  Surface(const Array<double, 2>& potential, Shape<2> pixels)
      : down_(potential.shape()[0], pixels[0]), across_(potential.shape()[1], pixels[1]) {
    const auto [rows, columns] = potential.shape();
    std::vector<std::vector<double>> wide(static_cast<std::size_t>(rows));
    parallel_for(0, rows, [&, columns = columns](std::int64_t y) {
      wide[static_cast<std::size_t>(y)] = spread({&potential(y, 0), &potential(y, 0) + columns}, across_);
    });
    wide_ = Array<double, 2>({rows + 2 * SplineLine::margin, pixels[1]});
    parallel_for(0, pixels[1], [&](std::int64_t x) {
      std::vector<double> column;
      for (const auto& row : wide) column.push_back(row[static_cast<std::size_t>(x)]);
      const auto longer = extended(column);
      for (std::size_t y = 0; y < longer.size(); ++y) wide_(static_cast<std::int64_t>(y), x) = longer[y];
    });
  }

  [[nodiscard]] double at(std::int64_t row, std::int64_t column) const {
    const auto& weights = down_.weights[static_cast<std::size_t>(row)];
    const std::int64_t first = down_.first[static_cast<std::size_t>(row)];
    double sum = 0;
    for (std::int64_t k = 0; k < 4; ++k) sum += weights[static_cast<std::size_t>(k)] * wide_(first + k, column);
    return sum;
  }

 private:
  SplineLine down_;
  SplineLine across_;
  Array<double, 2> wide_;  ///< {rows of cells with margins, nx}
};

TransportLight panel_light(Shape<2> shape, View<const Complex, 2> source) {
  if (!source.empty() && source.shape() != shape) {
    throw_argument(name, "source", to_string<2>(shape), to_string<2>(source.shape()));
  }
  return {"source", shape, {Span{0, shape[0]}, Span{0, shape[1]}}, [&](std::int64_t row, double* light) {
            if (source.empty()) {
              std::fill_n(light, shape[1], 1.0);
              return;
            }
            std::transform(&source(row, 0), &source(row, 0) + shape[1], light,
                           [](Complex value) { return static_cast<double>(std::norm(value)); });
          }};
}

TransportLight picture_light(Shape<2> shape, View<const float, 2> amplitude, const SignalRegion& region) {
  if (amplitude.shape() != shape) {
    throw_argument(name, "amplitude", to_string<2>(shape), to_string<2>(amplitude.shape()));
  }
  return {"amplitude",
          shape,
          {Span{region.row, region.rows}, Span{region.column, region.columns}},
          [&](std::int64_t row, double* light) {
            const float* const first = &amplitude(region.row + row, region.column);
            std::transform(first, first + region.columns, light,
                           [](float value) { return static_cast<double>(value) * static_cast<double>(value); });
          }};
}

/// What the phase is of the potential: factor potential + curvature x^2 along each axis, in pixels from the middle.
struct PhaseForm {
  double factor = 0;
  std::array<double, 2> curvature{};
};

/// Largest difference of the phase between neighbouring cells, in cycles a pixel.
double find_highest_frequency(const Array<double, 2>& potential, const PhaseForm& form, Shape<2> pixels) {
  const auto [rows, columns] = potential.shape();
  const std::array<double, 2> width{static_cast<double>(pixels[0]) / static_cast<double>(rows),
                                    static_cast<double>(pixels[1]) / static_cast<double>(columns)};
  const auto from_middle = [&](std::size_t axis, std::int64_t cell) {
    return (static_cast<double>(cell) + 0.5) * width[axis] - static_cast<double>(pixels[axis]) / 2;
  };
  const auto phase = [&](std::int64_t y, std::int64_t x) {
    const double down = from_middle(0, y);
    const double right = from_middle(1, x);
    return form.factor * potential(y, x) + form.curvature[0] * down * down + form.curvature[1] * right * right;
  };
  double most = 0;
  for (std::int64_t y = 0; y < rows; ++y) {
    for (std::int64_t x = 0; x < columns; ++x) {
      if (x > 0) most = std::max(most, std::abs(phase(y, x) - phase(y, x - 1)) / width[1]);
      if (y > 0) most = std::max(most, std::abs(phase(y, x) - phase(y - 1, x)) / width[0]);
    }
  }
  return most / turn;
}

std::unique_ptr<SinkhornEngine> engine_on([[maybe_unused]] const Queue& queue) {
#if HOLOTONE_CUDA
  if (queue.device().backend == Backend::cuda) return retrieval::sinkhorn_cuda(queue);
#endif
  return retrieval::sinkhorn_cpu();
}

}  // namespace

TransportPhase transport_phase(const PhaseRetrievalOptions& options, View<const float, 2> amplitude,
                               View<const Complex, 2> source, double share, const Queue& queue) {
  const auto wanted = retrieval::checked_options(options);
  const auto [ny, nx] = wanted.grid.shape();
  const double pitch = wanted.grid.pitch_m;
  const double wavelength = wanted.grid.wavelength_m;
  const double distance = wanted.planes.front().distance_m;
  const bool has_lens = wanted.focal_length_m > 0;
  if (!has_lens && distance == 0) throw_argument(name, "planes.distance_m", "a distance other than 0", "0");
  if (!(share > 0 && share <= 1)) throw_argument(name, "share", "> 0 to 1", fmt::format("{}", share));
  const auto panel = panel_light(wanted.grid.shape(), source);
  auto picture = picture_light(wanted.grid.shape(), amplitude, wanted.region);
  // Behind a lens light stays in the order.
  if (share < 1) picture.surround(share, has_lens ? 0 : 1.0 / 16);

  const std::array<double, 2> sides{static_cast<double>(ny), static_cast<double>(nx)};
  const double longer = std::max(sides[0], sides[1]);
  std::array<double, 2> weights{};  // of the cost in units of `unit`
  for (std::size_t axis = 0; axis < 2; ++axis) weights[axis] = std::pow(sides[axis] / longer, has_lens ? 1 : 2);
  const double unit = has_lens ? longer : longer * longer;
  const auto engine = engine_on(queue);
  const auto potential = find_potential(*engine, panel, picture, weights);

  PhaseForm form{-unit * turn, {}};
  if (has_lens) {
    // A defocus moves light of pixel x by a quadratic phase, which is taken off here.
    const double focal = wanted.focal_length_m;
    const double defocus = std::numbers::pi * distance * pitch * pitch / (wavelength * focal * focal);
    for (std::size_t axis = 0; axis < 2; ++axis) form.curvature[axis] = std::numbers::pi / sides[axis] + defocus;
  } else {
    // Light goes by -distance: from x to x - distance wavelength times its frequency.
    form.factor /= -wavelength * distance / (pitch * pitch);
  }
  const Surface surface(potential, wanted.grid.shape());
  TransportPhase made{Array<float, 2>(wanted.grid.shape()),
                      find_highest_frequency(potential, form, wanted.grid.shape())};
  parallel_for(0, ny, [&, nx = nx, ny = ny](std::int64_t row) {
    const double y = static_cast<double>(row) - static_cast<double>(ny - 1) / 2;
    for (std::int64_t column = 0; column < nx; ++column) {
      const double x = static_cast<double>(column) - static_cast<double>(nx - 1) / 2;
      double value = form.factor * surface.at(row, column) + form.curvature[0] * y * y + form.curvature[1] * x * x;
      if (!source.empty()) value -= static_cast<double>(std::arg(source(row, column)));
      made.phase_rad(row, column) = static_cast<float>(value - turn * std::rint(value / turn));
    }
  });
  return made;
}

}  // namespace holotone
