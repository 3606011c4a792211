#pragma once
#include <holotone/core/array.hpp>
#include <holotone/metrics/similarity.hpp>
#include <holotone/smoe/fit.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

inline constexpr std::int64_t max_view_number = 9999;

/// Numbers of a view in its file name; no v if the pattern has no %v.
struct ViewNumbers {
  std::int64_t u = 0;
  std::optional<std::int64_t> v;
  bool operator==(const ViewNumbers&) const = default;
};

/// Pictures that a model is fitted to: one, or the views of a light field.
struct FitPictures {
  std::vector<std::string> paths;
  std::vector<Array<float, 3>> images;  ///< code values / largest code; linear light if requested
  std::vector<std::vector<double>> at;  ///< position {u, v} or {u} of each view; {} of a single picture
  std::vector<ViewNumbers> numbers;     ///< of each view; none for a single picture
  int bits = 8;                         ///< bits of the files' codes; 0: float
  std::int64_t columns = 1;             ///< columns of the grid of views
  std::int64_t rows = 1;
  bool up = false;       ///< true if the first row is the lowest
  bool swapped = false;  ///< true if the parallax shows that %u and %v are exchanged

  [[nodiscard]] std::vector<SmoeFitView> views() const;
};

/// Direction in which %v counts.
enum class ViewRows { by_parallax, down, up };
}  // namespace holotone::cli

namespace holotone {
template <>
inline constexpr auto enum_names<cli::ViewRows> =
    std::array{EnumName<cli::ViewRows>{cli::ViewRows::by_parallax, "auto"},
               EnumName<cli::ViewRows>{cli::ViewRows::down, "down"}, EnumName<cli::ViewRows>{cli::ViewRows::up, "up"}};
}  // namespace holotone

namespace holotone::cli {

/// Reads a picture, or, for a name with %u (counts to the right) or with %u and %v, all matching files as one grid
/// without gaps. `by_parallax` chooses the direction of %v for which shifts have the same sign from view to view
/// rightward and downward. Throws io naming the files that are missing or differ in size or number of channels. Throws
/// invalid_argument naming `option`.
FitPictures read_fit_pictures(const std::string& path, ViewRows rows, bool linear, std::string_view option = "IN");

/// True if a name has %u, or %u and %v. Throws invalid_argument naming `option` for counters that make no grid.
bool names_views(const std::string& path, std::string_view option);

/// Direction of --rows. Throws invalid_argument.
ViewRows view_rows(const std::string& text);

/// Moves views out of `pictures`; the others keep their numbers and positions. Throws invalid_argument naming
/// --leave-out for a view that does not exist, or if fewer than 2 remain.
FitPictures take_out(FitPictures& pictures, const std::vector<ViewNumbers>& left_out);

/// [{"view": [u, v], "psnr_db": ...}, ...] of pictures with numbers.
nlohmann::json views_json(const FitPictures& pictures, const std::vector<double>& psnr_db);

/// Adds psnr_y_db, ssim_y and, of colours, psnr_cb_db, psnr_cr_db and psnr_ycbcr_db.
void add_json(nlohmann::json& object, const ColourSimilarity& colours);

}  // namespace holotone::cli
