#pragma once
#include <cli/common/smoe_file.hpp>
#include <cli/view/document.hpp>
#include <holotone/smoe/aperture.hpp>
#include <memory>

namespace holotone::cli {

/// A mixture of experts: any part of it at any size, and of a light field any view, through any aperture. Pictures are
/// those of `holotone smoe render` with the same options.
class ModelDocument final : public Document {
 public:
  /// Throws as read_model.
  ModelDocument(std::string path, Device device);

  [[nodiscard]] nlohmann::json description() const override;
  ViewAnswer show(const ViewRequest& request, Progress& progress) override;
  Raster raster(const ViewRequest& request, Progress& progress) override;
  [[nodiscard]] std::string compared_view() const override { return "light field"; }
  Image thumbnail(Progress& progress) override;

 private:
  [[nodiscard]] SmoeView view_to_render(const ViewRequest& request, std::string& command) const;

  std::string path_;
  Device device_;
  MixtureFile stored_;  ///< its model is in the renderer
  Shape<2> own_size_{};
  SmoeRenderOptions options_;
  std::unique_ptr<SmoeRenderer> renderer_;
};

}  // namespace holotone::cli
