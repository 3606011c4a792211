#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/enum_names.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/recipes/spot_places.hpp>
#include <holotone/retrieval/spots/spot_plan.hpp>
#include <string>
#include <vector>

// Lists of spots to codes of a panel, and what their light will be: what `holotone spots` does.
namespace holotone {

struct SpotList {
  std::vector<std::array<float, 3>> position_m;
  std::vector<float> intensity;    ///< one for each spot
  std::vector<float> phase_rad{};  ///< one for each spot, as in SpotPlan::set_phases; empty: any
  bool are_angles = false;         ///< read as frequencies or angles alone: lengths by the focal length of a SpotLens
  bool has_units = false;          ///< the file that was read states the units of all coordinates
};

/// Reads spots from a file: CSV with columns x, y and, if any, z and intensity in any order, or JSON, a list of objects
/// or of arrays [x, y, z, intensity], alone or as "spots" beside a "unit". Columns without names are x, y, z,
/// intensity. Units stand in the header ("x_um", "x [um]") or in "unit"; `unit_m` is that of a file that states none,
/// 0: none. z is 0 and the intensity 1 unless given.
/// In place of x and y, in a unit of length or pixels of a camera ("x_px", by `camera`), kx and ky by `lens`: cycles a
/// pixel or length of the panel ("kx_per_px", "kx_per_mm", "kx [1/mm]"), radians ("kx_rad_per_um"), or sines of angles
/// ("kx_norm"). In place of z the curvature of a spot's wave on the panel, "defocus_per_m". "phase_rad", "phase_deg",
/// "phase_waves" or "phase_pi" are phases that the spots are to have. Throws io naming file and line for what is no
/// number, an unknown column, a phase of some spots only, no unit, an intensity that is not > 0 or in dB, no spot, and
/// one beyond half the diffraction order of a lens with wavelength, focal length and pitch; invalid_argument for a lens
/// that lacks what is needed.
SpotList read_spots(const std::string& path, double unit_m = 0, const SpotLens& lens = {},
                    const CameraMap& camera = {});

enum class SpotLattice { square, hexagonal };
template <>
inline constexpr auto enum_names<SpotLattice> =
    std::array{EnumName{SpotLattice::square, "square"}, EnumName{SpotLattice::hexagonal, "hexagonal"}};

/// Spots of equal intensity on a lattice about `centre_m`, `spacing_m` from neighbour to neighbour, row by row from the
/// top; rows of a hexagonal lattice are shifted by half a spacing in turn. Throws invalid_argument for a number below 1
/// or above 1e6 in all, and a spacing that is not > 0.
SpotList spot_lattice(std::int64_t columns, std::int64_t rows, double spacing_m,
                      SpotLattice lattice = SpotLattice::square, std::array<double, 3> centre_m = {});

/// `count` spots of equal intensity, 1 to 1e6, evenly on a circle of `radius_m` > 0 about `centre_m`: the first to its
/// right, the next anticlockwise. Throws invalid_argument for others.
SpotList spot_ring(std::int64_t count, double radius_m, std::array<double, 3> centre_m = {});

/// What may not come out as asked for, a line each: spots nearer to each other than a width (they merge), a spot within
/// a width of the zero order, waves with fringes finer than two pixels, light beyond n f of the axis, where no
/// lens is. `light` {ny, nx} as in spot_width_m.
std::vector<std::string> spot_remarks(const SpotList& spots, const SpotOptions& options,
                                      View<const Complex, 2> light = {});

struct SpotHologram {
  Array<std::uint16_t, 2> codes;
  SpotReport report;            ///< its light: that of the phases which the codes show, without carrier and correction
  Metadata metadata{};          ///< for write_hologram: distance_m and seed
  Array<float, 2> shown_rad{};  ///< {ny, nx} that the codes show, without carrier and correction
};

/// Finds the phase whose light is the spots (SpotPlan) and its codes. `light` {ny, nx}: see SpotPlan::set_light, empty:
/// even. options.levels is that of the encoding; for codes of another stroke than 2 pi, of level_phase_rad or with a
/// correction up to ten rounds of set_measured and refine make up for what they show, while a limit is missed.
/// `queue`: where the phase is found; views are of the host's memory. Throws as SpotPlan, and invalid_argument for an
/// encoding other than phase and for one with a carrier.
SpotHologram make_spots(const SpotList& spots, SpotOptions options, const EncodeOptions& encoding,
                        View<const Complex, 2> light = {}, const SpotSteps& steps = {},
                        Progress& progress = Progress::none(), const Queue& queue = {});

/// Writes a CSV of the spots with x_m, y_m, z_m, intensity and, if any, phase_rad (asked for), share (of the light on
/// the panel) and ratio (share / intensity over its mean); `measured`: of each spot, in a further column. Throws io.
void write_spots(const std::string& path, const SpotList& spots, const SpotLight& light,
                 const std::vector<float>& measured = {});

}  // namespace holotone
