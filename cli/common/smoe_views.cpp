#include <cli/common/cancel.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/smoe_views.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <holotone/io/file_bytes_detail.hpp>
#include <nlohmann/json.hpp>

namespace holotone::cli {

CapturedViews read_fit_pictures(const std::string& path, const ViewsReadOptions& options, std::string_view option) {
  QuietProgress progress;
  try {
    if (!names_views(path)) io::require_input(path);
    return read_views(path, options, progress);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument || error.function().empty()) throw;
    const auto about = error.argument() == "grid" ? "--grid" : error.argument() == "linear" ? "--linear" : option;
    throw Error(error.code(), fmt::format("{}: expected {}, got {}", about, error.expected(), error.got()));
  }
}

std::string order_warning(const CapturedViews& pictures, std::string_view option) {
  if (!pictures.swapped) return {};
  const bool counters = pictures.name.find("%v") != std::string::npos;
  return fmt::format("{}: the parallax is vertical along {} and horizontal along {}{}", option,
                     counters ? "%u" : "the rows", counters ? "%v" : "the columns",
                     counters ? "; exchange %u and %v" : ": the views are numbered by columns");
}

OptionRow grid_row(std::optional<ViewsGrid>& grid) {
  const auto parse = [](std::string_view option, const std::string& text) {
    const bool serpentine = text.ends_with('s');
    const auto [columns, rows] = resolution(option, text.substr(0, text.size() - (serpentine ? 1 : 0)), 9999);
    return std::optional(ViewsGrid{columns, rows, serpentine});
  };
  return {.names = "--grid",
          .target = parsed(grid, parse),
          .value = "COLUMNSxROWS",
          .help = "Grid of views that %u alone counts, row by row, or of a picture's tiles; 10x10s: serpentine"};
}

std::vector<double> view_numbers(std::string_view option, const std::string& text) {
  std::vector<double> numbers;
  for (const auto& piece : list(option, text, "numbers such as 0.3,-0.5")) {
    numbers.push_back(number_between(option, piece, -1e6, 1e6));
  }
  return numbers;
}

nlohmann::json views_json(const CapturedViews& pictures, const std::vector<double>& psnr_db) {
  auto array = nlohmann::json::array();
  for (std::size_t i = 0; i < psnr_db.size(); ++i) {
    const auto& view = pictures.numbers[i];
    auto numbers = nlohmann::json::array({view.u});
    if (view.v) numbers.push_back(*view.v);
    array.push_back({{"view", numbers}, {"psnr_db", psnr_db[i]}});
  }
  return array;
}

void add_json(nlohmann::json& object, const ColourSimilarity& colours) {
  object["psnr_y_db"] = colours.psnr_y_db;
  object["ssim_y"] = colours.ssim_y;
  if (std::isnan(colours.psnr_ycbcr_db)) return;
  object["psnr_cb_db"] = colours.psnr_cb_db;
  object["psnr_cr_db"] = colours.psnr_cr_db;
  object["psnr_ycbcr_db"] = colours.psnr_ycbcr_db;
}

}  // namespace holotone::cli
