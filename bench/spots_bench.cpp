// spots/plane/{spots}, spots/space/{spots}: a kept step of random spots in the focal plane, and in depth, at 1024 x
// 1024; spots/free/plane/{spots}: a free one; spots/frame/...: tables, random phases, two free and three kept steps,
// 8-bit codes on the device; spots/moving/...: a frame of two locked steps a tenth of a width further, and its codes;
// spots/solve/plane/{spots}: set_spots, solve and codes on the host, waited for; spots/lattice/{spots}: thirty free and
// ten kept steps; spots/panel/{nx}x{ny}: a kept step of 2,000 spots on other panels.
//
// Checked by float64 sums of the phase. Counters: deviation, worst (of intensity / target, over its mean), efficiency,
// rel_error (of the plan's intensities, l2), floor_ms: operations of the matrix products at 750 tera a second.
#include <bench/loop.hpp>
#include <bench/rows.hpp>
#include <benchmark/benchmark.h>
#include <cmath>
#include <complex>
#include <fmt/format.h>
#include <holotone/core/parallel.hpp>
#include <holotone/core/random.hpp>
#include <holotone/retrieval/spots/spot_plan.hpp>
#include <numbers>
#include <vector>

namespace bench {
namespace {

using holotone::Array;
using holotone::Device;
using holotone::Queue;
using holotone::SpotOptions;
using holotone::SpotPlan;
using Wave = std::complex<double>;

constexpr int rounds = 9;
constexpr double product_rate = 7.5e14;
constexpr int free_steps = 2;
constexpr int kept_steps = 3;

enum class Stage { kept, free, frame, moving, solve, lattice };

struct SpotRow {
  Stage stage;
  std::int64_t nx;
  std::int64_t ny;
  std::int64_t spots;
  bool is_deep;
};

/// A lens of long focal length: depth is paraxial.
SpotOptions lens(const SpotRow& row) {
  SpotOptions options;
  options.grid = {row.nx, row.ny, 9.2e-6, 1.064e-6};
  options.focal_length_m = 1;
  return options;
}

/// Random places within 0.45 of the panel's order, three widths apart (one and a half above 20,000), +-13 turns of
/// defocus at the edge in depth; or a square lattice of eight widths beside the axis.
std::vector<std::array<float, 3>> places(const SpotRow& row, const SpotOptions& options) {
  const auto width = holotone::spot_width_m(options);
  std::vector<std::array<float, 3>> all;
  if (row.stage == Stage::lattice) {
    const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(row.spots))));
    for (std::int64_t i = 0; i < row.spots; ++i) {
      const double x = (static_cast<double>(i % side) - 0.5 * static_cast<double>(side - 1)) * 8 + 60.3;
      const double y = (static_cast<double>(i / side) - 0.5 * static_cast<double>(side - 1)) * 8 + 20.7;
      all.push_back({static_cast<float>(x * width[0]), static_cast<float>(y * width[1]), 0.0F});
    }
    return all;
  }
  const double apart = row.spots > 20000 ? 1.5 : 3;
  const double half_x = 0.45 * static_cast<double>(row.nx);
  const double half_y = 0.45 * static_cast<double>(row.ny);
  const auto columns = static_cast<std::int64_t>(2 * half_x / apart) + 3;
  const auto rows = static_cast<std::int64_t>(2 * half_y / apart) + 3;
  std::vector<std::vector<std::array<double, 2>>> cells(static_cast<std::size_t>(columns * rows));
  for (std::uint64_t draw = 0; std::ssize(all) < row.spots; draw += 3) {
    const auto uniform = [&](std::uint64_t k) { return 2 * holotone::random_uniform64(1, draw + k) - 1; };
    const double x = half_x * uniform(0);
    const double y = half_y * uniform(1);
    const auto column = static_cast<std::int64_t>((x + half_x) / apart) + 1;
    const auto line = static_cast<std::int64_t>((y + half_y) / apart) + 1;
    bool is_free = true;
    for (std::int64_t j = line - 1; j <= line + 1 && is_free; ++j) {
      for (std::int64_t i = column - 1; i <= column + 1 && is_free; ++i) {
        for (const auto& other : cells[static_cast<std::size_t>(j * columns + i)]) {
          is_free = is_free && std::hypot(other[0] - x, other[1] - y) >= apart;
        }
      }
    }
    if (!is_free) continue;
    cells[static_cast<std::size_t>(line * columns + column)].push_back({x, y});
    const double slope = options.grid.pitch_m / options.focal_length_m;
    const double edge_m = 0.5 * static_cast<double>(row.nx) * slope;
    const double depth = row.is_deep ? uniform(2) * 13 * 2 * options.grid.wavelength_m / (edge_m * edge_m) : 0;
    all.push_back({static_cast<float>(x * width[0]), static_cast<float>(y * width[1]), static_cast<float>(depth)});
  }
  return all;
}

