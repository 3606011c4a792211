#pragma once
#include <cli/common/console.hpp>
#include <functional>
#include <holotone/core/device.hpp>
#include <holotone/io/field_rows.hpp>
#include <holotone/optics/field.hpp>
#include <string>

namespace holotone::cli {

/// A field that is computed and written some rows at a time.
struct FieldRows {
  std::string output;
  Shape<2> shape;
  Metadata metadata;
  std::string key;  ///< what the rows are made from: see FieldRowsOptions
  std::int64_t rows_at_once = 1;
  std::int64_t step = 1;  ///< a run that goes on begins at a multiple of so many rows
};

/// Writes such a field to a temporary name. What a run that failed or was stopped has made stays there, and the next of
/// the same key goes on from it; so does one that was written wholly and never finished.
class FieldRowsRun {
 public:
  /// Computes rows first_row to first_row + part.shape()[0] - 1 on the queue's device.
  using Compute = std::function<void(std::int64_t first_row, View<Complex, 2> part)>;

  FieldRowsRun(FieldRows rows, const ConsoleOptions& console, Progress& progress);
  /// Rows that an earlier run had made.
  [[nodiscard]] std::int64_t resumed() const { return resumed_; }
  void write(const Queue& queue, const Compute& compute);
  /// Renames. To be called within an UnfinishedRun.
  void finish();

 private:
  FieldRows rows_;
  const ConsoleOptions& console_;
  bool begun_;  ///< something had been made before, whatever it was
  FieldRowsWriter writer_;
  std::int64_t resumed_;
};

}  // namespace holotone::cli
