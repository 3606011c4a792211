#include <holotone/smoe/fit_steps.hpp>

namespace holotone::smoe {
namespace {

void slices_at(const FitComponents& components, const ViewPoint& at, std::vector<ImageComponent>& slices) {
  slices.resize(components.size());
  over_components(std::ssize(components), [&](std::size_t j) { slices[j] = slice_at(components[j], at); });
}

}  // namespace

void FitView::select(const FitComponents& components, double tolerance) {
  std::vector<ImageComponent> slices;
  slices_at(components, at, slices);
  SmoeRenderOptions how;
  how.tolerance = tolerance;
  pairs = pair_up(select_components(slices, target.channels(), target.size(), how), target.size(), std::ssize(slices));
}

double sum_views(PixelSum what, const FitComponents& components, std::span<const double> precision,
                 std::span<FitView* const> views, std::vector<FitSums>& sums) {
  std::vector<ImageComponent> slices;
  std::vector<ComponentSums> of_view;
  sums.assign(components.size(), {});
  double total = 0;
  for (FitView* const view : views) {
    slices_at(components, view->at, slices);
    const double own = sum_pixels(what, slices, precision, view->pairs, view->target, of_view);
    if (what != PixelSum::joint && what != PixelSum::pictures) view->error = own;
    total += own;
    over_components(std::ssize(components),
                    [&](std::size_t j) { add_sums(components[j], of_view[j], view->at, sums[j]); });
  }
  return total;
}

}  // namespace holotone::smoe