/// |u|^2 of spots behind a lens of small angles, in float64.
std::vector<double> exact_intensities(const SpotOptions& options, const std::vector<std::array<float, 3>>& spots,
                                      const Array<float, 2>& phase_rad) {
  const auto& grid = options.grid;
  constexpr double turn = 2 * std::numbers::pi;
  const double per_m = grid.pitch_m / (grid.wavelength_m * options.focal_length_m);
  const double slope = grid.pitch_m / options.focal_length_m;
  std::vector<Wave> field(static_cast<std::size_t>(phase_rad.size()));
  holotone::parallel_for(0, grid.ny, [&](std::int64_t row) {
    for (std::int64_t i = row * grid.nx; i < (row + 1) * grid.nx; ++i) {
      field[static_cast<std::size_t>(i)] = std::polar(1.0, static_cast<double>(phase_rad.data()[i]));
    }
  });
  std::vector<double> intensity(spots.size());
  holotone::parallel_for(0, std::ssize(spots), [&](std::int64_t m) {
    const auto& spot = spots[static_cast<std::size_t>(m)];
    const double fx = static_cast<double>(spot[0]) * per_m;
    const double fy = static_cast<double>(spot[1]) * per_m;
    const double chirp = 0.5 / grid.wavelength_m * slope * slope * static_cast<double>(spot[2]);
    std::vector<Wave> across;
    for (std::int64_t i = 0; i < grid.nx; ++i) {
      const double x = static_cast<double>(i) - 0.5 * static_cast<double>(grid.nx - 1);
      across.push_back(std::polar(1.0, -turn * (fx + chirp * x) * x));
    }
    Wave sum;
    for (std::int64_t row = 0; row < grid.ny; ++row) {
      const Wave* const line = field.data() + row * grid.nx;
      double re = 0;
      double im = 0;
      for (std::size_t i = 0; i < across.size(); ++i) {
        re += line[i].real() * across[i].real() - line[i].imag() * across[i].imag();
        im += line[i].real() * across[i].imag() + line[i].imag() * across[i].real();
      }
      const double y = 0.5 * static_cast<double>(grid.ny - 1) - static_cast<double>(row);
      sum += Wave(re, im) * std::polar(1.0, -turn * (fy + chirp * y) * y);
    }
    intensity[static_cast<std::size_t>(m)] = std::norm(sum / static_cast<double>(grid.nx * grid.ny));
  });
  return intensity;
}

/// Counters of the phase that a plan holds.
void judge(benchmark::State& state, const SpotPlan& plan, const std::vector<std::array<float, 3>>& spots) {
  Array<float, 2> phase_rad(plan.options().grid.shape());
  plan.phase(phase_rad.view());
  const auto exact = exact_intensities(plan.options(), spots, phase_rad);
  const auto own_light = plan.light();
  double sum = 0;
  double square = 0;
  double difference = 0;
  double most = 0;
  for (std::size_t m = 0; m < exact.size(); ++m) {
    sum += exact[m];
    square += exact[m] * exact[m];
    difference += std::pow(own_light.intensity[m] - exact[m], 2);
  }
  const double mean = sum / static_cast<double>(exact.size());
  for (const double value : exact) most = std::max(most, std::abs(value - mean) / mean);
  state.counters["deviation"] = std::sqrt(std::max(square / static_cast<double>(exact.size()) / mean / mean - 1, 0.0));
  state.counters["worst"] = most;
  state.counters["efficiency"] = sum;
  state.counters["rel_error"] = std::sqrt(difference / square);
}

