#pragma once
// The work of `holotone reconstruct`: pictures of one hologram, of three as colours, or of a sequence.
#include <cli/reconstruct/comparison.hpp>
#include <cli/reconstruct/reconstruct_job.hpp>
#include <functional>
#include <holotone/optics/field.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

/// Computed pictures and written files.
struct Reconstruction {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<double> distances_m;
  std::vector<std::string> methods{};  ///< one per distance
  FieldGrid grid;
  std::vector<double> wavelengths_m{};  ///< one, or those of red, green and blue; of a sequence all
  std::string encoding;
  std::string filter;
  std::string correction{};          ///< stated correction contained in the codes
  std::vector<std::string> notes{};  ///< how the files' codes were read
  bool describes_itself = false;     ///< the first file has Holotone's metadata
  double white = 0;
  std::vector<double> planes_m{};            ///< of the pictures that the first file states; empty: one
  std::vector<double> light_shares;          ///< through each of the job's pupils
  std::string made_for{};                    ///< the viewer that the first file states
  std::vector<std::string> dark;             ///< files without any light
  std::optional<double> focal_length_m{};    ///< of a lens, whose focal plane is shown
  double beyond_float = 0;                   ///< an intensity of --linear outside the range of float32; 0: none
  std::vector<ComparedPicture> comparisons;  ///< with the picture of --against
};

/// Computes and writes the pictures of `job`. Calls `opened` ahead of the work, with what the first hologram states.
Reconstruction reconstruct(const ReconstructJob& job, const std::function<void(const Reconstruction&)>& opened);

}  // namespace holotone::cli
