#include <algorithm>
#include <cli/options/values.hpp>
#include <cli/view/control.hpp>
#include <cli/view/model_document.hpp>
#include <cmath>
#include <cstdlib>
#include <holotone/recipes/mixture_views.hpp>
#include <holotone/recipes/mixtures/colours_detail.hpp>

namespace holotone::cli {
namespace {

constexpr double default_tolerance = SmoeRenderOptions{}.tolerance;
constexpr std::int64_t max_side = 8192;

std::string number_text(double value) { return fmt::format("{:.6g}", value); }

/// A value as an option's text would give it.
double as_typed(double value) { return std::strtod(number_text(value).c_str(), nullptr); }

}  // namespace

ModelDocument::ModelDocument(std::string path, Device device)
    : path_(std::move(path)), device_(device), stored_(read_model(path_)) {
  own_size_ = own_size(stored_.model);
  renderer_ = std::make_unique<SmoeRenderer>(std::move(stored_.model), Queue(device_), options_);
}

SmoeView ModelDocument::view_to_render(const ViewRequest& request, std::string& command) const {
  const SmoeModel& model = renderer_->model();
  const auto& state = request.state;
  SmoeView view;
  if (model.dimensions > 2) {
    // The page's y points up, v down.
    const auto [u, up] = state.place("view", {0.5 * (model.low[2] + model.high[2]), 0});
    view.at = {as_typed(u)};
    if (model.dimensions > 3) view.at.push_back(as_typed(-up));
    command += fmt::format(" --view={:.6g}", fmt::join(view.at, ","));
  }
  const double width = model.high[0] - model.low[0];
  const double height = model.high[1] - model.low[1];
  view.corner = {model.low[0], model.low[1]};
  view.extent = {width, height};
  auto pixels = std::array{own_size_[1], own_size_[0]};
  if (const auto window = state.window("window"); window && *window != std::array{0.0, 0.0, width, height}) {
    view.corner = {as_typed((*window)[0] + model.low[0]), as_typed((*window)[1] + model.low[1])};
    view.extent = {as_typed((*window)[2]), as_typed((*window)[3])};
    pixels = request.size[0] > 0 ? request.size : pixels;
    command += fmt::format(" --crop={},{},{},{}", number_text(view.corner[0]), number_text(view.corner[1]),
                           number_text(view.extent[0]), number_text(view.extent[1]));
  }
  if (request.moving && request.size[0] > 0) {
    pixels = {std::min(pixels[0], request.size[0]), std::min(pixels[1], request.size[1])};
  }
  view.size = {std::clamp<std::int64_t>(pixels[1], 1, max_side), std::clamp<std::int64_t>(pixels[0], 1, max_side)};
  command += fmt::format(" --size {}x{}", view.size[1], view.size[0]);
  return view;
}

Raster ModelDocument::raster(const ViewRequest& request, Progress& progress) {
  if (request.view != "light field") reject_view(request.view);
  std::string command = fmt::format("holotone smoe render {} -o picture.png", shell_word(path_));
  const SmoeView view = view_to_render(request, command);
  constexpr Bounds errors = bounds_of<&SmoeRenderOptions::tolerance>;
  SmoeRenderOptions options;
  const double tolerance = as_typed(request.state.number("tolerance", default_tolerance, errors.low, errors.high));
  if (tolerance != as_typed(default_tolerance)) {
    options.tolerance = tolerance;
    command += fmt::format(" --tolerance {}", number_text(tolerance));
  }
  if (options.tolerance != options_.tolerance) {
    SmoeModel model = renderer_->model();
    renderer_ = std::make_unique<SmoeRenderer>(std::move(model), Queue(device_), options);
    options_ = options;
  }
  std::optional<SmoeAperture> aperture;
  constexpr Bounds diameters = bounds_of<&SmoeAperture::diameter>;
  if (const double diameter = request.state.number("aperture", 0, 0, diameters.high);
      renderer_->model().dimensions > 2 && diameter >= diameters.low) {
    constexpr Bounds disparities = bounds_of<&SmoeAperture::disparity_px>;
    const double disparity = request.state.number("disparity", 0, disparities.low, disparities.high);
    aperture = SmoeAperture{.diameter = as_typed(diameter), .disparity_px = as_typed(disparity)};
    command += fmt::format(" --aperture {} --disparity={}", number_text(diameter), number_text(disparity));
  }
  if (device_.backend != Backend::cpu) command += fmt::format(" --device {}", to_string(device_));
  const auto colours = render_mixture(*renderer_, view, aperture, device_, progress);
  const auto info = renderer_->info();
  return {mixtures::coded(colours.view(), renderer_->model().linear, 8),
          std::move(command),
          {{"components a tile", fmt::format("{:.1f}", info.components_per_tile)}}};
}

ViewAnswer ModelDocument::show(const ViewRequest& request, Progress& progress) {
  return answer_of(raster(request, progress), request);
}

Image ModelDocument::thumbnail(Progress& progress) {
  return displayable(raster({.view = "light field", .state = {}}, progress).image);
}

nlohmann::json ModelDocument::description() const {
  const SmoeModel& model = renderer_->model();
  const double width = model.high[0] - model.low[0];
  const double height = model.high[1] - model.low[1];
  Facts facts{{"pixels", fmt::format("{} x {}", own_size_[1], own_size_[0])},
              {"dimensions", std::to_string(model.dimensions)},
              {"components", std::to_string(model.count())},
              {"file", format_bytes(static_cast<double>(stored_.bytes))}};
  nlohmann::json controls;
  controls["window"] = window_control(width, height);
  controls["tolerance"] = make_json(NumberControl{
      .label = "Tolerance", .value = default_tolerance, .low = 1e-5, .high = 0.2, .step = 1e-5, .logarithmic = true});
  std::vector<std::string> names{"window"};
  if (model.dimensions > 2) {
    const bool plane = model.dimensions > 3;
    const double low = plane ? model.low[3] : 0;
    const double high = plane ? model.high[3] : 0;
    controls["view"] = make_json(PlaceControl{.label = "View",
                                              .value = {0.5 * (model.low[2] + model.high[2]), -0.5 * (low + high)},
                                              .low = {model.low[2], -high},
                                              .high = {model.high[2], -low}});
    controls["aperture"] = make_json(
        NumberControl{.label = "Aperture (0: pinhole)", .value = 0, .low = 0, .high = model.high[2] - model.low[2]});
    const double most = std::max(8.0, width / 16);
    controls["disparity"] = make_json(NumberControl{
        .label = "Focus: disparity", .value = 0, .low = -most, .high = most, .step = 0.1, .unit = {"px", 1}});
    for (const auto* name : {"view", "aperture", "disparity"}) names.emplace_back(name);
  }
  names.emplace_back("tolerance");
  return {{"name", path_},
          {"kind", "model"},
          {"facts", facts},
          {"views", {view_json("light field", model.dimensions > 2 ? "Light field" : "Picture", "window", names)}},
          {"controls", controls}};
}

}  // namespace holotone::cli