void run_row(benchmark::State& state, const SpotRow& row, Device device) {
  const auto options = lens(row);
  const auto spots = places(row, options);
  const Queue queue = Queue::create(device);
  SpotPlan plan(options, queue);
  const holotone::View<const float, 2> where{spots.front().data(), {std::ssize(spots), 3}};
  plan.set_spots(where);
  Array<std::uint8_t, 2> codes(options.grid.shape(), device.backend == holotone::Backend::cuda ? queue : Queue());
  // The second call chooses the fastest products.
  for (int i = 0; i < 3; ++i) plan.solve({.free_steps = free_steps, .kept_steps = kept_steps});
  const bool is_lattice = row.stage == Stage::lattice;
  const auto frame = [&] {
    plan.set_spots(where);
    plan.step(is_lattice ? 30 : free_steps, is_lattice ? 10 : kept_steps);
    plan.codes(codes.view());
  };
  double seconds = 0;
  double steps = 1;
  switch (row.stage) {
    case Stage::kept:
    case Stage::free: {
      constexpr int many = 32;
      const bool is_free = row.stage == Stage::free;
      seconds = seconds_of(queue, rounds, [&] { plan.step(is_free ? many : 0, is_free ? 0 : many); }) / many;
      frame();
      break;
    }
    case Stage::frame:
    case Stage::lattice:
      seconds = seconds_of(queue, rounds, frame);
      steps = is_lattice ? 40 : free_steps + kept_steps;
      break;
    case Stage::moving: {
      constexpr int frames = 63;  // of a circle of one width
      std::vector<std::vector<std::array<float, 3>>> path(frames, spots);
      const auto width = holotone::spot_width_m(options);
      for (int number = 0; number < frames; ++number) {
        for (std::size_t m = 0; m < spots.size(); ++m) {
          const double angle = 2 * std::numbers::pi * number / frames + static_cast<double>(m);
          auto& place = path[static_cast<std::size_t>(number)][m];
          place[0] += static_cast<float>(width[0] * std::cos(angle));
          place[1] += static_cast<float>(width[1] * std::sin(angle));
        }
      }
      std::size_t number = 0;
      seconds = seconds_of(queue, rounds, [&] {
        const auto& moved = path[number++ % frames];
        plan.follow({moved.front().data(), {std::ssize(moved), 3}});
        plan.codes(codes.view());
      });
      const auto& moved = path[(number - 1) % frames];
      steps = 2;
      judge(state, plan, moved);
      break;
    }
    case Stage::solve: {
      Array<std::uint8_t, 2> here(options.grid.shape());
      seconds = seconds_of(queue, rounds, [&] {
        plan.set_spots(where);
        plan.solve({.free_steps = free_steps, .kept_steps = kept_steps});
        plan.codes(here.view());
      });
      steps = free_steps + kept_steps;
      break;
    }
  }
  if (row.stage != Stage::moving) judge(state, plan, spots);
  const double pixels = static_cast<double>(row.nx * row.ny);
  const double products = (row.is_deep ? 12 : 8) * pixels * static_cast<double>(row.spots);
  state.counters["floor_ms"] = 1e3 * steps * products / product_rate;
  for (auto _ : state) state.SetIterationTime(seconds);
}

}  // namespace

void add_spots_rows(const RowOptions& options) {
  const auto add = [&](const std::string& name, const SpotRow& row) {
    register_row("spots/" + name, [row, device = options.device](auto& state) {
      run_row(state, row, device);
    })->Iterations(1);
  };
  constexpr std::int64_t side = 1024;
  const bool cpu = options.device.backend == holotone::Backend::cpu;
  for (const std::int64_t spots : {100, 1000, 2000, 5000, 10000, 100000}) {
    if (cpu && spots > 10000) continue;
    const std::string number = fmt::format("{}", spots);
    add("plane/" + number, {Stage::kept, side, side, spots, false});
    if (spots <= 10000) add("space/" + number, {Stage::kept, side, side, spots, true});
    if (spots != 2000) continue;
    add("free/plane/" + number, {Stage::free, side, side, spots, false});
    add("frame/plane/" + number, {Stage::frame, side, side, spots, false});
    add("frame/space/" + number, {Stage::frame, side, side, spots, true});
    add("moving/plane/" + number, {Stage::moving, side, side, spots, false});
    add("moving/space/" + number, {Stage::moving, side, side, spots, true});
    add("solve/plane/" + number, {Stage::solve, side, side, spots, false});
    add("panel/1920x1080", {Stage::kept, 1920, 1080, spots, false});
    add("panel/1272x1024", {Stage::kept, 1272, 1024, spots, false});
  }
  add("lattice/1024", {Stage::lattice, side, side, 1024, false});
}

}  // namespace bench
