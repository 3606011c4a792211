#pragma once
#include <holotone/core/array.hpp>
#include <holotone/smoe/fit.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

inline constexpr std::int64_t most_view_number = 9999;

/// The numbers of a view in the name of its file; without v where %v is not in the pattern.
struct ViewNumbers {
  std::int64_t u = 0;
  std::optional<std::int64_t> v;
  bool operator==(const ViewNumbers&) const = default;
};

/// Pictures that a model is fitted to: one, or the views of a light field.
struct FitPictures {
  std::vector<std::string> paths;
  std::vector<Array<float, 3>> images;  ///< code values over their largest; linear light if asked for
  std::vector<std::vector<double>> at;  ///< {u, v} or {u} of each; {} of the only picture
  std::vector<ViewNumbers> numbers;     ///< of each; none of the only picture
  int bits = 8;                         ///< of the files' codes; 0: float
  std::int64_t columns = 1;             ///< of views
  std::int64_t rows = 1;
  bool up = false;       ///< whether the first row is the lowest
  bool swapped = false;  ///< whether the parallax says that %u and %v are the wrong way round

  [[nodiscard]] std::vector<SmoeFitView> views() const;
};

/// Which way %v counts.
enum class ViewRows { by_parallax, down, up };

/// Reads a picture, or by a name with %u (counts to the right), and %v, all files that match, as one grid without gaps.
/// `by_parallax`
/// takes the way in which things that shift one way from view to view to the right shift the same way from view to view
/// down. Throws io for files that are missing, of another size or another number of channels, naming them, and
/// invalid_argument naming `option`.
FitPictures read_fit_pictures(const std::string& path, ViewRows rows, bool linear, std::string_view option = "IN");

/// Whether a name has %u, and %v. Throws invalid_argument naming `option` for counters that make no grid.
bool names_views(const std::string& path, std::string_view option);

/// What --rows says. Throws invalid_argument.
ViewRows view_rows(const std::string& text);

/// Moves views out of `pictures`, whose numbers say where the others stand as before. Throws invalid_argument naming
/// --leave-out for one that is not there, and where fewer than 2 stay.
FitPictures take_out(FitPictures& pictures, const std::vector<ViewNumbers>& left_out);

/// PSNR of a model against pictures, in their files' codes, from the mean squared difference of all of them; that of
/// each in `each`.
double psnr_of_pictures(const FitPictures& pictures, const SmoeModel& model, Device device = {},
                        std::vector<double>* each = nullptr);

/// [{"view": [u, v], "psnr_db": ...}, ...] of pictures with numbers.
nlohmann::json views_json(const FitPictures& pictures, const std::vector<double>& psnr_db);

}  // namespace holotone::cli
