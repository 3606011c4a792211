#pragma once
#include <bench/lagrange_hologram.hpp>
#include <holotone/optics/eye.hpp>
#include <nlohmann/json.hpp>

namespace bench {

/// Figure 8 and its table: numerical reconstructions of the complex field and of each quantized one, focused on the
/// bottom die. The pupil is as wide as the viewing window.
class LagrangeFigure {
 public:
  /// `small`: pictures with an eighth of the pixels a side, and a pupil an eighth as wide.
  LagrangeFigure(const holotone::Array<holotone::Complex, 2>& field, bool small);
  /// Adds a picture; the first is the reference. Without `quantised` it is the picture of the field.
  void add(const std::string& name, const Quantised* quantised);
  /// Prints the table, sets results["figure_8"], and writes the pictures on one sheet.
  void finish(const std::string& path, nlohmann::json& results) const;

 private:
  struct Picture {
    std::string name;
    holotone::Array<float, 2> intensity;  ///< divided by the sum of its mean and standard deviation
    double efficiency = 0;                ///< share of the light on the panel that enters the window
  };
  holotone::Array<float, 2> seen(const Quantised* quantised, double& efficiency) const;

  const holotone::Array<holotone::Complex, 2>& field_;
  std::int64_t side_;
  holotone::EyePupil pupil_;
  std::vector<Picture> pictures_;
};

}  // namespace bench
