#pragma once
#include <cli/common/console.hpp>
#include <functional>
#include <holotone/core/device.hpp>
#include <holotone/io/field_rows.hpp>
#include <holotone/optics/field.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// Field that is computed and written by bands of rows, in any order.
struct FieldRows {
  std::string output;
  Shape<2> shape;
  Metadata metadata;
  std::string key;                ///< identity of the rows: FieldRowsOptions::key
  std::int64_t rows_at_once = 1;  ///< rows of a band
};

/// Writes such a field to a temporary name. Rows of a failed or stopped run stay there, and the next run of the same
/// key resumes from them. A run that was written completely but not renamed is resumed too.
class FieldRowsRun {
 public:
  /// Computes rows first_row to first_row + part.shape()[0] - 1 on the device of queue `device`.
  using Compute = std::function<void(std::size_t device, std::int64_t first_row, View<Complex, 2> part)>;

  FieldRowsRun(FieldRows rows, const ConsoleOptions& console, Progress& progress);
  /// Number of rows of whole bands that an earlier run had made.
  [[nodiscard]] std::int64_t resumed() const { return resumed_; }
  /// Rows of the bands that are not written yet.
  [[nodiscard]] std::int64_t missing() const;
  /// Computes and writes the missing bands. Whichever queue is free takes the next; of several, each has a thread.
  void write(const std::vector<Queue>& queues, const Compute& compute);
  /// Renames the file to its output name. Call within an UnfinishedRun.
  void finish();

 private:
  class Bands;
  [[nodiscard]] std::vector<std::int64_t> missing_bands() const;

  FieldRows rows_;
  const ConsoleOptions& console_;
  bool begun_;  ///< unfinished rows of an earlier run existed, of any key
  FieldRowsWriter writer_;
  std::int64_t resumed_;
};

}  // namespace holotone::cli
