#include <cli/common/cancel.hpp>
#include <cli/common/console.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/smoe_summary.hpp>
#include <cli/common/smoe_views.hpp>
#include <cli/options/values.hpp>
#include <cli/smoe/smoe_command.hpp>
#include <cmath>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/recipes/mixtures.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

struct SmoeInfoJob {
  std::string input;
  std::string against;
  std::vector<double> view;
  ViewRows rows = ViewRows::by_parallax;
  std::optional<ViewsGrid> grid;
  ConsoleOptions console;
};

/// The model beside the pictures of --against.
struct Against {
  CapturedViews pictures;
  MixtureComparison compared;

  [[nodiscard]] bool is_views() const { return compared.each.size() > 1; }
  [[nodiscard]] double pixels() const {
    const auto& shape = pictures.images.front().shape();
    return static_cast<double>(shape[0] * shape[1] * std::ssize(compared.each));
  }
};

/// Refuses a direction of rows where there are none.
void require_views(const SmoeInfoJob& job) {
  if (job.rows == ViewRows::by_parallax) return;
  reject<&SmoeInfoJob::rows>("--against with views such as view_%v_%u.png", std::string(name_of(job.rows)));
}

/// Compares with the views of a name with %u and %v, or with one picture at --view.
std::optional<Against> compared(const SmoeInfoJob& job, const SmoeModel& model) {
  if (job.against.empty()) {
    require_views(job);
    if (job.grid) reject("--grid", "--against", "none");
    if (!job.view.empty()) reject<&SmoeInfoJob::view>("--against", "none");
    return std::nullopt;
  }
  const bool views = for_option("--against", [&] { return holds_views(job.against, job.grid); });
  if (views && !job.view.empty()) reject<&SmoeInfoJob::view>("one picture of --against", job.against);
  if (!views) require_views(job);
  Against against{read_fit_pictures(job.against, {job.rows, model.linear, job.grid}, "--against"), {}};
  for (const auto& note : against.pictures.notes) warn(job.console, note);
  if (!views) against.pictures.at.front() = view_position(model, job.view);
  QuietProgress progress;
  against.compared = compare_mixture(model, against.pictures, true, {}, progress);
  return against;
}

std::string psnr_text(double psnr_db) { return std::isinf(psnr_db) ? "equal" : fmt::format("{:.3f} dB", psnr_db); }

/// Pixels of all captured views; none if the file does not state their number.
std::optional<double> captured_pixels(const SmoeModel& model, const std::optional<Against>& against) {
  return against && against->is_views() ? against->pixels() : own_pixels(model);
}

nlohmann::json info_json(const SmoeInfoJob& job, const MixtureFile& stored, const std::optional<Against>& against) {
  nlohmann::json object = model_json(job.input, stored, captured_pixels(stored.model, against));
  if (!against) return object;
  object["against"] = job.against;
  object["psnr_db"] = against->compared.psnr_db;
  add_json(object, against->compared.mean_colours());
  if (!against->is_views()) return object;
  object["psnr_mean_db"] = against->compared.mean_psnr_db();
  object["psnr_min_db"] = against->compared.each[static_cast<std::size_t>(against->compared.worst())];
  object["views"] = views_json(against->pictures, against->compared.each);
  for (std::size_t i = 0; i < against->compared.colours.size(); ++i)
    add_json(object["views"][i], against->compared.colours[i]);
  return object;
}

void report_against(const ConsoleOptions& console, const std::string& name, const Against& against) {
  const auto line = [&](std::string_view what, const std::string& text) { report_model_line(console, what, text); };
  const auto& at = against.pictures.at.front();
  const std::string view = against.is_views() || at.empty() ? "" : fmt::format(", view {:g}", fmt::join(at, ","));
  line("PSNR",
       psnr_text(against.compared.psnr_db) + (std::isinf(against.compared.psnr_db) ? "" : " against " + name) + view);
  const std::string_view mean = against.is_views() ? ", mean of the views" : "";
  const auto colours = against.compared.mean_colours();
  if (!std::isnan(colours.psnr_ycbcr_db)) {
    line("PSNR of YCbCr",
         fmt::format("{}{}: Y {}, Cb {}, Cr {}", psnr_text(colours.psnr_ycbcr_db), mean, psnr_text(colours.psnr_y_db),
                     psnr_text(colours.psnr_cb_db), psnr_text(colours.psnr_cr_db)));
  }
  if (!std::isnan(colours.ssim_y)) line("SSIM of Y", fmt::format("{:.4f}{}", colours.ssim_y, mean));
  if (!against.is_views()) return;
  const auto least = static_cast<std::size_t>(against.compared.worst());
  line("of views", fmt::format("{} of them, mean {}, least {} of {}", against.compared.each.size(),
                               psnr_text(against.compared.mean_psnr_db()), psnr_text(against.compared.each[least]),
                               against.pictures.paths[least]));
}

int run_smoe_info(const SmoeInfoJob& job) {
  io::require_input(job.input);
  const MixtureFile stored = read_model(job.input);
  const auto against = compared(job, stored.model);
  report_model(job.console, job.input, stored, captured_pixels(stored.model, against));
  if (against) report_against(job.console, job.against, *against);
  report_json(job.console, info_json(job, stored, against));
  return exit_ok;
}

}  // namespace

Command smoe_info_command() {
  const auto job = std::make_shared<SmoeInfoJob>();
  auto& j = *job;
  return {.name = "info",
          .purpose = "Report components, bytes, bits a pixel and quantization steps of a model, its PSNR and SSIM",
          .examples = {"holotone smoe info photo.smoe --against photo.png",
                       "holotone smoe info chess.smoe --against 'chess/view_%v_%u.png'"},
          .groups = {{"",
                      {{.names = "IN", .target = &j.input, .help = "Model: .smoe, .json or .npz", .required = true},
                       {.names = "--against",
                        .target = &j.against,
                        .value = "FILE",
                        .help = "Picture that the model was fitted to, or its views by a name such as view_%v_%u.png, "
                                "for PSNR and SSIM",
                        .common = true,
                        .feeds = "compare_mixture.views"},
                       {.names = "--view",
                        .target = parsed_member<&SmoeInfoJob::view>(j, view_numbers),
                        .value = "U,V",
                        .help = "View of a light field that one picture of --against shows",
                        .otherwise = "the middle",
                        .common = true,
                        .feeds = "SmoeRenderer.view.at|view_position.numbers"},
                       {.names = "--rows",
                        .target = member<&SmoeInfoJob::rows>(j),
                        .value = "NAME",
                        .help = "Direction in which %v of --against counts: down, up or auto (by the parallax)",
                        .common = true},
                       grid_row(j.grid)}},
                     console_options(j.console)},
          .run = [job] { return run_smoe_info(*job); }};
}

}  // namespace holotone::cli
