#pragma once
#include <holotone/optics/field.hpp>
#include <holotone/optics/reference_beam.hpp>
#include <holotone/optics/viewer.hpp>
#include <holotone/quantize/diffusion_weights.hpp>
#include <optional>

// Reference beams that separate a viewing window from the twin image and the zero order of real codes (makes_twin).
namespace holotone {

/// Returns the smallest rectangle of frequencies around the viewing windows of all places on the panel (signal_window).
/// Parts beyond |frequency| = 1/2 are included. Throws as signal_window.
SignalWindow window_over_panel(const FieldGrid& grid, const Viewer& viewer);

/// Returns a window of the light's frequencies in those of a panel lit by the beam: less those of the beam.
SignalWindow less_beam(SignalWindow window, const FieldGrid& grid, const ReferenceBeam& beam);

/// True if the viewing window, seen from any place of the panel, is disjoint from its mirror image: all its frequencies
/// in x, or all in y, have one sign. Throws as signal_window.
bool is_off_axis(const FieldGrid& grid, const Viewer& viewer, const ReferenceBeam& beam = {});

/// Returns the least tilt, in x or y, that moves the viewing window off the panel's axis: seen from any place of the
/// panel, all its frequencies along that axis are `margin` to 1/2 cycles a pixel, or all -1/2 to -margin. The window is
/// then disjoint from its mirror image, where the twin image is, and from frequency 0, where the zero order is. A
/// window that is so anyway needs no tilt. Of equal tilts in x and y that in y is chosen, from above (angle_y_rad < 0).
/// Empty if window_over_panel is more than 1/2 - margin wide and high: then a narrower window or panel is needed.
/// `margin`: a frequency of a hogel, 1 / its side in pixels, keeps what the hogel's edges diffract out of the window.
/// Throws invalid_argument for a margin not in 0 to 1/2, and as signal_window.
std::optional<ReferenceBeam> off_axis_beam(const FieldGrid& grid, const Viewer& viewer, double margin);

}  // namespace holotone
