#pragma once
#include <cli/measure/measure_result.hpp>
#include <cli/view/document.hpp>
#include <optional>

namespace holotone::cli {

/// Dots: drawn by the page; their spectrum and measures are those of `holotone measure`.
class DotsDocument final : public Document {
 public:
  /// `against`: picture that they are compared with; empty: none. Throws as `holotone measure`.
  DotsDocument(const std::string& path, const std::string& against, const InkSource& ink);

  [[nodiscard]] nlohmann::json description() const override;
  ViewAnswer show(const ViewRequest& request, Progress& progress) override;
  Raster raster(const ViewRequest& request, Progress& progress) override;
  Image thumbnail(Progress& progress) override;

 private:
  const Measured& measured(Progress& progress);
  [[nodiscard]] ViewAnswer geometry() const;
  [[nodiscard]] double usual_radius() const;
  [[nodiscard]] std::string command(std::string_view output) const;

  MeasureJob job_;
  MeasuredDots dots_;
  std::vector<Ink> inks_;
  std::optional<Measured> measured_;
};

}  // namespace holotone::cli
