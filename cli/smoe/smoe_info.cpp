#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/console.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/smoe_picture.hpp>
#include <cli/common/smoe_summary.hpp>
#include <cli/common/smoe_views.hpp>
#include <cli/common/values.hpp>
#include <cli/smoe/smoe_command.hpp>
#include <cmath>
#include <holotone/recipes/mixtures.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

namespace holotone::cli {
namespace {

struct SmoeInfoJob {
  std::string input;
  std::string against;
  std::vector<double> view;
  ViewRows rows = ViewRows::by_parallax;
  ConsoleOptions console;
};

void require_channels(const SmoeModel& model, const Shape<3>& shape, const std::string& path) {
  if (shape[2] == model.channels) return;
  throw_io(path, fmt::format("{}, as the model has", counted(model.channels, "channel")), std::to_string(shape[2]));
}

/// Refuses pictures of another aspect than the model's, up to rounding to whole pixels at any size.
void require_aspect(const SmoeModel& model, const Shape<3>& shape, const std::string& path) {
  if (model.dimensions < 2) return;
  const auto [own_height, own_width] = own_size(model);
  const std::int64_t off = std::abs(shape[1] * own_height - shape[0] * own_width);
  if (off <= std::max({own_width, own_height, shape[0], shape[1]})) return;
  throw_io(path, fmt::format("a picture of the model's aspect, {} x {}", own_width, own_height),
           fmt::format("{} x {} pixels", shape[1], shape[0]));
}

/// The model beside the pictures of --against.
struct Against {
  FitPictures pictures;
  double psnr_db = 0;                     ///< of all codes
  std::vector<double> each;               ///< PSNR of each picture
  std::vector<ColourSimilarity> colours;  ///< of each picture

