#include <cli/reconstruct/subframe_view.hpp>

namespace holotone::cli {

SubframeView::SubframeView(const ReconstructJob& job, MakeView make) : job_(job), make_(std::move(make)) {
  first_ = view_of(0);
  describe(*first_);
}

std::unique_ptr<HologramView> SubframeView::view_of(std::size_t subframe) const {
  ReconstructJob one = job_;
  one.inputs = job_.subframes[subframe];
  one.subframes.clear();
  return make_(one);
}

/// Subframes after the first are read again for each picture: their plans need not fit into the memory at once.
Picture SubframeView::picture(double distance_m, std::size_t frame, Progress& progress) {
  Picture sum = on_host(first_->picture(distance_m, frame, progress));
  unit_ = first_->unit();
  dark_ = first_->dark();
  const auto count = static_cast<float>(job_.subframes.size());
  for (auto& channel : sum.channels) {
    for (float& value : channel.host()) value /= count;
  }
  for (std::size_t subframe = 1; subframe < job_.subframes.size(); ++subframe) {
    progress.step("adding subframes", static_cast<std::int64_t>(subframe), std::ssize(job_.subframes));
    const auto view = view_of(subframe);
    if (view->grid().shape() != grid_.shape()) {
      throw_io(job_.subframes[subframe].front(),
               fmt::format("{} x {} pixels as the first subframe", grid_.nx, grid_.ny),
               fmt::format("{} x {}", view->grid().nx, view->grid().ny));
    }
    const auto picture = on_host(view->picture(distance_m, frame, progress));
    const auto share = static_cast<float>(view->unit() / unit_) / count;
    for (std::size_t c = 0; c < sum.channels.size(); ++c) {
      float* const own = sum.channels[c].data();
      for (std::int64_t i = 0; i < sum.channels[c].size(); ++i) own[i] += share * picture.channels[c].data()[i];
    }
  }
  return sum;
}

}  // namespace holotone::cli
