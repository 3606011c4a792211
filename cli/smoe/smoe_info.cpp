#include <algorithm>
#include <cli/common/console.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/smoe_picture.hpp>
#include <cli/common/smoe_summary.hpp>
#include <cli/common/smoe_views.hpp>
#include <cli/common/values.hpp>
#include <cli/smoe/smoe_command.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

struct SmoeInfoArguments {
  std::string input;
  std::string against;
  std::string view;
  std::string rows = "auto";
  ConsoleOptions console;
};

void require_channels(const SmoeModel& model, const Shape<3>& shape, const std::string& path) {
  if (shape[2] == model.channels) return;
  throw_io(path, fmt::format("{}, as the model has", counted(model.channels, "channel")), std::to_string(shape[2]));
}

/// PSNR of the model against an image of its size, in the image's codes.
double psnr_against(const SmoeInfoArguments& arguments, const SmoeModel& model) {
  const Image image = read_image(arguments.against);
  const auto shape = shape_of(image);
  require_channels(model, shape, arguments.against);
  SmoeRenderer renderer(model);
  const auto colours = rendered(renderer, {{shape[0], shape[1]}, {}, {}, view_of(model, arguments.view)});
  if (std::holds_alternative<Array<float, 3>>(image.pixels)) return psnr_of(colours, to_float(image));
  const int bits = std::holds_alternative<Array<std::uint8_t, 3>>(image.pixels) ? 8 : 16;
  return psnr_of(to_float(coded(colours, model.linear, bits)), to_float(image));
}

/// The views of a light field, and the model's PSNR for each.
struct ViewsAgainst {
  FitPictures pictures;
  double psnr_db = 0;  ///< of all codes
  std::vector<double> each;

  [[nodiscard]] double mean() const {
    double sum = 0;
    for (const double psnr : each) sum += psnr / static_cast<double>(each.size());
    return sum;
  }
  [[nodiscard]] std::size_t least() const {
    return static_cast<std::size_t>(std::min_element(each.begin(), each.end()) - each.begin());
  }
  [[nodiscard]] double pixels() const {
    const auto& shape = pictures.images.front().shape();
    return static_cast<double>(shape[0] * shape[1] * std::ssize(each));
  }
};

ViewsAgainst views_against(const SmoeInfoArguments& arguments, const SmoeModel& model) {
  if (!arguments.view.empty()) reject("--view", "one picture of --against", arguments.view);
  const auto rows = view_rows(arguments.rows);
  ViewsAgainst views;
  views.pictures = read_fit_pictures(arguments.against, rows, model.linear, "--against");
  const auto coordinates = std::ssize(views.pictures.at.front());
  if (coordinates != model.dimensions - 2) {
    reject("--against",
           model.dimensions <= 2   ? "one picture, as the model is of one"
           : model.dimensions == 3 ? "a name with %u alone, as the model has views in one row"
                                   : "a name with %u and %v, as the model has rows of views",
           arguments.against);
  }
  require_channels(model, views.pictures.images.front().shape(), views.pictures.paths.front());
  views.psnr_db = psnr_of_pictures(views.pictures, model, {}, &views.each);
  return views;
}

std::string psnr_text(double psnr_db) { return std::isinf(psnr_db) ? "equal" : fmt::format("{:.3f} dB", psnr_db); }

/// Comparison with the model.
struct Against {
  std::optional<ViewsAgainst> views;
  std::optional<double> psnr_db;
};

Against compared(const SmoeInfoArguments& arguments, const SmoeModel& model) {
  Against result;
  if (!arguments.against.empty() && names_views(arguments.against, "--against")) {
    result.views = views_against(arguments, model);
    result.psnr_db = result.views->psnr_db;
    return result;
  }
  if (arguments.rows != "auto") {
    reject("--rows", "--against with views such as view_%v_%u.png", arguments.rows);
  }
  if (arguments.against.empty()) {
    if (!arguments.view.empty()) reject("--view", "--against", arguments.view);
    return result;
  }
  require_input(arguments.against);
  result.psnr_db = psnr_against(arguments, model);
  return result;
}

/// Pixels of all captured views; none if the file does not state their number.
std::optional<double> captured_pixels(const SmoeModel& model, const Against& against) {
  return against.views ? against.views->pixels() : own_pixels(model);
}

nlohmann::json info_json(const SmoeInfoArguments& arguments, const StoredModel& stored, const Against& against) {
  nlohmann::json object = model_json(arguments.input, stored, captured_pixels(stored.model, against));
  if (against.psnr_db) {
    object["against"] = arguments.against;
    object["psnr_db"] = *against.psnr_db;
  }
  if (against.views) {
    object["psnr_mean_db"] = against.views->mean();
    object["psnr_least_db"] = against.views->each[against.views->least()];
    object["views"] = views_json(against.views->pictures, against.views->each);
  }
  return object;
}

void report_info(const SmoeInfoArguments& arguments, const StoredModel& stored, const Against& against) {
  const auto& console = arguments.console;
  report_model(console, arguments.input, stored, captured_pixels(stored.model, against));
  if (against.psnr_db) {
    report_model_line(
        console, "PSNR",
        psnr_text(*against.psnr_db) + (std::isinf(*against.psnr_db) ? "" : " against " + arguments.against));
  }
  if (against.views) {
    const auto& views = *against.views;
    const auto least = views.least();
    report_model_line(console, "of views",
                      fmt::format("{} of them, mean {}, least {} of {}", views.each.size(), psnr_text(views.mean()),
                                  psnr_text(views.each[least]), views.pictures.paths[least]));
  }
}

int run_smoe_info(const SmoeInfoArguments& arguments) {
  require_input(arguments.input);
  const StoredModel stored = read_model(arguments.input);
  const Against against = compared(arguments, stored.model);
  report_info(arguments, stored, against);
  report_json(arguments.console, info_json(arguments, stored, against));
  return exit_ok;
}

}  // namespace

Command smoe_info_command() {
  const auto arguments = std::make_shared<SmoeInfoArguments>();
  auto& a = *arguments;
  return {
      .name = "info",
      .purpose = "Report components, bytes, bits a pixel and quantization steps of a model, and its PSNR",
      .examples = {"holotone smoe info photo.smoe --against photo.png",
                   "holotone smoe info chess.smoe --against 'chess/view_%v_%u.png'"},
      .groups =
          {{"",
            {{.names = "IN", .target = &a.input, .help = "Model: .smoe, .json or .npz", .required = true},
             {.names = "--against",
              .target = &a.against,
              .value = "FILE",
              .help =
                  "Picture that the model was fitted to, or its views by a name such as view_%v_%u.png, for the PSNR",
              .common = true},
             {.names = "--view",
              .target = &a.view,
              .value = "U,V",
              .help = "View of a light field that one picture of --against shows",
              .otherwise = "the middle",
              .common = true,
              .feeds = "SmoeRenderer.view.at"},
             {.names = "--rows",
              .target = &a.rows,
              .value = "NAME",
              .help = "Direction in which %v of --against counts: down, up or auto (by the parallax)",
              .common = true}}},
           console_options(a.console)},
      .run = [arguments] { return run_smoe_info(*arguments); }};
}

}  // namespace holotone::cli
