#include <bench/gwosdek_halftones.hpp>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <holotone/halftone/capacity_voronoi.hpp>
#include <holotone/halftone/sampling.hpp>
#include <holotone/io/dots/dots.hpp>

namespace bench {

using holotone::Array;
using holotone::Device;
using holotone::ElectrostaticOptions;
using holotone::ElectrostaticPlan;
using holotone::View;

std::vector<HalftoneMethod> taylor_methods(const std::string& name, double radius, std::int64_t modes) {
  std::vector<HalftoneMethod> methods;
  for (const int m : {3, 4, 5}) {
    ElectrostaticOptions options;
    options.sum = holotone::ForceSum::taylor;
    options.window_cutoff = m;
    options.taylor_degree = m;
    options.taylor_radius = radius;
    options.taylor_modes = modes;
    methods.push_back({fmt::format("{}m = p = {}", name, m), options});
  }
  return methods;
}

std::int64_t published_modes(std::int64_t dots) {
  const auto modes = static_cast<std::uint64_t>(std::ceil(std::sqrt(3 * static_cast<double>(dots))));
  return static_cast<std::int64_t>(std::bit_ceil(2 * modes)) / 2;
}

HalftoneMethod voronoi_method() { return {"capacity-constrained Voronoi", std::nullopt}; }

ElectrostaticPlan halftone_plan(const HalftoneCase& of, const ElectrostaticOptions& options, std::uint64_t seed,
                                Device device) {
  const auto start = importance_sampled_dots(of.ink.view(), of.dots, seed);
  const View<const float, 2> first(start.position.data(), {of.dots, 2});
  const holotone::Queue queue = holotone::Queue::create(options.sum == holotone::ForceSum::taylor ? Device{} : device);
  ElectrostaticPlan plan(of.ink.shape(), of.dots, queue, options);
  const auto own_ink = copy_of(of.ink.view(), queue.device());
  const auto own_first = copy_of(first, queue.device());
  plan.set_ink(own_ink.view());
  plan.set_positions(own_first.view());
  queue.synchronize();
  return plan;
}

Array<float, 2> read_positions(ElectrostaticPlan& plan) {
  Array<float, 2> position({plan.count(), 2}, plan.queue());
  plan.positions(position.view());
  plan.queue().synchronize();
  return position.to(Device{});
}

Array<float, 2> halftone(const HalftoneMethod& method, const HalftoneCase& of, std::uint64_t seed, Device device) {
  if (!method.forces) {
    holotone::CapacityVoronoiOptions options;
    options.seed = seed;
    const auto made = capacity_voronoi_dots(of.ink.view(), of.dots, options);
    return copy_of(View<const float, 2>(made.dots.position.data(), {of.dots, 2}), Device{});
  }
  auto plan = halftone_plan(of, *method.forces, seed, device);
  for (std::int64_t i = 0; i < of.iterations; ++i) plan.step();
  return read_positions(plan);
}

void write_panels(const std::string& path, std::span<const DotsPanel> panels, double scale) {
  constexpr double gap = 4;
  constexpr double inch_m = 0.0254;
  holotone::Dots page;
  page.pixel_m = inch_m / 96;
  double left = 0;
  for (const auto& panel : panels) {
    for (std::int64_t i = 0; i < panel.position.shape()[0]; ++i) {
      const double x = static_cast<double>(panel.position(i, 0)) - panel.x;
      const double y = static_cast<double>(panel.position(i, 1)) - panel.y;
      if (x < 0 || y < 0 || x > panel.side || y > panel.side) continue;
      page.position.push_back(static_cast<float>(left + x));
      page.position.push_back(static_cast<float>(y));
      page.radius.push_back(static_cast<float>(panel.radius));
    }
    page.width = left + panel.side;
    page.height = panel.side;
    left += panel.side + gap;
  }
  holotone::DotsWriteOptions options;
  options.dpi = 96 * scale;
  write_dots(path, page, options);
}

}  // namespace bench
