#include <algorithm>
#include <cli/info/info_metadata.hpp>
#include <cli/options/viewer_option.hpp>
#include <cli/view/control.hpp>
#include <cli/view/hologram_document.hpp>
#include <cmath>

namespace holotone::cli {
namespace {

constexpr double default_viewer_m = 0.5;

/// Distances over which the focus slider runs.
std::array<double, 2> focus_range(const Metadata& metadata, const std::string& path, double middle_m, bool lens,
                                  const FieldGrid& grid) {
  const double near = checked_number(path, metadata, "distance_min_m").value_or(middle_m);
  const double far = checked_number(path, metadata, "distance_max_m").value_or(middle_m);
  const double depth = std::abs(far - near);
  double reach = std::max(0.25 * std::abs(middle_m), 2 * depth);
  if (lens) reach = std::max(reach, 0.1 * checked_number(path, metadata, "focal_length_m").value_or(0.1));
  if (reach == 0) reach = fresnel_distance_m(grid);
  return {std::min(near, far) - reach, std::max(near, far) + reach};
}

/// A round diameter of at most a tenth of the viewing zone; `zone_m`: half its width.
double usual_pupil_m(double zone_m) {
  const double wanted = zone_m / 5;
  const double unit = std::pow(10.0, std::floor(std::log10(wanted)));
  return std::floor(wanted / unit) * unit;
}

/// The value that is shown, and stands in the command: of a slider's value the first six digits.
double six_digits(double value) {
  if (value == 0) return 0;
  const int places = 5 - static_cast<int>(std::floor(std::log10(std::abs(value))));
  const double power = std::pow(10.0, std::abs(places));  // exact, so that the quotient is the decimal number
  return places < 0 ? std::round(value / power) * power : std::round(value * power) / power;
}

std::string lengths_text(std::span<const double> lengths_m) {
  std::string text;
  for (const double length_m : lengths_m) text += (text.empty() ? "" : ", ") + format_length(length_m);
  return text;
}

/// Names the values that a picture is made of; intensity and amplitude are made of the same.
std::string values_key(double distance_m, ShownLight show) {
  return fmt::format("{} {}", distance_m, name_of(show == ShownLight::amplitude ? ShownLight::intensity : show));
}

}  // namespace

HologramDocument::HologramDocument(ReconstructJob job, std::string given)
    : job_(std::move(job)), given_(std::move(given)) {
  complete_light(job_);
  if (!job_.holograms.sequence.empty()) reject("FILE", "one hologram, not numbered ones", job_.names.front());
  if (!job_.viewing.distances_m.empty()) given_distance_m_ = job_.viewing.distances_m.front();
  job_.any_distance = true;
  view_ = open_holograms(job_);
  metadata_ = view_->metadata();
  grid_ = view_->grid();
  encoding_ = view_->encoding();
  behind_lens_ = has_lens(metadata_);
  if (const auto made_for = metadata_text(metadata_, "viewer"); !made_for.empty()) {
    near_eye_ = viewer_of("viewer", made_for).distance_m < fresnel_distance_m(grid_);
  }
  if (job_.holograms.inputs.size() == 1 && job_.holograms.subframes.empty() && encoding_ != "complex") {
    codes_ = displayable(read_image(job_.holograms.inputs.front()));
  }
  job_.viewing.distances_m = {middle_distance_m()};
  PictureMaker maker(job_.tones, *view_);
  values_ = maker.values(middle_distance_m(), 0, Progress::none());
  values_for_ = values_key(middle_distance_m(), job_.tones.show);
  usual_white_ = maker.white_of(values_);
}

double HologramDocument::middle_distance_m() const {
  if (given_distance_m_) return *given_distance_m_;
  return checked_number(job_.holograms.inputs.front(), metadata_, "distance_m").value_or(0);
}

std::string HologramDocument::command_start() const {
  std::string command = "holotone reconstruct";
  for (const auto& input : job_.names) command += fmt::format(" {}", shell_word(input));
  command += " -o picture.png";
  command += given_;
  if (job_.device_name != "auto") command += fmt::format(" --device {}", job_.device_name);
  return command;
}

void HologramDocument::set_light(const State& state, std::string& command) {
  const double distance_m = six_digits(state.number("distance", middle_distance_m(), -max_distance_m, max_distance_m));
  job_.viewing.distances_m = {distance_m};
  const auto text = length_text(distance_m);
  command += fmt::format(" --distance{}{}", text.starts_with('-') ? "=" : " ", text);
  const auto shown = state.text("show", "intensity");
  static constexpr Choice<ShownLight> names[] = {
      {"intensity", ShownLight::intensity}, {"amplitude", ShownLight::amplitude}, {"phase", ShownLight::phase}};
  job_.tones.show = choose("show", shown, names);
  if (job_.tones.show != ShownLight::intensity) command += fmt::format(" --show {}", shown);
}

void HologramDocument::set_pupil(const State& state, std::string& command) {
  job_.viewing.aperture.reset();
  job_.viewing.pupils.clear();
  job_.tones.white_rule = WhiteRule::percentile;
  const double diameter_m = state.number("pupil_diameter", 0, 0, max_distance_m);
  if (behind_lens_ || diameter_m == 0) return;
  const auto [x_m, y_m] = state.place("pupil", {0, 0});
  const auto made_for = metadata_text(metadata_, "viewer");
  const double eye_m = made_for.empty() ? default_viewer_m : viewer_of("viewer", made_for).distance_m;
  const double distance_m = state.number("viewer_distance", eye_m, min_length_m, max_distance_m);
  if (near_eye_) {
    const Viewer viewer{diameter_m, diameter_m, distance_m, x_m, y_m};
    job_.viewing.pupils = {{diameter_m, diameter_m, distance_m, x_m, y_m, PupilShape::rectangle}};
    job_.tones.white_rule = WhiteRule::mean_and_deviation;
    command += fmt::format(" --viewer {}", shell_word(to_text(viewer)));
    return;
  }
  const Aperture aperture{six_digits(x_m), six_digits(y_m), six_digits(diameter_m), six_digits(distance_m)};
  job_.viewing.aperture = aperture;
  command += fmt::format(" --aperture={},{}:{} --viewer {}", length_text(aperture.x_m), length_text(aperture.y_m),
                         length_text(aperture.diameter_m), length_text(aperture.distance_m));
}

void HologramDocument::set_tones(const State& state, std::string& command) {
  if (job_.tones.show == ShownLight::phase) return;
  constexpr Bounds decades_bounds = bounds_of<&PictureTones::decades>;
  constexpr Bounds gamma_bounds = bounds_of<&PictureTones::gamma>;
  const bool spectrum = job_.tones.show == ShownLight::spectrum;
  const double decades = spectrum ? state.number("spectrum_decades", 4, decades_bounds.low, decades_bounds.high)
                                  : state.number("decades", 0, 0, decades_bounds.high);
  const auto add = [&](std::string_view name, double value) {
    command += fmt::format(" --{} {:.6g}", name, value);
    return six_digits(value);
  };
  job_.tones.decades.reset();
  job_.tones.gamma = 1;
  job_.tones.white.reset();
  if (decades >= decades_bounds.low) {
    job_.tones.decades = add("decades", decades);
  } else if (const double gamma = state.number("gamma", 1, gamma_bounds.low, gamma_bounds.high); gamma != 1) {
    job_.tones.gamma = add("gamma", gamma);
  }
  if (const double white = state.number("white", 0, 0, bounds_of<&PictureTones::white>.high); white > 0) {
    job_.tones.white = add("white", white);
  }
}

/// Brings view_ to the job's pupil.
void HologramDocument::open() {
  std::string eye;
  if (!job_.viewing.pupils.empty()) {
    const auto& p = job_.viewing.pupils.front();
    eye = fmt::format("{} {} {} {}", p.width_m, p.distance_m, p.x_m, p.y_m);
  }
  std::string aperture;
  if (job_.viewing.aperture) {
    const auto& a = *job_.viewing.aperture;
    aperture = fmt::format("{} {} {} {}", a.x_m, a.y_m, a.diameter_m, a.distance_m);
  }
  if (eye == opened_for_ && aperture == aperture_) return;
  values_for_.clear();
  bool moved = false;
  if (eye.empty() && opened_for_.empty()) {
    aperture_ = "unknown";  // of three colours one may refuse what the others have taken
    moved = view_->set_aperture(job_.viewing.aperture);
  }
  if (!moved) view_ = open_holograms(job_);
  opened_for_ = eye;
  aperture_ = aperture;
}

Raster HologramDocument::light(const ViewRequest& request, Progress& progress) {
  std::string command = command_start();
  set_pupil(request.state, command);
  if (request.view == "spectrum") {
    job_.tones.show = ShownLight::spectrum;
    job_.viewing.distances_m = {middle_distance_m()};
    command += " --show spectrum";
    if (!given_distance_m_ && !metadata_.contains("distance_m")) command += " --distance 0m";
  } else {
    set_light(request.state, command);
  }
  set_tones(request.state, command);
  open();
  PictureMaker maker(job_.tones, *view_);
  const double distance_m = job_.viewing.distances_m.front();
  const auto values_for = values_key(distance_m, job_.tones.show);
  if (values_for != values_for_) {
    values_for_.clear();
    values_ = maker.values(distance_m, 0, progress);
    values_for_ = values_for;
  }
  const bool phase = job_.tones.show == ShownLight::phase;
  const double white = phase ? 0 : job_.tones.white ? *job_.tones.white : maker.white_of(values_);
  Facts facts;
  if (!phase) facts.emplace_back("white", fmt::format("{:.4g}", white));
  if (job_.viewing.pupils.empty() && !behind_lens_ && job_.tones.show != ShownLight::spectrum) {
    facts.emplace_back("method", std::string(to_string(view_->method_for(distance_m))));
  }
  for (const double share : view_->light_shares()) {
    facts.emplace_back("light through the pupil", fmt::format("{:.3g} %", 100 * share));
  }
  return {maker.image(values_, white, distance_m, 0), std::move(command), std::move(facts)};
}

Raster HologramDocument::codes() const {
  return {{std::get<Array<std::uint8_t, 3>>(codes_->pixels).to(Device{}), {}}, {}, {}};
}

ViewAnswer HologramDocument::levels() const {
  const auto& codes = std::get<Array<std::uint8_t, 3>>(codes_->pixels);
  const std::int64_t channels = codes.shape()[2];
  std::vector<std::vector<double>> counts(static_cast<std::size_t>(channels), std::vector<double>(256, 0));
  for (std::int64_t i = 0; i < codes.size(); ++i) {
    ++counts[static_cast<std::size_t>(i % channels)][codes.data()[i]];
  }
  std::vector<double> level(256);
  for (std::size_t i = 0; i < level.size(); ++i) level[i] = static_cast<double>(i);
  nlohmann::json series = nlohmann::json::array();
  const std::array<std::string_view, 3> names{"red", "green", "blue"};
  for (std::size_t c = 0; c < counts.size(); ++c) {
    series.push_back({{"name", channels == 1 ? std::string_view("pixels") : names[c]}, {"x", level}, {"y", counts[c]}});
  }
  return answer_of({{"x", "code"}, {"y", "pixels"}, {"logarithmic", false}, {"series", series}}, {}, {});
}

Raster HologramDocument::raster(const ViewRequest& request, Progress& progress) {
  if (request.view == "light" || request.view == "spectrum") return light(request, progress);
  if (request.view == "codes" && codes_) return codes();
  reject_view(request.view);
}

ViewAnswer HologramDocument::show(const ViewRequest& request, Progress& progress) {
  if (request.view == "levels" && codes_) return levels();
  return answer_of(raster(request, progress), request);
}

Image HologramDocument::thumbnail(Progress& progress) {
  Image picture = light({.view = "light", .state = {}}, progress).image;
  return displayable(std::move(picture));
}

nlohmann::json HologramDocument::controls() const {
  const double middle = middle_distance_m();
  const auto [near, far] = focus_range(metadata_, job_.holograms.inputs.front(), middle, behind_lens_, grid_);
  nlohmann::json controls;
  controls["distance"] = make_json(NumberControl{.label = behind_lens_ ? "Beyond the focal plane" : "Focus",
                                                 .value = middle,
                                                 .low = near,
                                                 .high = far,
                                                 .unit = length_unit(std::max(std::abs(near), std::abs(far)))});
  const bool one = job_.holograms.inputs.size() == 1 && job_.holograms.subframes.empty() && !behind_lens_;
  std::vector<std::pair<std::string, std::string>> shown{{"intensity", "Intensity"}, {"amplitude", "Amplitude"}};
  if (one) shown.emplace_back("phase", "Phase");
  controls["show"] = choice_control("Show", shown);
  const auto made_for = metadata_text(metadata_, "viewer");
  const double eye_m = std::max(made_for.empty() ? default_viewer_m : viewer_of("viewer", made_for).distance_m,
                                near_eye_ ? 0 : 1.001 * fresnel_distance_m(grid_));
  const double zone = viewing_zone_half_width_m(grid_, eye_m);
  const Unit unit = length_unit(zone);
  controls["pupil"] =
      make_json(PlaceControl{.label = "Pupil", .low = {-zone, -zone}, .high = {zone, zone}, .unit = unit});
  controls["pupil_diameter"] = make_json(NumberControl{.label = "Pupil's diameter (0: no pupil)",
                                                       .value = 0,
                                                       .low = 0,
                                                       .high = zone,
                                                       .step = usual_pupil_m(zone) / 20,
                                                       .unit = unit});
  controls["pupil_diameter"]["usual"] = usual_pupil_m(zone);
  controls["viewer_distance"] =
      make_json(NumberControl{.label = "Pupil's distance",
                              .value = eye_m,
                              .low = near_eye_ ? eye_m / 2 : 1.001 * fresnel_distance_m(grid_),
                              .high = 2 * std::max(eye_m, fresnel_distance_m(grid_)),
                              .unit = length_unit(eye_m)});
  controls["decades"] =
      make_json(NumberControl{.label = "Decades (0: linear)", .value = 0, .low = 0, .high = 8, .step = 0.5});
  controls["spectrum_decades"] =
      make_json(NumberControl{.label = "Decades", .value = 4, .low = 0.5, .high = 10, .step = 0.5});
  controls["gamma"] =
      make_json(NumberControl{.label = "Gamma", .value = 1, .low = 0.25, .high = 4, .step = 0.05, .logarithmic = true});
  controls["white"] =
      make_json(NumberControl{.label = "White (0: from the picture)", .value = 0, .low = 0, .high = 4 * usual_white_});
  const nlohmann::json tones = {"intensity", "amplitude"};
  for (const auto* name : {"decades", "gamma", "white"}) controls[name]["when"] = {{"show", tones}};
  controls["gamma"]["when"]["decades"] = {0};
  return controls;
}

nlohmann::json HologramDocument::description() const {
  nlohmann::json facts = nlohmann::json::array();
  facts.push_back({"pixels", fmt::format("{} x {}", grid_.nx, grid_.ny)});
  facts.push_back({"encoding", encoding_});
  for (const auto& [key, text] : metadata_) {
    if (key == "encoding") continue;
    const bool colours = key == "wavelength_m" && view_->wavelengths_m().size() == 3;
    facts.push_back({key_in_words(key), colours ? lengths_text(view_->wavelengths_m()) : readable(key, text)});
  }
  std::vector<std::string> light{"distance", "show"};
  if (!behind_lens_) {
    for (const auto* name : {"pupil", "pupil_diameter", "viewer_distance"}) light.emplace_back(name);
  }
  for (const auto* name : {"decades", "gamma", "white"}) light.emplace_back(name);
  nlohmann::json views = nlohmann::json::array();
  views.push_back(view_json("light", "Light", "picture", light));
  if (codes_) views.push_back(view_json("codes", "Codes", "picture"));
  if (job_.holograms.inputs.size() == 1 && job_.holograms.subframes.empty() && !behind_lens_) {
    views.push_back(view_json("spectrum", "Spectrum", "picture", {"spectrum_decades"}));
  }
  if (codes_) views.push_back(view_json("levels", "Levels", "plot"));
  return {{"name", job_.names.front()},
          {"kind", encoding_ == "complex" ? "field" : "hologram"},
          {"facts", facts},
          {"views", views},
          {"controls", controls()}};
}

}  // namespace holotone::cli
