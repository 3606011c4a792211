#pragma once
#include <cli/options/option_table.hpp>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/recipes/mixtures.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::cli {

/// Runs `work`; an invalid_argument of the library becomes one of the option, for functions that several options feed.
template <class Work>
auto for_option(std::string_view option, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument || error.function().empty()) throw;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: expected {}, got {}", option, error.expected(), error.got()));
  }
}

/// read_views of what a command's user named by `option`; a signal cancels it.
CapturedViews read_fit_pictures(const std::string& path, const ViewsReadOptions& options,
                                std::string_view option = "IN");

/// Warning that the views are not in the order that was meant; else empty.
std::string order_warning(const CapturedViews& pictures, std::string_view option);

/// The row of --grid.
OptionRow grid_row(std::optional<ViewsGrid>& grid);

/// The numbers of a view, "u,v" or "u".
std::vector<double> view_numbers(std::string_view option, const std::string& text);

/// [{"view": [u, v], "psnr_db": ...}, ...] of pictures with numbers.
nlohmann::json views_json(const CapturedViews& pictures, const std::vector<double>& psnr_db);

/// Adds psnr_y_db, ssim_y and, of colours, psnr_cb_db, psnr_cr_db and psnr_ycbcr_db.
void add_json(nlohmann::json& object, const ColourSimilarity& colours);

}  // namespace holotone::cli
