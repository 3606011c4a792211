#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/output_check.hpp>
#include <cli/hologram/points/points_pipeline.hpp>
#include <holotone/bands/frame_pipeline_detail.hpp>
#include <holotone/core/parallel.hpp>
#include <utility>

namespace holotone::cli {
namespace {

/// Threads that prepare frames of so many points, besides those that compute and write. Each holds a frame.
int preparing_threads(std::size_t points) {
  constexpr std::size_t points_at_once = 32'000'000;
  const auto most = static_cast<int>(std::max<std::size_t>(points_at_once / std::max<std::size_t>(points, 1), 1));
  return std::clamp(thread_count() / 2, 1, std::min(most, 16));
}

}  // namespace

std::vector<PointsRecord> make_frames(const HologramJob& job, FrameSource& source) {
  PreparedFrame first = source.prepare(0);
  const int preparers = preparing_threads(first.points.cloud.size());
  const auto prepare = [&](std::int64_t index) {
    check_cancelled("reading");
    return source.prepare(index);
  };
  const auto write = [&](const PointsHologram& made) {
    check_cancelled("writing");
    put_out(job, 0, made);
  };
  std::vector<PointsRecord> rows;
  Makers makers;
  ProgressBar bar(job.console);
  QuietProgress quiet;
  FramePipeline<PreparedFrame, PointsHologram> pipeline(source.count(), std::move(first), preparers, prepare, write);
  pipeline([&](std::int64_t index, const PreparedFrame& frame) {
    if (makers.empty()) makers = makers_of(job, frame);  // while the next frames are prepared
    bar.step("making holograms", index, source.count());
    for (std::size_t c = 0; c < makers.size(); ++c) {
      PointsHologram made = makers[c]->make(frame, quiet);
      made.output = source.output(frame.number, job.channels[c]);
      rows.push_back(make_row(frame, c, made));
      pipeline.put(index, std::move(made));
    }
  });
  return rows;
}

}  // namespace holotone::cli
