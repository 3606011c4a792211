#include <algorithm>
#include <cli/options/values.hpp>
#include <cli/view/control.hpp>
#include <cli/view/geometry_bytes.hpp>
#include <cli/view/scene_document.hpp>
#include <cmath>
#include <holotone/core/colour.hpp>
#include <holotone/io/guarded/guarded.hpp>
#include <holotone/recipes/scenes/scene_thumbnail_detail.hpp>

namespace holotone::cli {

SceneDocument::SceneDocument(std::string path)
    : path_(std::move(path)),
      mesh_(read_scene_guarded(path_, current_program(), {}, Coordinates::centred)),
      extents_(finite_extents(path_, mesh_)) {}

ViewAnswer SceneDocument::show(const ViewRequest& request, Progress& /*progress*/) {
  if (request.view != "scene") reject_view(request.view);
  ViewAnswer answer;
  answer.media = "application/octet-stream";
  append_bytes(answer.payload, mesh_.position);
  std::vector<std::uint8_t> colours;
  for (const auto& colour : mesh_.colour) {
    for (const float light : colour) {
      const double code = linear_to_srgb(std::clamp(static_cast<double>(light), 0.0, 1.0));
      colours.push_back(static_cast<std::uint8_t>(std::lround(255 * code)));
    }
  }
  colours.resize((colours.size() + 3) / 4 * 4);
  append_bytes(answer.payload, colours);
  append_bytes(answer.payload, mesh_.triangle);
  answer.header = {{"points", mesh_.position.size()},
                   {"triangles", mesh_.triangle.size()},
                   {"has_colour", !mesh_.colour.empty()},
                   {"low", extents_.low},
                   {"high", extents_.high},
                   {"command", fmt::format("holotone hologram {} -o hologram.png", shell_word(path_))},
                   {"facts", nlohmann::json::array()}};
  return answer;
}

Image SceneDocument::thumbnail(Progress& /*progress*/) { return scene_thumbnail(mesh_, extents_, thumbnail_side); }

nlohmann::json SceneDocument::description() const {
  Facts facts{{"vertices", std::to_string(mesh_.position.size())},
              {"triangles", std::to_string(mesh_.triangle.size())}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    facts.emplace_back(std::string(1, "xyz"[axis]),
                       fmt::format("{:.4g} to {:.4g}", mesh_.origin[axis] + extents_.low[axis],
                                   mesh_.origin[axis] + extents_.high[axis]));
  }
  if (extents_.not_finite > 0) facts.emplace_back("not finite", std::to_string(extents_.not_finite));
  return {{"name", path_},
          {"kind", mesh_.triangle.empty() ? "points" : "mesh"},
          {"facts", facts},
          {"views", {view_json("scene", "Scene", "scene")}},
          {"controls", nlohmann::json::object()}};
}

}  // namespace holotone::cli
