#pragma once
#include <cli/common/console.hpp>
#include <complex>
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/core/device.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/core/progress.hpp>
#include <memory>
#include <string>
#include <vector>

namespace holotone::cli {

/// Field or codes that are computed and written by bands of rows, in any order.
struct BandedFile {
  std::string output;
  Shape<2> shape;
  Metadata metadata;
  std::string key;                ///< identity of the rows: RowsOptions::key
  std::int64_t rows_at_once = 1;  ///< rows of a band
  std::string stage;              ///< for the progress bar: "summing points by bands of rows"
  std::string more_bands = {};    ///< "; --rows-at-once makes more": how to, for messages
  std::string checksum_key = {};  ///< RowsOptions::checksum_key
};

/// What several devices have done.
struct BandRates {
  std::int64_t pixels = 0;       ///< computed by this run, in all processes
  double seconds = 0;            ///< from the first band to the last one written
  double device_seconds = 0;     ///< of it, spent computing by the device of this process that computed longest
  double write_seconds = 0;      ///< of it, spent writing by this process
  std::int64_t write_bytes = 0;  ///< written by this process
  std::size_t slowest = 0;       ///< device of this process with the fewest pixels a second
  double slowest_rate = 0;       ///< its pixels a second; 0: it computed nothing
};

/// Writes such a file to a temporary name. Rows of a failed or stopped run stay there, and the next run of the same
/// key resumes from them. A run that was written completely but not renamed is resumed too. Under mpirun all processes
/// write one file; every member is then called in all of them.
/// Value: std::complex<float> (a field, FieldRowsWriter), std::uint8_t or std::uint16_t (codes, CodeRowsWriter).
template <class Value>
class RowsRun {
 public:
  /// Computes rows first_row to first_row + part.shape()[0] - 1 on the device of queue `device`. The progress counts
  /// any units of this band.
  using Compute =
      std::function<void(std::size_t device, std::int64_t first_row, View<Value, 2> part, Progress& progress)>;

  RowsRun(BandedFile file, const ConsoleOptions& console, ProgressBar& progress);
  ~RowsRun();
  RowsRun(const RowsRun&) = delete;
  RowsRun& operator=(const RowsRun&) = delete;
  /// Number of rows of whole bands that an earlier run had made.
  [[nodiscard]] std::int64_t resumed() const;
  /// Computes and writes the missing bands. Whichever queue of whichever process is free takes the next. A band is
  /// written while the next is computed. Each of several queues has a thread, and its share of the processors.
  void write(const std::vector<Queue>& queues, const Compute& compute);
  [[nodiscard]] const BandRates& rates() const;
  /// Renames the file to its output name. Call within an UnfinishedRun.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// "1.2 gigapixels a second; 9.8 GB written at 1.1 GB/s; cuda:1 is the slowest of 2 devices, 0.55" for large files of
/// several bands; else empty.
std::string text_of(const BandRates& rates, const std::vector<Device>& devices);

}  // namespace holotone::cli
