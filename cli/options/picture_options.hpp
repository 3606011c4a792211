#pragma once
#include <cli/options/option_table.hpp>
#include <cli/options/values.hpp>
#include <holotone/recipes/scenes/depth_picture_detail.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// Pictures with distances: one with its optional depth, or a stack of flat ones.
struct PictureOptions {
  PlacedPicture picture;  ///< of --image
  std::vector<std::string> stack;
};

/// --image, --stack and the options of depth. `layers`: bounds of the number of layers.
std::vector<OptionRow> picture_option_rows(PictureOptions& options, const Bounds& layers);

/// Flat pictures of --stack, each at its distance, without a size. Throws invalid_argument naming the option.
std::vector<PlacedPicture> stack_jobs(const PictureOptions& options);

}  // namespace holotone::cli
