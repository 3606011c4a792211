// A fit's sums and steps on the CPU.
#include <holotone/smoe/fit/adam_step.hpp>
#include <holotone/smoe/fit/engine.hpp>
#include <holotone/smoe/model/over_components.hpp>

namespace holotone::smoe {
namespace {

class CpuEngine final : public FitEngine {
 public:
  explicit CpuEngine(std::span<const SmoeFitView> views)
      : FitEngine(views),
        width_(static_cast<std::size_t>(count_parameters(dimensions(), channels()))),
        errors_(views.size(), -1) {
    for (const auto& view : views) {
      places_.push_back(to_view_point(view));
      pictures_.push_back(pixel_engine_cpu(view.image));
    }
  }

  void put(const FitComponents& components) override {
    components_ = components;
    mean_.resize(components.size() * width_, 0);
    square_.resize(components.size() * width_, 0);
  }
  void get(FitComponents& components) const override { components = components_; }

  void select(std::size_t view, double tolerance) override {
    slice(places_[view]);
    pictures_[view]->select(slices_, tolerance);
  }

  void sum(PixelSum what, std::span<const std::size_t> views, std::span<const double> precision) override {
    sums_.assign(components_.size(), {});
    total_ = 0;
    for (const auto view : views) {
      const ViewPoint& at = places_[view];
      slice(at);
      const double value = pictures_[view]->sum(what, slices_, precision, of_view_);
      if (is_error(what)) errors_[view] = value;
      total_ += value;
      over_components(std::ssize(components_),
                      [&](std::size_t j) { add_sums(components_[j], of_view_[j], at, sums_[j]); });
    }
  }
  const std::vector<FitSums>& sums() override { return sums_; }
  double total() override { return total_; }
  const std::vector<double>& errors() override { return errors_; }

  void descend(double rate) override {
    const auto step = DescentStep::number(++steps_, rate);
    switch (dimensions()) {
      case 2: descend_all<2>(step); break;
      case 3: descend_all<3>(step); break;
      default: descend_all<4>(step); break;
    }
  }
  void restart() override {
    steps_ = 0;
    std::fill(mean_.begin(), mean_.end(), 0);
    std::fill(square_.begin(), square_.end(), 0);
  }
  void forget(std::span<const std::uint32_t> components) override {
    for (const auto j : components) {
      std::fill_n(mean_.begin() + static_cast<std::ptrdiff_t>(j * width_), width_, 0);
      std::fill_n(square_.begin() + static_cast<std::ptrdiff_t>(j * width_), width_, 0);
    }
  }

 private:
  void slice(const ViewPoint& at) {
    slices_.resize(components_.size());
    over_components(std::ssize(components_), [&](std::size_t j) { slices_[j] = slice_at(components_[j], at); });
  }
  template <int Dimensions>
  void descend_all(const DescentStep& step) {
    over_components(std::ssize(components_), [&](std::size_t j) {
      smoe::descend<Dimensions>(components_[j], sums_[j], channels(), step,
                                {mean_.data() + j * width_, square_.data() + j * width_, 1}, limits());
    });
  }

  std::size_t width_;  ///< parameters of a component
  std::vector<ViewPoint> places_;
  std::vector<PixelEnginePointer> pictures_;
  FitComponents components_;
  std::vector<ImageComponent> slices_;
  std::vector<ComponentSums> of_view_;
  std::vector<FitSums> sums_;
  double total_ = 0;
  std::vector<double> errors_;
  std::vector<double> mean_;
  std::vector<double> square_;
  std::int64_t steps_ = 0;
};

}  // namespace

FitEnginePointer fit_engine_cpu(std::span<const SmoeFitView> views) { return std::make_unique<CpuEngine>(views); }

}  // namespace holotone::smoe
