#pragma once
#include <cli/reconstruct/reconstruct_job.hpp>
#include <holotone/recipes/viewing/view_comparison.hpp>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

// reconstruct --against: how near a hologram's light comes to the picture that it is to show.
namespace holotone::cli {

/// Comparison of one picture, and the names of its files.
struct ComparedPicture {
  PictureComparison comparison;
  std::string input;
  std::string picture;
  std::string difference;  ///< file of the difference picture; empty: none
};

/// Reads the picture and finds its place on the panel. Throws io, or out_of_memory if the host's memory is
/// insufficient. The view must outlive the comparison.
std::unique_ptr<ViewComparison> open_comparison(const ReconstructJob& job, const HologramView& view);

/// Values at the samples and the worst of all positions, and for three colours of each; of several channels the worst.
nlohmann::json make_json(const ComparedPicture& compared);

/// "30.1 dB at worst of four half-pixel positions (31 dB at the samples), SSIM 0.95, speckle contrast 0.1"
std::string to_text(const PictureComparison& comparison);

}  // namespace holotone::cli
