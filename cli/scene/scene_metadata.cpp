#include <algorithm>
#include <cli/options/values.hpp>
#include <cli/options/viewer_option.hpp>
#include <cli/scene/scene_metadata.hpp>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <numbers>

namespace holotone::cli {
namespace {

/// A word quoted for a shell.
std::string in_quotes(const std::string& word) {
  const bool plain = word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./%:@,-") ==
                     std::string::npos;
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

/// A length in the format of an option.
std::string typed(double metres) {
  std::string text = format_length(metres);
  std::erase(text, ' ');
  return text;
}

nlohmann::json eye_json(const Eye& eye) {
  return {{"x_m", eye.x_m}, {"y_m", eye.y_m}, {"distance_in_front_m", eye.distance_m}};
}

/// Rounded to four digits: removes the error of float32.
std::array<double, 3> rounded(const Vec3f& colour) {
  std::array<double, 3> values{};
  for (std::size_t c = 0; c < 3; ++c) values[c] = std::round(1e4 * static_cast<double>(colour[c])) / 1e4;
  return values;
}

nlohmann::json objects_of(const DiceSceneOptions& scene) {
  constexpr double degree = std::numbers::pi / 180;
  auto dice = nlohmann::json::array();
  for (const auto& die : scene.dice) {
    dice.push_back({{"x_m", die.x_m},
                    {"y_m", die.y_m},
                    {"distance_m", die.distance_m},
                    {"side_m", die.side_m},
                    {"roll_deg", std::round(die.roll_rad / degree)},
                    {"turn_deg", std::round(die.turn_rad / degree)},
                    {"tilt_deg", std::round(die.tilt_rad / degree)},
                    {"colour", rounded(die.colour)},
                    {"pip_colour", rounded(die.pip_colour)}});
  }
  return {{"dice", dice},
          {"checkerboard",
           {{"size_m", scene.board.size_m},
            {"distance_m", scene.board.distance_m},
            {"squares_a_side", scene.board.squares},
            {"light_colour", rounded(scene.board.light_colour)},
            {"dark_colour", rounded(scene.board.dark_colour)}}},
          {"light_from", scene.light},
          {"ambient", scene.ambient}};
}

nlohmann::json commands_of(const DiceJob& job, double near_m, double far_m) {
  const auto path = [&](const char* name) { return in_quotes(job.folder + "/" + name); };
  // Small enough to be computed without blocks; the stereogram has the paper's size.
  const std::int64_t side = std::min<std::int64_t>(4096, 4 * job.resolution);
  const std::string panel = fmt::format("--resolution {0}x{0} --pitch {1} --wavelength 635nm", side,
                                        typed(dice_panel_m / static_cast<double>(side)));
  nlohmann::json commands;
  commands["points"] = {
      fmt::format("holotone hologram {} -o points.h5 --keep-coordinates --random-phase {}", path("points.ply"), panel)};
  commands["layers"] = {
      fmt::format("holotone hologram --image {} --depth {} --depth-range {},{} --size {} -o layers.h5 {}",
                  path("image.png"), path("depth.png"), typed(near_m), typed(far_m), typed(dice_panel_m), panel)};
  // The cameras of a stereogram are centred on the axis.
  if (job.viewer.x_m != 0 || job.viewer.y_m != 0) return commands;
  const std::string viewer = to_text(job.viewer);
  commands["stereogram"] = {
      fmt::format("holotone hologram --views {} --camera-pitch {} --viewer {} --distance {} --size {} -o views.h5 "
                  "--hogel 2048 --pitch 750nm --panel-size {} --wavelength 635nm",
                  path("views/view_%v_%u.png"), typed(job.camera_pitch_m()), viewer, typed(dice_plane_m),
                  typed(dice_panel_m), typed(dice_panel_m)),
      fmt::format("holotone quantize views.h5 -o slm.png --bits 8 --method vded --viewer {} --p 3 --weights 27",
                  viewer),
      fmt::format("holotone reconstruct slm.png -o seen.png --viewer {} --focus {}", viewer, typed(dice_plane_m))};
  return commands;
}

}  // namespace

double DiceJob::pitch_m() const { return dice_panel_m / static_cast<double>(resolution); }

Eye DiceJob::eye(double right, double down) const {
  return {viewer.x_m + (right - 0.5) * viewer.width_m, viewer.y_m + (0.5 - down) * viewer.height_m, viewer.distance_m};
}

double DiceJob::camera_pitch_m() const {
  const auto spacing = [](double size_m, std::int64_t count) {
    return count > 1 ? size_m / static_cast<double>(count - 1) : size_m;
  };
  return std::max(spacing(viewer.width_m, views[0]), spacing(viewer.height_m, views[1]));
}

Eye DiceJob::camera(std::int64_t v, std::int64_t u) const {
  const auto steps = [](std::int64_t i, std::int64_t count) {
    return static_cast<double>(i) - 0.5 * static_cast<double>(count - 1);
  };
  return {viewer.x_m + steps(u, views[0]) * camera_pitch_m(), viewer.y_m - steps(v, views[1]) * camera_pitch_m(),
          viewer.distance_m};
}

nlohmann::json dice_story(const DiceJob& job, const DiceSceneOptions& scene, double near_m, double far_m) {
  auto truths = nlohmann::json::array();
  for (const auto& truth : dice_truths) {
    truths.push_back({{"file", truth.file}, {"eye", eye_json(job.eye(truth.right, truth.down))}});
  }
  nlohmann::json story = {
      {"scene", "dice"},
      {"software", "holotone " HOLOTONE_VERSION},
      {"source",
       "Lagrange, Gilles, Heggarty, Fracasso 2024, Table 2: sizes and depths; places in x and y, turns, colours and "
       "light "
       "are Holotone's choice"},
      {"frame", "metres; x right, y up, the panel's middle is the origin; distance_m is behind the panel"},
      {"angles", "roll about the axis toward the viewer, then turn about the vertical, then tilt about the horizontal"},
      {"colours", "scene.json, points.ply: linear light; PNG: sRGB codes of it"},
      {"panel", {{"width_m", dice_panel_m}, {"height_m", dice_panel_m}}},
      {"viewing_window",
       {{"width_m", job.viewer.width_m},
        {"height_m", job.viewer.height_m},
        {"x_m", job.viewer.x_m},
        {"y_m", job.viewer.y_m},
        {"distance_in_front_m", job.viewer.distance_m}}},
      {"channels", scene.channels},
      {"seed", job.points.seed}};
  story.update(objects_of(scene));
  const auto pictures = [&](const nlohmann::json& more) {
    nlohmann::json result = {{"pixels", {job.resolution, job.resolution}}, {"pitch_m", job.pitch_m()}};
    result.update(more);
    return result;
  };
  story["image"] = pictures({{"file", "image.png"}, {"projection", "parallel rays along the axis"}});
  story["depth"] = {{"files", {"depth.png", "depth.npy"}},
                    {"png", "16-bit codes, 0 at near_m, 65535 at far_m, evenly between"},
                    {"npy", "float32 metres behind the panel"},
                    {"near_m", near_m},
                    {"far_m", far_m}};
  story["points"] = {{"file", "points.ply"},
                     {"count", job.points.count},
                     {"seen_from", eye_json(job.eye(0.5, 0.5))},
                     {"amplitude", "sqrt(luminance n.v (r0/r)^2): slant and distance made up for"}};
  const char* const pinhole = "pinhole; pixels lie in the plane at plane_distance_m, its middle on the axis";
  story["views"] = pictures({{"files", "views/view_%v_%u.png"},
                             {"columns", job.views[0]},
                             {"rows", job.views[1]},
                             {"order", "u counts to the right, v downwards, from 0"},
                             {"projection", pinhole},
                             {"plane_distance_m", dice_plane_m},
                             {"camera_pitch_m", job.camera_pitch_m()},
                             {"first_camera", eye_json(job.camera(0, 0))}});
  story["truth"] = pictures({{"pictures", truths}, {"projection", pinhole}, {"plane_distance_m", dice_plane_m}});
  story["commands"] = commands_of(job, near_m, far_m);
  return story;
}

}  // namespace holotone::cli
