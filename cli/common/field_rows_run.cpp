#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/error_words.hpp>
#include <cli/common/field_rows_run.hpp>
#include <cli/common/paths.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <utility>

namespace holotone::cli {
namespace {

/// True if unfinished rows of a stopped run exist.
bool is_begun(const std::string& output) {
  const std::filesystem::path path(output);
  std::error_code error;
  return std::filesystem::exists(path.parent_path() / fmt::format(".{}.part", path.filename().string()), error);
}

}  // namespace

FieldRowsRun::FieldRowsRun(FieldRows rows, const ConsoleOptions& console, Progress& progress)
    : rows_(std::move(rows)),
      console_(console),
      begun_(is_begun(rows_.output)),
      writer_(rows_.output, rows_.shape, rows_.metadata, {rows_.key, true}, progress),
      resumed_(writer_.rows_done()) {
  if (begun_ && resumed_ == 0) {
    remark(console_, fmt::format("rows of another {} are discarded: options or files have changed", rows_.output));
  }
}

void FieldRowsRun::write(const Queue& queue, const Compute& compute) {
  const auto [ny, nx] = rows_.shape;
  const std::int64_t at_once = std::min(rows_.rows_at_once, ny);
  try {
    std::int64_t first = resumed_ / rows_.step * rows_.step;
    if (resumed_ == ny) return;
    Array<Complex, 1> memory({at_once * nx}, queue);
    for (; first < ny; first += at_once) {
      check_cancelled("writing");
      const View<Complex, 2> part(memory.data(), {std::min(at_once, ny - first), nx}, memory.device());
      compute(first, part);
      if (queue.device().backend == Backend::cpu) {
        writer_.write(first, part);
      } else {
        queue.synchronize();
        writer_.write(first, copy_of(View<const Complex, 2>(part), Device{}).view());
      }
    }
    check_cancelled("writing");
  } catch (const Error& error) {
    if (writer_.rows_done() == 0) throw;
    const auto kept = fmt::format("{} of {} rows are kept; run the same command to resume", writer_.rows_done(), ny);
    if (error.code() != ErrorCode::cancelled) throw with_remark(error, kept);
    remark(console_, kept);
    throw;
  }
}

void FieldRowsRun::finish() {
  UnfinishedRun::will_write(rows_.output);
  writer_.finish();
}

}  // namespace holotone::cli
