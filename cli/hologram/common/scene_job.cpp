#include <cli/hologram/common/scene_job.hpp>

namespace holotone::cli {

std::string SceneJob::source() const {
  if (of_views()) return "--views " + views.names;
  if (has_image()) return "--image " + pictures.picture.image;
  if (of_pictures()) return "--stack";
  return hologram.input.empty() ? "none" : "IN, " + hologram.input;
}

Applies SceneJob::for_points() const {
  return {[this] { return !of_views() && !of_pictures(); }, "points or a mesh", [this] { return source(); }};
}

Applies SceneJob::for_image() const {
  return {[this] { return has_image() && !of_views(); }, "a picture with --image", [this] { return source(); }};
}

Applies SceneJob::for_views() const {
  return {[this] { return of_views(); }, "views with --views", [this] { return source(); }};
}

Applies SceneJob::for_views_or_image() const {
  return {[this] { return of_views() || has_image(); }, "views with --views or a picture with --image",
          [this] { return source(); }};
}

Applies SceneJob::for_layers() const {
  return {[this] { return of_pictures() && !by_hogels(); },
          "pictures with --image or --stack, not computed hogel by hogel", [this] { return source(); }};
}

}  // namespace holotone::cli
