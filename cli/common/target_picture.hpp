#pragma once
#include <holotone/core/metadata.hpp>
#include <holotone/hologram/layers.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/retrieval/phase_retrieval.hpp>
#include <optional>
#include <string>
#include <vector>

// A picture that a hologram's light is to show: its place on the panel's pixels, and its amplitude there.
namespace holotone::cli {

/// The rectangle in the middle of {ny, nx} pixels that a picture {ny, nx} fills, keeping its proportions; within `part`
/// of the width and height.
SignalRegion region_in_middle(const Shape<2>& pixels, const Shape<2>& picture, double part = 1);

/// The same in the middle of a region; all of it if its sides are those of the picture, rounded to pixels.
SignalRegion region_within(const SignalRegion& room, const Shape<2>& picture);

/// Sides {ny, nx} of a picture in pixels of the light behind a lens: all {ny, nx} of a panel are a square.
Shape<2> sides_behind_lens(const Shape<2>& picture, const Shape<2>& panel);

/// Region of "1600x880+160+100": columns x rows + first column + first row. Rejects --signal-region for other text;
/// `expected` describes what it may be.
inline constexpr std::string_view region_words = "COLUMNSxROWS+COLUMN+ROW such as 1600x880+160+100";
SignalRegion parse_region(const std::string& text, std::string_view expected);

/// Rejects --signal-region for a region that reaches beyond the panel {ny, nx}.
void require_within(const SignalRegion& region, const Shape<2>& panel, const std::string& text);

/// {column, row, columns, rows}, as the metadata key signal_region.
std::vector<double> numbers_of(const SignalRegion& region);

/// signal_region of a hologram's metadata; none without the key. Throws io naming the file for one that is malformed or
/// reaches beyond the panel {ny, nx}.
std::optional<SignalRegion> stated_region(const std::string& path, const Metadata& metadata, const Shape<2>& panel);

/// Place of a picture that fills a region of the grid's pixels.
RgbdPicture picture_in(const SignalRegion& region, const FieldGrid& grid);

/// Amplitude {ny, nx} of a picture's light in a region of the grid, as intensity_of, resampled by slice_picture. Throws
/// io naming `path` for a picture without light.
Array<float, 2> target_amplitude(const std::string& path, const Image& image, int colour, const FieldGrid& grid,
                                 const SignalRegion& region);

}  // namespace holotone::cli
