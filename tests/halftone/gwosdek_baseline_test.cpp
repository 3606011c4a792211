// The paper's own step (bench/baselines/gwosdek.hpp) against float64 sums, and its map against a count by every pair.
#include <bench/baselines/gwosdek.hpp>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <tests/halftone/electrostatic_support.hpp>

namespace {

using bench::GwosdekOptions;
using bench::GwosdekStep;
using bench::GwosdekSum;
using holotone::Array;
using holotone::Device;
using holotone::View;
using support::expect_within;
using support::force_error;
using support::Halftone;
using support::Picture;
using support::picture;
using support::random_dots;

class GwosdekBaseline : public support::OnEachDevice {};
HOLOTONE_ON_CPU_AND_CUDA(GwosdekBaseline);

/// The step with a picture and dots, and what it computes in host memory.
class Dotted {
 public:
  Dotted(const Picture& on, const std::vector<float>& dots, Device device, const GwosdekOptions& options = {})
      : queue_(device),
        count_(static_cast<std::int64_t>(dots.size() / 2)),
        step({on.ny, on.nx}, count_, queue_, options) {
    step.set_ink({on.ink.data(), {on.ny, on.nx}});
    const auto copy = copy_of(View<const float, 2>(dots.data(), {count_, 2}), device);
    step.set_positions(copy.view());
    queue_.synchronize();
  }
  std::vector<float> forces() {
    return read([&](View<float, 2> out) { step.forces(out); });
  }
  std::vector<float> positions() {
    return read([&](View<float, 2> out) { step.positions(out); });
  }
  std::int64_t missed() {
    const auto neighbours = step.neighbours();
    return neighbours.within - neighbours.found;
  }

 private:
  template <class Action>
  std::vector<float> read(const Action& action) {
    Array<float, 2> out({count_, 2}, queue_);
    action(out.view());
    const auto host = out.to(Device{});
    return {host.data(), host.data() + host.size()};
  }
  holotone::Queue queue_;
  std::int64_t count_;

 public:
  GwosdekStep step;
};

TEST_P(GwosdekBaseline, direct_sum_is_plain_float32) {
  const auto on = picture(43, 61);
  const auto dots = random_dots(on, 1501, 1);
  const auto expected = reference::point_net_force(on.ny, on.nx, on.ink, dots);
  // 1,500 additions of up to 70 1/px at a net force of 5: 14 units of 6e-8 sqrt(1500), and as much from the places.
  on_each([&](Device device) {
    Dotted dotted(on, dots, device, {.sum = GwosdekSum::direct});
    expect_within("direct", force_error(dotted.forces(), expected), 5e-5);
  });
}

TEST_P(GwosdekBaseline, fast_sum_improves_with_its_parameters_to_the_limit_of_float32) {
  const auto on = picture(43, 61);
  const auto dots = random_dots(on, 1500, 1);
  const auto expected = reference::point_net_force(on.ny, on.nx, on.ink, dots);
  on_each([&](Device device) {
    // Measured: 1.5e-2, 2.7e-3, 3.3e-4, 1.1e-4, the last by rounding.
    const double allowed[] = {4e-2, 8e-3, 1e-3, 4e-4};
    for (const int m : {2, 3, 4, 5}) {
      Dotted dotted(on, dots, device, {.cutoff = m, .degree = m, .room = 16});
      ASSERT_EQ(dotted.missed(), 0);
      expect_within(
          fmt::format("m = {}, n = {}, radius {:.1f} px", m, dotted.step.plane_side(), dotted.step.radius_px()),
          force_error(dotted.forces(), expected), allowed[m - 2]);
    }
  });
}

TEST_P(GwosdekBaseline, a_step_moves_along_the_force_and_projects_onto_the_page) {
  const auto on = picture(23, 31);
  auto dots = random_dots(on, 400, 2);
  dots[0] = 0.001F;  // near a neighbour on its right, pushed off the page
  dots[2] = 0.02F;
  dots[1] = dots[3] = 5;
  on_each([&](Device device) {
    for (const auto sum : {GwosdekSum::direct, GwosdekSum::fast}) {
      Dotted dotted(on, dots, device, {.sum = sum, .room = 16});
      const auto forces = dotted.forces();
      dotted.step.step();
      const auto moved = dotted.positions();
      for (std::size_t i = 0; i < dots.size(); ++i) {
        const float end = i % 2 == 0 ? 31 : 23;
        // Forces of close pairs are rounded in another order in every run.
        EXPECT_NEAR(moved[i], std::clamp(dots[i] + 0.1F * forces[i], 0.0F, end), 5e-3F + 1e-3F * std::abs(forces[i]));
      }
      EXPECT_NEAR(moved[0], 0, 1e-4);
    }
  });
}

/// What the map holds, and what a search of it must find: by every pair and cell.
struct Searched {
  std::int64_t stored = 0;
  bench::GwosdekNeighbours neighbours;
};
Searched search_by_hand(const GwosdekStep& step, float radius) {
  const auto dots = step.dots().to(Device{});
  const auto& map = step.map();
  const auto cells = step.map_cells();
  const auto row_length = map.columns + 64;
  std::map<unsigned long long, std::int64_t> cell_of;
  Searched result;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] == ~0ULL) continue;
    ++result.stored;
    cell_of[cells[i]] = static_cast<std::int64_t>(i);
  }
  const auto place = [&](float from_corner, std::int64_t count) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(from_corner * map.inverse)), 0, count - 1);
  };
  for (const auto& coordinate : dots.host()) {
    for (const auto& other : dots.host()) {
      const float square =
          (coordinate.x - other.x) * (coordinate.x - other.x) + (coordinate.y - other.y) * (coordinate.y - other.y);
      if (square == 0 || square >= radius * radius) continue;
      ++result.neighbours.within;
      unsigned long long bits = 0;
      std::memcpy(&bits, &other, sizeof bits);
      const auto found = cell_of.find(bits);
      if (found == cell_of.end()) continue;
      const auto row = found->second / row_length;
      const auto column = found->second % row_length;
      const bool inside = row >= place(coordinate.y - radius - map.corner.y, map.rows) &&
                          row <= place(coordinate.y + radius - map.corner.y, map.rows) &&
                          column >= place(coordinate.x - radius - map.corner.x, map.columns) &&
                          column <= place(coordinate.x + radius - map.corner.x, map.columns) + 2;
      result.neighbours.found += inside ? 1 : 0;
    }
  }
  result.neighbours.without_cell = dots.size() - result.stored;
  return result;
}

