#include <cli/common/cancel.hpp>
#include <cli/common/output_check.hpp>
#include <cli/hologram/points/empty_hologram.hpp>
#include <cli/hologram/points/points_holograms.hpp>
#include <cli/hologram/points/points_pipeline.hpp>
#include <future>
#include <utility>

namespace holotone::cli {
namespace {

/// Computes one frame step by step, with a bar for the sum. A colour is written while the next is computed.
std::vector<PointsRecord> make_one(const HologramJob& job, FrameSource& source, const BeforeSum& before) {
  const PreparedFrame frame = source.prepare(0);
  check_cancelled("reading");
  require_light(job, frame.input, frame.dark);
  const Makers makers = makers_of(job, frame);  // refuses options before anything is reported
  before(rows_before_sum(job, source, frame));
  ProgressBar bar(job.console);
  std::vector<PointsRecord> rows;
  std::future<void> writing;
  const auto written = [&] {
    if (writing.valid()) writing.get();
  };
  for (std::size_t c = 0; c < makers.size(); ++c) {
    PointsHologram made = makers[c]->make(frame, bar);
    made.output = source.output(frame.number, job.channels[c]);
    check_cancelled("writing");
    rows.push_back(make_row(frame, c, made));
    written();
    if (job.shown || c + 1 == makers.size()) {
      put_out(job, c, made);
    } else {
      writing = std::async(std::launch::async, [&job, c, finished = std::move(made)] { put_out(job, c, finished); });
    }
  }
  check_cancelled("writing");
  return rows;
}

}  // namespace

std::vector<PointsRecord> make_holograms(const HologramJob& job, FrameSource& source, const BeforeSum& before) {
  const UnfinishedRun run;
  auto rows = source.moving() ? make_frames(job, source) : make_one(job, source, before);
  check_cancelled("writing");
  UnfinishedRun::keep();
  return rows;
}

}  // namespace holotone::cli