  [[nodiscard]] bool is_views() const { return each.size() > 1; }
  [[nodiscard]] double mean_psnr_db() const {
    return std::accumulate(each.begin(), each.end(), 0.0) / static_cast<double>(each.size());
  }
  [[nodiscard]] std::size_t least() const {
    return static_cast<std::size_t>(std::min_element(each.begin(), each.end()) - each.begin());
  }
  [[nodiscard]] double pixels() const {
    const auto& shape = pictures.images.front().shape();
    return static_cast<double>(shape[0] * shape[1] * std::ssize(each));
  }
  /// Means over the pictures, as the papers have them.
  [[nodiscard]] ColourSimilarity mean_colours() const {
    ColourSimilarity mean;
    const double share = 1 / static_cast<double>(colours.size());
    for (const auto& own : colours) {
      mean.psnr_y_db += share * own.psnr_y_db;
      mean.psnr_cb_db += share * own.psnr_cb_db;
      mean.psnr_cr_db += share * own.psnr_cr_db;
      mean.psnr_ycbcr_db += share * own.psnr_ycbcr_db;
      mean.ssim_y += share * own.ssim_y;
    }
    return mean;
  }
};

/// Refuses a direction of rows where there are none.
void require_views(const SmoeInfoJob& job) {
  if (job.rows == ViewRows::by_parallax) return;
  reject("--rows", "--against with views such as view_%v_%u.png", std::string(name_of(job.rows)));
}

/// Pictures to compare with: the views of a name with %u and %v, or one picture at --view.
FitPictures read_against(const SmoeInfoJob& job, const SmoeModel& model) {
  const bool views = names_views(job.against, "--against");
  if (views && !job.view.empty()) reject("--view", "one picture of --against", job.against);
  if (!views) require_views(job);
  auto pictures = read_fit_pictures(job.against, job.rows, model.linear, "--against");
  if (!views) {
    pictures.at.front() = view_of(model, job.view);
  } else if (std::ssize(pictures.at.front()) != model.dimensions - 2) {
    reject("--against",
           model.dimensions <= 2   ? "one picture, as the model is of one"
           : model.dimensions == 3 ? "a name with %u alone, as the model has views in one row"
                                   : "a name with %u and %v, as the model has rows of views",
           job.against);
  }
  require_channels(model, pictures.images.front().shape(), pictures.paths.front());
  require_aspect(model, pictures.images.front().shape(), pictures.paths.front());
  return pictures;
}

std::optional<Against> compared(const SmoeInfoJob& job, const SmoeModel& model) {
  if (job.against.empty()) {
    require_views(job);
    if (!job.view.empty()) reject("--view", "--against", "none");
    return std::nullopt;
  }
  Against against;
  against.pictures = read_against(job, model);
  QuietProgress progress;
  auto own = compare_mixture(model, against.pictures.views(), against.pictures.bits, true, {}, progress);
  against.psnr_db = own.psnr_db;
  against.each = std::move(own.each);
  against.colours = std::move(own.colours);
  return against;
}

std::string psnr_text(double psnr_db) { return std::isinf(psnr_db) ? "equal" : fmt::format("{:.3f} dB", psnr_db); }

/// Pixels of all captured views; none if the file does not state their number.
std::optional<double> captured_pixels(const SmoeModel& model, const std::optional<Against>& against) {
  return against && against->is_views() ? against->pixels() : own_pixels(model);
}

nlohmann::json info_json(const SmoeInfoJob& job, const StoredModel& stored, const std::optional<Against>& against) {
  nlohmann::json object = model_json(job.input, stored, captured_pixels(stored.model, against));
  if (!against) return object;
  object["against"] = job.against;
  object["psnr_db"] = against->psnr_db;
  add_json(object, against->mean_colours());
  if (!against->is_views()) return object;
  object["psnr_mean_db"] = against->mean_psnr_db();
  object["psnr_min_db"] = against->each[against->least()];
  object["views"] = views_json(against->pictures, against->each);
  for (std::size_t i = 0; i < against->colours.size(); ++i) add_json(object["views"][i], against->colours[i]);
  return object;
}

void report_against(const ConsoleOptions& console, const std::string& name, const Against& against) {
  const auto line = [&](std::string_view what, const std::string& text) { report_model_line(console, what, text); };
  const auto& at = against.pictures.at.front();
  const std::string view = against.is_views() || at.empty() ? "" : fmt::format(", view {:g}", fmt::join(at, ","));
  line("PSNR", psnr_text(against.psnr_db) + (std::isinf(against.psnr_db) ? "" : " against " + name) + view);
  const std::string_view mean = against.is_views() ? ", mean of the views" : "";
  const auto colours = against.mean_colours();
  if (!std::isnan(colours.psnr_ycbcr_db)) {
    line("PSNR of YCbCr",
         fmt::format("{}{}: Y {}, Cb {}, Cr {}", psnr_text(colours.psnr_ycbcr_db), mean, psnr_text(colours.psnr_y_db),
                     psnr_text(colours.psnr_cb_db), psnr_text(colours.psnr_cr_db)));
  }
  if (!std::isnan(colours.ssim_y)) line("SSIM of Y", fmt::format("{:.4f}{}", colours.ssim_y, mean));
  if (!against.is_views()) return;
  const auto least = against.least();
  line("of views",
       fmt::format("{} of them, mean {}, least {} of {}", against.each.size(), psnr_text(against.mean_psnr_db()),
                   psnr_text(against.each[least]), against.pictures.paths[least]));
}

int run_smoe_info(const SmoeInfoJob& job) {
  require_input(job.input);
  const StoredModel stored = read_model(job.input);
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
                        .common = true},
                       {.names = "--view",
                        .target = parsed(j.view, view_numbers),
                        .value = "U,V",
                        .help = "View of a light field that one picture of --against shows",
                        .otherwise = "the middle",
                        .common = true,
                        .feeds = "SmoeRenderer.view.at"},
                       {.names = "--rows",
                        .target = choice(j.rows),
                        .value = "NAME",
                        .help = "Direction in which %v of --against counts: down, up or auto (by the parallax)",
                        .common = true}}},
                     console_options(j.console)},
          .run = [job] { return run_smoe_info(*job); }};
}

}  // namespace holotone::cli
