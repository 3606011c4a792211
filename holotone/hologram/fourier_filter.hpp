#pragma once
#include <holotone/core/array.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/optics/field.hpp>
#include <string_view>

namespace holotone {

/// Applies the optical filter of an encoding, the lens and the stop behind a modulator, for a viewer of such a
/// display. Frequencies are in cycles a pixel up to 1/2, x to the right and y up, relative to the carrier. Passed:
///   single_sideband  f_y > 0: without the twin image and the zero order
///   double_phase     |f_x| + |f_y| < 1/2: without the orders of the checkerboard
///   burckhardt       |f_x - 1/3| < 1/6, moved to the axis: the order in which a cell's three pixels sum to its value
///   phase, amplitude everything
/// `field` is the light leaving the panel (modulation_of with the same options), shape {ny, nx}, in host memory; it is
/// changed in place. The panel is treated as periodic. Cost O(nx ny log(nx ny)), workspace of one FFT plan. Throws
/// invalid_argument for another shape than the grid's or a field on a GPU. Sources: those of the encodings.
void fourier_filter(View<Complex, 2> field, const EncodeOptions& options, const FieldGrid& grid);

/// Name of the filter for reports: "half plane", "diamond", "first order of cells", "none".
std::string_view fourier_filter_name(Encoding encoding);

}  // namespace holotone
