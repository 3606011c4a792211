#include <cli/common/cancel.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/smoe_views.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <holotone/io/file_bytes_detail.hpp>
#include <nlohmann/json.hpp>

namespace holotone::cli {

CapturedViews read_fit_pictures(const std::string& path, ViewRows rows, bool linear, std::string_view option) {
  QuietProgress progress;
  return for_option(option, [&] {
    if (!names_views(path)) io::require_input(path);
    return read_views(path, rows, linear, progress);
  });
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
