#pragma once
// A file written by rows of equal length that is renamed when complete, and its journal. Not for users.
#include <cstdint>
#include <functional>
#include <holotone/core/progress.hpp>
#include <holotone/io/file_handle_detail.hpp>
#include <span>
#include <string>
#include <vector>

namespace holotone::io {

/// Of what is written: rows of row_bytes each, and everything that tells these rows from others.
struct RowsContent {
  std::string identity;
  std::int64_t rows = 0;
  std::uint64_t row_bytes = 0;
};

/// Where the rows lie in a file in which everything else is written already.
struct RowsLayout {
  std::uint64_t data_begin = 0;
  std::uint64_t file_bytes = 0;
};

/// `.NAME.part`, where rows are put, and `.NAME.part.rows`: the content's identity, then 8 bytes a row, which are the row's
/// checksum once it is complete. A row counts if its bytes have that checksum, so that nothing need reach the disk in any
/// order.
class RowsFile {
 public:
  using Create = std::function<RowsLayout(const std::string& temporary, const FileHandle& file)>;
  /// `keep`: continue what is there of the same content, and leave what does not become finished. `create` writes everything
  /// but the rows to the open, empty file, by its name or itself. Throws as FieldRowsWriter does.
  RowsFile(const std::string& path, RowsContent content, bool keep, const Create& create, Progress& progress);
  ~RowsFile();
  RowsFile(const RowsFile&) = delete;
  RowsFile& operator=(const RowsFile&) = delete;

  [[nodiscard]] bool is_done(std::int64_t row) const { return done_[static_cast<std::size_t>(row)]; }
  [[nodiscard]] std::int64_t rows_done() const;
  /// Whole rows.
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
  bool owned_ = false;          // locked: the names are this object's to remove
  bool worth_keeping_ = false;  // a row was written, in this run or one before
};

}  // namespace holotone::io
