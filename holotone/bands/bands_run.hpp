#pragma once
#include <complex>
#include <functional>
#include <holotone/bands/band_memory.hpp>
#include <holotone/bands/ranks.hpp>
#include <holotone/core/array.hpp>
#include <holotone/core/device.hpp>
#include <holotone/core/error.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/core/progress.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Fields and codes larger than memory: bands of rows, which devices and processes compute in turn, in a file that a
// stopped run leaves to be resumed.
namespace holotone {

/// Field or codes that are computed and written by bands of rows, in any order.
struct BandsFile {
  std::string output;             ///< .h5 or .npy of a field, .tif or .npy of codes
  Shape<2> shape{};               ///< {ny, nx}
  Metadata metadata{};            ///< written with the rows
  std::string key{};              ///< identity of the rows: RowsOptions::key
  std::int64_t rows_at_once = 1;  ///< rows of a band, at least 1
  std::string stage{};            ///< for the progress: "summing points by bands of rows"
  std::string checksum_key{};     ///< RowsOptions::checksum_key
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

/// State of a run, between bands and within them.
struct BandsState {
  std::int64_t done_rows = 0;       ///< of those that were missing
  std::int64_t missing_rows = 0;    ///< when the run began to write
  std::int64_t columns = 0;         ///< pixels of a row
  double seconds = 0;               ///< since then
  std::optional<Device> slowest{};  ///< of several devices
  double slowest_rate = 0;          ///< its pixels a second
};

struct BandsOptions {
  Ranks* ranks = nullptr;        ///< the processes of the job; none: one process
  BandMemory* memory = nullptr;  ///< keeps the bands' memory for the next run; none: memory of the run's own
  /// Called in the first process if rows of another key or version were found and discarded.
  std::function<void(const std::string& output)> on_discarded{};
  /// Called in the first process if there are fewer missing bands than processes.
  std::function<void(std::int64_t bands, int processes)> on_idle_processes{};
  /// Called before each report to the progress, by one thread at a time.
  std::function<void(const BandsState&)> on_state{};
  /// Called in the first process if write() fails and some rows of whole bands are in the file: a run of the same key
  /// resumes them. May throw another error instead.
  std::function<void(const Error& failure, std::int64_t kept_rows, std::int64_t rows)> on_failure{};
  /// Called before the file appears under its name.
  std::function<void(const std::string& output)> before_output{};
};

/// Writes such a file to a temporary name. Rows of a failed or stopped run stay there, and the next run of the same
/// key resumes from them. A run that was written completely but not renamed is resumed too. With several processes all
/// write one file; every member is then called in all of them, and throws the same error in all.
///
/// A file's bits depend neither on the number of devices and processes nor on the order of bands, if `compute` gives
/// the same rows for any band. Host memory: one band for each queue and one that is written; a device's band on it.
/// Value: std::complex<float> (a field, FieldRowsWriter), std::uint8_t or std::uint16_t (codes, CodeRowsWriter).
template <class Value>
class BandsRun {
 public:
  /// Computes rows first_row to first_row + part.shape()[0] - 1 on the device of queue `device`, with that queue. The
  /// progress counts any units of this band.
  using Compute =
      std::function<void(std::size_t device, std::int64_t first_row, View<Value, 2> part, Progress& progress)>;

  /// Opens the file or resumes it. `progress` is reported to by one thread at a time, not always the caller's, and must
  /// outlive the run. Throws invalid_argument for rows_at_once < 1; what the writers throw.
  BandsRun(BandsFile file, const BandsOptions& options, Progress& progress);
  ~BandsRun();
  BandsRun(const BandsRun&) = delete;
  BandsRun& operator=(const BandsRun&) = delete;

  /// Number of rows of whole bands that an earlier run had made.
  [[nodiscard]] std::int64_t resumed() const;
  /// Rows of whole bands in the file, which a run of the same key would resume; in the first process.
  [[nodiscard]] std::int64_t kept_rows() const;
  /// Computes and writes the missing bands. Whichever queue of whichever process is free takes the next. A band is
  /// written while the next is computed. Each of several queues has a thread, and its share of the processors. Throws
  /// the first error of compute or the writer; cancelled if the progress cancels.
  void write(const std::vector<Queue>& queues, const Compute& compute);
  [[nodiscard]] const BandRates& rates() const;
  /// Renames the file to its output name.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holotone
