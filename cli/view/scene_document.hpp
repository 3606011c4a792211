#pragma once
#include <cli/view/document.hpp>
#include <holotone/core/geometry.hpp>
#include <holotone/recipes/scenes/scene_points_detail.hpp>

namespace holotone::cli {

/// Points or a mesh, turned by the page.
class SceneDocument final : public Document {
 public:
  /// Throws as read_scene_guarded, and io without a finite point.
  explicit SceneDocument(std::string path);

  [[nodiscard]] nlohmann::json description() const override;
  ViewAnswer show(const ViewRequest& request, Progress& progress) override;
  Image thumbnail(Progress& progress) override;

 private:
  std::string path_;
  Mesh mesh_;
  FiniteExtents extents_;
};

}  // namespace holotone::cli
