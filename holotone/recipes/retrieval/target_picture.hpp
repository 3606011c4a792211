#pragma once
// Not for users. A picture that a hologram's light is to show: its place on the panel's pixels, its amplitude there.
#include <holotone/core/metadata.hpp>
#include <holotone/hologram/focal_stack.hpp>
#include <holotone/hologram/layers.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/retrieval/phase_retrieval.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone {

/// The rectangle in the middle of {ny, nx} pixels that a picture {ny, nx} fills, keeping its proportions; within `part`
/// of the width and height.
SignalRegion region_in_middle(const Shape<2>& pixels, const Shape<2>& picture, double part = 1);

/// The same in the middle of a region; all of it if its sides are those of the picture, rounded to pixels.
SignalRegion region_within(const SignalRegion& room, const Shape<2>& picture);

/// A region of {ny, nx} pixels, scaled about their middle: behind a lens pixels grow with the wavelength.
SignalRegion scaled_region(const SignalRegion& region, double scale, const Shape<2>& pixels);

/// Sides {ny, nx} of a picture in pixels of the light behind a lens: all {ny, nx} of a panel are a square.
Shape<2> sides_behind_lens(const Shape<2>& picture, const Shape<2>& panel);

/// {column, row, columns, rows}, as the metadata key signal_region.
std::vector<double> region_numbers(const SignalRegion& region);

/// signal_region of a hologram's metadata; none without the key. Throws io naming the file for one that is malformed or
/// reaches beyond the panel {ny, nx}.
std::optional<SignalRegion> stated_region(const std::string& path, const Metadata& metadata, const Shape<2>& panel);

/// Linear light {ny, nx} of a picture: one colour, or its luminance for -1. Codes are sRGB, floats are linear; alpha
/// multiplies the light. Throws io naming `path` for light that is negative, not finite or above max_field_value.
Array<float, 2> picture_intensity(const std::string& path, const Image& image, int colour);

/// Place of a picture that fills a region of the grid's pixels; without its light and distances.
RgbdPicture picture_in(const SignalRegion& region, const FieldGrid& grid);

/// The pixels that a picture fills, its middle within half of a pixel; none if it reaches beyond the grid.
std::optional<SignalRegion> find_region(const RgbdPicture& picture, const FieldGrid& grid);

/// Amplitude {ny, nx} of the grid of light {ny, nx} in a region, resampled by slice_picture.
Array<float, 2> amplitude_in(View<const float, 2> intensity, const FieldGrid& grid, const SignalRegion& region);

/// The same of a picture's light, as picture_intensity. Throws io naming `path` for a picture without light.
Array<float, 2> target_amplitude(const std::string& path, const Image& image, int colour, const FieldGrid& grid,
                                 const SignalRegion& region);

/// Amplitudes {ny, nx} of a picture with depth as a pupil sees them, focused at each of its layers (slice_picture,
/// focal_stack). `eye`: focus_m is replaced. Throws io naming `path` for a picture without light.
std::vector<Array<float, 2>> focused_amplitudes(const std::string& path, const RgbdPicture& picture,
                                                const FieldGrid& grid, FocalStackOptions eye, Progress& progress);

}  // namespace holotone
