#pragma once
// Halftones by the methods that Figures 4 and 5 of Gwosdek et al. 2012 compare, and by the variants of their split.
#include <holotone/halftone/electrostatic.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// How dots are made. Without forces: capacity-constrained Voronoi cells (Balzer et al. 2009).
struct HalftoneMethod {
  std::string name;
  std::optional<holotone::ElectrostaticOptions> forces;
};

/// What a method halftones.
struct HalftoneCase {
  holotone::Array<float, 2> ink;  ///< host memory, 0..1
  std::int64_t dots = 0;
  std::int64_t iterations = 0;
};

/// The paper's split with m = p = 3, 4, 5 and epsilon_I = `radius` p / N; `name` is followed by m. `modes`: N; 0: the
/// plan's choice.
std::vector<HalftoneMethod> taylor_methods(const std::string& name, double radius, std::int64_t modes);

/// The N of the paper for p = 3 to 5 if the Fourier plane is twice as long: half of the power of two in [2 sqrt(3 M), 4
/// sqrt(3 M)), M the number of dots.
std::int64_t published_modes(std::int64_t dots);

/// Capacity-constrained Voronoi cells.
HalftoneMethod voronoi_method();

/// The plan of a method for a case, with its ink and with dots drawn by the ink's density. ForceSum::taylor runs on the
/// CPU, the rest on `device`.
holotone::ElectrostaticPlan halftone_plan(const HalftoneCase& of, const holotone::ElectrostaticOptions& options,
                                          std::uint64_t seed, holotone::Device device);

/// Positions {dots, 2} in host memory.
holotone::Array<float, 2> read_positions(holotone::ElectrostaticPlan& plan);
holotone::Array<float, 2> halftone(const HalftoneMethod& method, const HalftoneCase& of, std::uint64_t seed,
                                   holotone::Device device);

/// Part of a set of dots on its page.
struct DotsPanel {
  holotone::View<const float, 2> position;
  double x = 0;  ///< left edge, pixels
  double y = 0;
  double side = 0;
  double radius = 0;  ///< of a dot, pixels
};

/// Draws panels of equal side from left to right into a PNG, `scale` pixels for each pixel of the pages.
void write_panels(const std::string& path, std::span<const DotsPanel> panels, double scale);

}  // namespace bench
