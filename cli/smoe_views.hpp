#pragma once
#include <holotone/core/array.hpp>
#include <holotone/smoe/fit.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// Pictures that a model is fitted to: one, or the views of a light field.
struct FitPictures {
  std::vector<std::string> paths;
  std::vector<Array<float, 3>> images;  ///< code values over their largest; linear light if asked for
  std::vector<std::vector<double>> at;  ///< {u, v} or {u} of each; {} of the only picture
  int bits = 8;                         ///< of the files' codes; 0: float
  std::int64_t columns = 1;             ///< of views
  std::int64_t rows = 1;
  bool up = false;  ///< whether the first row is the lowest

  [[nodiscard]] std::vector<SmoeFitView> views() const;
};

/// Which way %v counts.
enum class ViewRows { by_parallax, down, up };

/// Reads a picture, or by a name with %u (counts to the right), and %v, all files that match, as one grid without gaps. `by_parallax`
/// takes the way in which things that shift one way from view to view to the right shift the same way from view to view down. Throws io for
/// files that are missing, of another size or another number of channels, naming them.
FitPictures read_fit_pictures(const std::string& path, ViewRows rows, bool linear);

}  // namespace holotone::cli
