#pragma once
#include <cli/reconstruct/plane_view.hpp>
#include <functional>

namespace holotone::cli {

/// Pictures of subframes shown in turn: the mean of their light.
class SubframeView final : public HologramView {
 public:
  using MakeView = std::function<std::unique_ptr<HologramView>(const ReconstructJob&)>;

  /// `make` makes the view of one subframe. Throws as that, and io for a subframe of another panel.
  SubframeView(const ReconstructJob& job, MakeView make);

  Picture picture(double distance_m, std::size_t frame, Progress& progress) override;
  [[nodiscard]] PropagationMethod method_for(double distance_m) const override {
    return first_->method_for(distance_m);
  }
  [[nodiscard]] std::vector<double> light_shares() const override { return first_->light_shares(); }

 private:
  [[nodiscard]] std::unique_ptr<HologramView> view_of(std::size_t subframe) const;

  const ReconstructJob& job_;
  MakeView make_;
  std::unique_ptr<HologramView> first_;
};

}  // namespace holotone::cli
