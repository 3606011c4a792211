#pragma once
// A file written by rows of equal length and renamed when complete, and its journal. Not for users.
#include <bit>
#include <cstdint>
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_handle_detail.hpp>
#include <holotone/io/rows_options.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

/// Identity of a file's rows: `rows` of row_bytes each, and text that distinguishes them from others.
struct RowsContent {
  std::string identity;
  std::int64_t rows = 0;
  std::uint64_t row_bytes = 0;
  /// Text before or after the rows that finish() replaces by their checksum; empty: none.
  std::string blank = {};
};

/// Position of the rows in a file whose other bytes are already written.
struct RowsLayout {
  std::uint64_t data_begin = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t blank_at = 0;  ///< position of RowsContent::blank; 0: none
};

/// `.NAME.part` holds the rows. `.NAME.part.rows` holds the content's identity, then 8 bytes per row: the checksum of a
/// complete row; behind them, if processes share the file, a random token by which they know that it is one file. A row
/// is complete if its bytes have that checksum, so that the order of writes to the disk does not matter.
class RowsFile {
 public:
  using Create = std::function<RowsLayout(const std::string& temporary, const FileHandle& file)>;
  /// `create` writes everything but the rows to the open, empty file, by its name or its handle. Throws as
  /// FieldRowsWriter does.
  RowsFile(const std::string& path, RowsContent content, const RowsOptions& options, const Create& create,
           Progress& progress);
  /// Holds the names of a file whose rows are to be written later, and checks now what would hinder that: another
  /// writer, names that are taken, too little space for it and for `beside` bytes of others. Removes nothing that may
  /// be resumed. To be destroyed before the file is written.
  RowsFile(const std::string& path, RowsContent content, std::uint64_t beside);
  ~RowsFile();
  RowsFile(const RowsFile&) = delete;
  RowsFile& operator=(const RowsFile&) = delete;

  [[nodiscard]] bool is_done(std::int64_t row) const { return done_[static_cast<std::size_t>(row)]; }
  [[nodiscard]] std::int64_t rows_done() const;
  /// Bytes of the disk that the file without its head, and its journal, still need.
  [[nodiscard]] std::uint64_t bytes_needed() const { return space_for(rows_bytes()).needed; }
  /// The token: a joined file's, else a new one.
  std::uint64_t token();
  /// True if unfinished rows of another content were discarded.
  [[nodiscard]] bool discarded() const { return discarded_; }
  /// Writes whole rows.
  void write(std::int64_t first_row, std::span<const char> bytes);
  void set_done(std::int64_t first_row, std::int64_t rows);
  /// CRC-32 of the bytes of complete rows.
  [[nodiscard]] std::uint32_t checksum(std::int64_t first_row, std::int64_t rows) const;
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
  RowsFile(const std::string& path, RowsContent content, bool keep, bool joined);
  void require_names() const;
  void require_own_journal() const;
  void lock();
  void join();
  bool resume(Progress& progress);
  bool is_continued();
  void check_rows(Progress& progress);
  void begin(const Create& create);
  void reserve_space() const;
  void leave() noexcept;
  [[nodiscard]] std::uint64_t rows_bytes() const {
    return static_cast<std::uint64_t>(content_.rows) * content_.row_bytes;
  }
  [[nodiscard]] std::uint64_t journal_bytes() const;
  [[nodiscard]] Space space_for(std::uint64_t bytes) const;
  [[noreturn]] void throw_full(const Space& space) const;
  void require_written(int reason) const;
  [[nodiscard]] std::string journal_head(const OtherSums& sums) const;
  [[nodiscard]] OtherSums other_sums() const;
  [[nodiscard]] std::uint32_t sum_of_others(std::uint64_t begin, std::uint64_t end) const;
  [[nodiscard]] std::uint64_t find_blank() const;
  void flush();
  [[nodiscard]] std::uint64_t position_of(std::int64_t row) const {
    return layout_.data_begin + static_cast<std::uint64_t>(row) * content_.row_bytes;
  }

  std::string path_;
  std::string target_;
  std::string temporary_;
  std::string journal_name_;
  RowsContent content_;
  bool keep_;
  bool joined_;
  std::vector<bool> done_;
  RowsLayout layout_;
  std::uint64_t entries_begin_ = 0;
  std::uint64_t token_ = 0;
  bool discarded_ = false;
  FileHandle journal_;
  FileHandle file_;
  std::vector<int> slots_;
  bool owned_ = false;          // locked: this object may remove the names
  bool worth_keeping_ = false;  // a row was written, in this run or an earlier one
};

/// What the writers of fields and codes by rows share.
class RowsWriter {
 public:
  /// RowsFile::Create, of a file with this metadata.
  using Create =
      std::function<RowsLayout(const std::string& temporary, const FileHandle& file, const Metadata& metadata)>;
  /// What a file holds: `name` the writer's class, for messages; `kind` distinguishes formats and types of values.
  struct Content {
    std::string_view name;
    std::string kind;
    Shape<2> shape;
    std::uint64_t value_bytes = 0;
  };
  RowsWriter(const std::string& path, const Content& content, const Metadata& metadata, const RowsOptions& options,
             const Create& create, Progress& progress);

  [[nodiscard]] Shape<2> shape() const { return shape_; }
  [[nodiscard]] std::int64_t rows_done() const { return file_.rows_done(); }
  [[nodiscard]] bool is_done(std::int64_t row) const;
  std::uint64_t token() { return file_.token(); }
  [[nodiscard]] bool discarded() const { return file_.discarded(); }
  /// `bytes`: of `rows` {n, nx} values.
  void write(std::int64_t first_row, Shape<2> rows, std::span<const char> bytes);
  void set_done(std::int64_t first_row, std::int64_t rows);
  [[nodiscard]] std::uint32_t checksum(std::int64_t first_row, std::int64_t rows) const;
  void finish();

 private:
  /// Metadata with what stands for the checksum.
  struct Described {
    Metadata metadata;
  };
  RowsWriter(const Described& described, const std::string& path, const Content& content, const RowsOptions& options,
             const Create& create, Progress& progress);

  std::string name_;
  Shape<2> shape_;
  bool joined_;
  RowsFile file_;
  bool finished_ = false;
};

/// Throws invalid_argument naming `where` unless `rows` {n, nx} from `first_row` are inside a field {ny, nx}.
void check_rows_of_field(std::string_view where, Shape<2> field, std::int64_t first_row, Shape<2> rows);

/// Writes `header`, which rows of `bytes` in all follow, to a new file.
RowsLayout create_with_header(const FileHandle& file, std::string_view header, std::uint64_t bytes,
                              const std::string& path);

/// The bytes of numbers in memory as a file holds them, little-endian; `swapped`: memory for them where needed.
template <class T>
std::span<const char> file_bytes_of(std::span<const T> values, std::string& swapped) {
  if constexpr (std::endian::native == std::endian::little) {
    return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
  } else {
    for (const T value : values) store(swapped, value);
    return swapped;
  }
}

}  // namespace holotone::io
