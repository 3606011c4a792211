#pragma once
#include <cli/common/console.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/scenes/depth_picture_detail.hpp>
#include <holotone/retrieval/phase_retrieval.hpp>
#include <string>
#include <string_view>

namespace holotone::cli {

/// Warns of what the picture's file leaves open.
void print_notes(const ConsoleOptions& console, const Image& image);

/// Reads a picture and warns of what its file leaves open. Throws io, or out_of_memory if its values do not fit: small
/// files may hold many pixels.
Image read_picture_file(const ConsoleOptions& console, const std::string& path);

/// As read_picture_file, of a picture whose codes are proportional to light unless it declares a curve
/// (ImageReadOptions::as_measured).
Image read_measured_picture(const ConsoleOptions& console, const std::string& path);

/// Warns of what a depth map's file leaves open and of a tail, and notes which pixels were filled.
void report_depth(const ConsoleOptions& console, const PlacedPicture& job, const DepthMap& depth);

/// Region of "1600x880+160+100": columns x rows + first column + first row. `others`: what the option may be besides.
SignalRegion parse_region(std::string_view option, const std::string& text, std::string_view others = {});

/// Rejects --signal-region for a region that reaches beyond the panel {ny, nx}.
void require_within(const SignalRegion& region, const Shape<2>& panel);

}  // namespace holotone::cli
