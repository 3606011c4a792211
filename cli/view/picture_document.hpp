#pragma once
#include <cli/view/document.hpp>

namespace holotone::cli {

/// A picture as its file has it.
class PictureDocument final : public Document {
 public:
  /// Throws as read_image.
  explicit PictureDocument(std::string path);

  [[nodiscard]] nlohmann::json description() const override;
  ViewAnswer show(const ViewRequest& request, Progress& progress) override;
  Raster raster(const ViewRequest& request, Progress& progress) override;
  [[nodiscard]] std::string compared_view() const override { return "picture"; }
  Image thumbnail(Progress& progress) override;

 private:
  std::string path_;
  Image codes_;  ///< for display
  Facts facts_;
};

}  // namespace holotone::cli
