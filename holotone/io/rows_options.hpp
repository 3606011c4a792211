#pragma once
#include <string>

namespace holotone {

/// Options of FieldRowsWriter and CodeRowsWriter.
struct RowsOptions {
  /// Identity of the rows: every parameter that changes them, as text or as a hash. Rows of another key are never
  /// continued.
  std::string key = {};
  /// Continue an unfinished run of the same key, shape and metadata, and keep unfinished rows of this one. Otherwise
  /// unfinished rows are removed, unless the process is killed.
  bool resume = false;
  /// Another process has opened the file with the same arguments and `resume`, and finishes it: this writer adds rows
  /// to it, which the other learns by set_done. Its finish() only flushes them to the disk.
  bool joined = false;
  /// Metadata key that holds the CRC-32 of all rows (ISO 3309, 8 hexadecimal digits), which finish() adds. Empty: none.
  std::string checksum_key = {};
};

}  // namespace holotone
