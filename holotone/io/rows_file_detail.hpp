#pragma once
// A file written by rows of equal length and renamed when complete, and its journal. Not for users.
#include <cstdint>
#include <functional>
#include <holotone/core/progress.hpp>
#include <holotone/io/file_handle_detail.hpp>
#include <span>
#include <string>
#include <vector>

namespace holotone::io {

/// Identity of a file's rows: `rows` of row_bytes each, and text that distinguishes them from others.
struct RowsContent {
  std::string identity;
  std::int64_t rows = 0;
  std::uint64_t row_bytes = 0;
};

/// Position of the rows in a file whose other bytes are already written.
struct RowsLayout {
  std::uint64_t data_begin = 0;
  std::uint64_t file_bytes = 0;
};

/// `.NAME.part` holds the rows. `.NAME.part.rows` holds the content's identity, then 8 bytes per row: the checksum of a
/// complete row. A row is complete if its bytes have that checksum, so that the order of writes to the disk does not
/// matter.
class RowsFile {
 public:
  using Create = std::function<RowsLayout(const std::string& temporary, const FileHandle& file)>;
  /// `keep`: continue rows of the same content, and keep unfinished rows. `create` writes everything but the rows to
  /// the open, empty file, by its name or its handle. Throws as FieldRowsWriter does.
  RowsFile(const std::string& path, RowsContent content, bool keep, const Create& create, Progress& progress);
  ~RowsFile();
  RowsFile(const RowsFile&) = delete;
  RowsFile& operator=(const RowsFile&) = delete;

  [[nodiscard]] bool is_done(std::int64_t row) const { return done_[static_cast<std::size_t>(row)]; }
  [[nodiscard]] std::int64_t rows_done() const;
  /// Writes whole rows.
  void write(std::int64_t first_row, std::span<const char> bytes);
  void finish();

 private:
  struct OtherSums {
    std::uint32_t head = 0;
    std::uint32_t tail = 0;
  };
  struct Space {
    std::uint64_t needed = 0;
    std::uint64_t free = 0;
  };
  void lock();
  bool resume(Progress& progress);
  void check_rows(Progress& progress);
  void begin(const Create& create);
  void reserve_space() const;
  void leave() noexcept;
  [[nodiscard]] Space space_for(std::uint64_t bytes) const;
  [[noreturn]] void throw_full(const Space& space) const;
  void require_written(int reason) const;
  [[nodiscard]] std::string journal_head(const OtherSums& sums) const;
  [[nodiscard]] OtherSums other_sums() const;
  [[nodiscard]] std::uint64_t position_of(std::int64_t row) const {
    return layout_.data_begin + static_cast<std::uint64_t>(row) * content_.row_bytes;
  }

  std::string path_;
  std::string target_;
  std::string temporary_;
  std::string journal_name_;
  RowsContent content_;
  bool keep_;
  std::vector<bool> done_;
  RowsLayout layout_;
  std::uint64_t entries_begin_ = 0;
  FileHandle journal_;
  FileHandle file_;
  std::vector<int> slots_;
  bool owned_ = false;          // locked: this object may remove the names
  bool worth_keeping_ = false;  // a row was written, in this run or an earlier one
};

}  // namespace holotone::io