/// Solid black on a ninth of the page; mean ink 0.11, less than a quarter of black.
Picture black_square() {
  Picture on{72, 96, {}};
  for (std::int64_t row = 0; row < on.ny; ++row) {
    for (std::int64_t column = 0; column < on.nx; ++column) {
      on.ink.push_back(std::abs(row - 30) < 12 && std::abs(column - 50) < 12 ? 1.0F : 0.03F);
    }
  }
  return on;
}

TEST_P(GwosdekBaseline, map_holds_solid_black_at_a_quarter_of_mean_ink_and_counts_what_it_misses) {
  const auto on = black_square();
  double ink = 0;
  for (const float value : on.ink) ink += static_cast<double>(value);
  const auto count = std::llround(ink);
  auto settled = random_dots(on, count, 3);
  {
    Halftone halftone(on, settled, Device{});
    for (int i = 0; i < 40; ++i) halftone.plan().step();
    settled = halftone.positions();
  }
  auto crowded = settled;  // 200 dots in one cell
  for (std::size_t i = 0; i < 400; ++i) crowded[i] = 20 + 0.001F * crowded[i];
  on_each([&](Device device) {
    double share = 1;
    for (const auto& [name, dots] : {std::pair("random", random_dots(on, count, 3)), {"settled", settled}}) {
      Dotted dotted(on, dots, device);
      const auto got = dotted.step.neighbours();
      const auto expected = search_by_hand(dotted.step, dotted.step.radius());
      EXPECT_EQ(got.within, expected.neighbours.within);
      EXPECT_EQ(got.found, expected.neighbours.found);
      EXPECT_EQ(got.without_cell, 0);
      EXPECT_EQ(expected.neighbours.without_cell, 0);
      const double missed = 1 - static_cast<double>(got.found) / static_cast<double>(got.within);
      fmt::print("{}: {} cells for {} dots, {:.1e} of {} neighbours missed\n", name, dotted.step.map_cells().size(),
                 count, missed, got.within);
      EXPECT_LT(missed, share);
      share = missed;
    }
    EXPECT_LT(share, 0.01);
    Dotted dotted(on, crowded, device);
    const auto got = dotted.step.neighbours();
    const auto expected = search_by_hand(dotted.step, dotted.step.radius());
    EXPECT_GT(got.without_cell, 100);
    EXPECT_EQ(got.without_cell, expected.neighbours.without_cell);
    EXPECT_EQ(got.within, expected.neighbours.within);
    EXPECT_EQ(got.found, expected.neighbours.found);
  });
}

}  // namespace
