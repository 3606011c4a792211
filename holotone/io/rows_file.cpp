#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/atomic_file_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/rows_file_detail.hpp>
#include <random>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

namespace holotone::io {
namespace {

constexpr std::string_view magic = "HOLOROW1";
constexpr std::uint64_t piece_bytes = std::uint64_t{8} << 20;
constexpr std::uint64_t entry_bytes = 8;

// Journal entry of a row. No row has an entry of zeros, the content of a new file.
std::uint64_t make_entry(std::int64_t row, std::uint32_t checksum) {
  return (std::uint64_t{0x524f5753u ^ static_cast<std::uint32_t>(row)} << 32) | checksum;
}

std::uint32_t checksum_of(std::uint32_t sum, const char* data, std::uint64_t bytes) {
  return static_cast<std::uint32_t>(crc32_z(sum, reinterpret_cast<const Bytef*>(data), bytes));
}

// Checksum of bytes [begin, end) of the file after others of checksum `sum`. A read error is not reported: the
// checksum is then wrong.
std::uint32_t checksum_of_part(const FileHandle& file, std::uint64_t begin, std::uint64_t end, std::uint32_t sum = 0) {
  std::string piece;
  while (begin < end) {
    piece.resize(std::min(piece_bytes, end - begin));
    if (read_at(file, piece.data(), piece.size(), begin) != 0) return ~sum;
    sum = checksum_of(sum, piece.data(), piece.size());
    begin += piece.size();
  }
  return sum;
}

std::string parent_folder(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// What stands where a file is to be; empty: nothing, or a file.
std::string_view obstacle(const std::string& name) {
  struct stat status {};
  if (lstat(name.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return {};
  if (S_ISDIR(status.st_mode)) return "a folder";
  return S_ISLNK(status.st_mode) ? "a link" : "a device, pipe or socket";
}

// Shortens names of the longest permitted length, so that the additions fit. A checksum keeps shortened names distinct.
std::string temporary_name(const std::string& target) {
  const std::filesystem::path path(target);
  std::string stem = path.filename().string();
  if (stem.size() > 200) {
    stem = fmt::format("{}-{:08x}", stem.substr(0, 200), checksum_of(0, stem.data(), stem.size()));
  }
  return (path.parent_path() / fmt::format(".{}.part", stem)).string();
}

}  // namespace

RowsFile::RowsFile(const std::string& path, RowsContent content, bool keep, bool joined)
    : path_(path),
      target_(output_target(path)),
      temporary_(temporary_name(target_)),
      journal_name_(temporary_ + ".rows"),
      content_(std::move(content)),
      keep_(keep),
      joined_(joined),
      done_(static_cast<std::size_t>(content_.rows)) {
  entries_begin_ = journal_head({}).size();
}

// The members are complete: what throws from here on is followed by the destructor.
RowsFile::RowsFile(const std::string& path, RowsContent content, const RowsOptions& options, const Create& create,
                   Progress& progress)
    : RowsFile(path, std::move(content), options.resume, options.joined) {
  if (joined_) {
    join();
    return;
  }
  lock();
  if (!keep_) {
    for (const auto& name : {temporary_, journal_name_}) slots_.push_back(arm_name(name));
  }
  require_not_ending(path_);
  if (!keep_ || !resume(progress)) begin(create);
  reserve_space();
}

RowsFile::RowsFile(const std::string& path, RowsContent content, std::uint64_t beside)
    : RowsFile(path, std::move(content), true, false) {
  lock();
  struct stat journal {};
  worth_keeping_ = fstat(journal_.get(), &journal) == 0 && journal.st_size > 0;
  if (!worth_keeping_) slots_.push_back(arm_name(journal_name_));
  require_not_ending(path_);
  // The rows of an earlier run have their space, whether they are continued or replaced.
  file_ = FileHandle(open(temporary_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  Space space = space_for(rows_bytes());
  space.needed += beside;
  if (space.needed > space.free) throw_full(space);
}

RowsFile::~RowsFile() { leave(); }

void RowsFile::leave() noexcept {
  if (owned_ && !(keep_ && worth_keeping_)) {
    unlink(temporary_.c_str());
    unlink(journal_name_.c_str());
  }
  owned_ = false;
  for (const int slot : slots_) disarm_name(slot);
  slots_.clear();
}

void RowsFile::require_names() const {
  for (const auto& name : {temporary_, journal_name_}) {
    const auto what = obstacle(name);
    if (what.empty()) continue;
    throw_io(path_, fmt::format("'{}' to be absent or a file of an unfinished run", name),
             fmt::format("{}; remove it or take another name", what));
  }
}

// The journal's name must be known to the next run: another user can be the first to make it, or link a file to it.
void RowsFile::require_own_journal() const {
  struct stat status {};
  if (fstat(journal_.get(), &status) != 0) throw_io(path_, "a readable journal of rows", std::strerror(errno));
  if (status.st_uid == geteuid() && status.st_nlink <= 1) return;
  const auto got = status.st_uid == geteuid() ? "one with a second name" : fmt::format("one of user {}", status.st_uid);
  throw_io(path_, fmt::format("'{}' to be absent or a file of an unfinished run", journal_name_),
           fmt::format("{}; remove it or take another name", got));
}

void RowsFile::lock() {
  require_names();
  for (int attempt = 0; attempt < 100; ++attempt) {
    journal_ = FileHandle(open(journal_name_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!journal_.valid()) {
      const int reason = errno;
      const bool is_there = access(journal_name_.c_str(), F_OK) == 0;
      throw_io(path_,
               is_there ? fmt::format("'{}' to be writable", journal_name_)
                        : fmt::format("folder '{}' to be writable", parent_folder(target_)),
               std::strerror(reason));
    }
    require_own_journal();
    if (flock(journal_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) throw_io(path_, "a file system with locks", std::strerror(errno));
      throw_io(path_, "one program writing it", fmt::format("another that holds '{}'", journal_name_));
    }
    // The previous owner may have removed the name between open and flock: the lock would then protect nothing.
    struct stat mine {};
    struct stat named {};
    if (fstat(journal_.get(), &mine) == 0 && lstat(journal_name_.c_str(), &named) == 0 && mine.st_ino == named.st_ino &&
        mine.st_dev == named.st_dev && S_ISREG(mine.st_mode)) {
      owned_ = true;
      return;
    }
  }
  throw_io(path_, fmt::format("to lock '{}'", journal_name_), "100 failures");
}

void RowsFile::join() {
  journal_ = FileHandle(open(journal_name_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (journal_.valid()) require_own_journal();
  std::string token(sizeof token_, '\0');
  const bool read = journal_.valid() && is_continued() &&
                    read_at(journal_, token.data(), token.size(), entries_begin_ + done_.size() * entry_bytes) == 0;
  if (!read) {
    throw_io(path_, "the rows that another process has begun, in one folder for all processes",
             journal_.valid() ? "those of another file or of other options" : std::strerror(errno));
  }
  token_ = load<std::uint64_t>(token.data(), std::endian::little);
}

// The sums protect the other bytes of the file: its head and its tail.
std::string RowsFile::journal_head(const OtherSums& sums) const {
  std::string head(content_.identity);
  store(head, static_cast<std::uint64_t>(content_.rows));
  store(head, content_.row_bytes);
  if (!content_.blank.empty()) store(head, layout_.blank_at);
  for (const std::uint64_t number : {layout_.data_begin, layout_.file_bytes}) store(head, number);
  store(head, sums.head);
  store(head, sums.tail);
  std::string result(magic);
  store(result, static_cast<std::uint64_t>(head.size()));
  store(result, checksum_of(0, head.data(), head.size()));
  return result + head;
}

RowsFile::OtherSums RowsFile::other_sums() const {
  const std::uint64_t end = layout_.data_begin + static_cast<std::uint64_t>(content_.rows) * content_.row_bytes;
  return {sum_of_others(0, layout_.data_begin), sum_of_others(end, layout_.file_bytes)};
}

// The blank counts as it was, so that a run which was stopped between its last two steps is resumed.
std::uint32_t RowsFile::sum_of_others(std::uint64_t begin, std::uint64_t end) const {
  const std::uint64_t at = layout_.blank_at;
  const std::uint64_t size = content_.blank.size();
  if (at == 0 || at < begin || at > end || size > end - at) return checksum_of_part(file_, begin, end);
  return checksum_of_part(file_, at + size, end,
                          checksum_of(checksum_of_part(file_, begin, at), content_.blank.data(), size));
}

// Formats place text where they like: the blank, which no other text of the file contains, is searched.
std::uint64_t RowsFile::find_blank() const {
  std::uint64_t found = 0;
  int times = 0;
  const auto search = [&](std::uint64_t begin, std::uint64_t end) {
    std::string bytes(end - begin, '\0');
    if (const int reason = read_at(file_, bytes.data(), bytes.size(), begin); reason != 0) require_written(reason);
    for (auto at = bytes.find(content_.blank); at != std::string::npos; at = bytes.find(content_.blank, at + 1)) {
      found = begin + at;
      ++times;
    }
  };
  search(0, layout_.data_begin);
  search(layout_.data_begin + rows_bytes(), layout_.file_bytes);
  if (times != 1) throw_io(path_, "a format that stores metadata, for its checksum", extension_of(path_));
  return found;
}

bool RowsFile::resume(Progress& progress) {
  if (!is_continued()) {
    discarded_ = file_.valid();
    return false;
  }
  worth_keeping_ = true;
  check_rows(progress);
  return true;
}

// Opens the rows that the journal is of; false: they are not those of this content.
bool RowsFile::is_continued() {
  file_ = FileHandle(open(temporary_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct stat data {};
  if (!file_.valid() || fstat(file_.get(), &data) != 0 || !S_ISREG(data.st_mode) || data.st_uid != geteuid()) {
    return false;
  }
  std::string head(entries_begin_, '\0');
  if (read_at(journal_, head.data(), head.size(), 0) != 0) return false;
  // The layout is not known in advance: it is read from the journal, and then the whole head must equal the expected
  // one.
  constexpr std::uint64_t after_layout = 2 * sizeof(std::uint32_t);
  const char* const numbers = head.data() + head.size() - after_layout - 2 * sizeof(std::uint64_t);
  layout_ = {load<std::uint64_t>(numbers, std::endian::little), load<std::uint64_t>(numbers + 8, std::endian::little)};
  if (!content_.blank.empty()) layout_.blank_at = load<std::uint64_t>(numbers - 8, std::endian::little);
  const std::uint64_t size = static_cast<std::uint64_t>(content_.rows) * content_.row_bytes;
  return layout_.file_bytes == static_cast<std::uint64_t>(data.st_size) && size <= layout_.file_bytes &&
         layout_.data_begin <= layout_.file_bytes - size && journal_head(other_sums()) == head;
}

void RowsFile::check_rows(Progress& progress) {
  std::vector<std::uint64_t> entries(done_.size());
  std::string raw(entries.size() * entry_bytes, '\0');
  if (read_at(journal_, raw.data(), raw.size(), entries_begin_) != 0) return;
  for (std::size_t row = 0; row < entries.size(); ++row) {
    entries[row] = load<std::uint64_t>(raw.data() + row * entry_bytes, std::endian::little);
  }
  const auto group = static_cast<std::int64_t>(std::max<std::uint64_t>(16 * piece_bytes / content_.row_bytes, 1));
  std::vector<char> same(done_.size());  // bits cannot be set from several threads
  for (std::int64_t begin = 0; begin < content_.rows; begin += group) {
    progress.step("checking rows of the last run", begin, content_.rows);
    parallel_for(begin, std::min(begin + group, content_.rows), [&](std::int64_t row) {
      const std::uint64_t entry = entries[static_cast<std::size_t>(row)];
      if (entry >> 32 != make_entry(row, 0) >> 32) return;
      const std::uint64_t at = position_of(row);
      const std::uint32_t sum = checksum_of_part(file_, at, at + content_.row_bytes);
      same[static_cast<std::size_t>(row)] = entry == make_entry(row, sum) ? 1 : 0;
    });
  }
  std::copy(same.begin(), same.end(), done_.begin());
}

void RowsFile::begin(const Create& create) {
  file_ = FileHandle();
  layout_ = {};
  if (ftruncate(journal_.get(), 0) != 0) throw_io(path_, "to be writable", std::strerror(errno));
  if (unlink(temporary_.c_str()) != 0 && errno != ENOENT) {
    throw_io(path_, fmt::format("'{}' of another run to be removable", temporary_), std::strerror(errno));
  }
  const Space space = space_for(rows_bytes());
  if (space.needed > space.free) throw_full(space);
  file_ = FileHandle(open(temporary_.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0666));
  if (!file_.valid()) throw_io(path_, "to be writable", std::strerror(errno));
  struct stat existing {};
  // Writable by its owner, so that a stopped run can be resumed.
  if (stat(target_.c_str(), &existing) == 0) (void)!fchmod(file_.get(), (existing.st_mode & 0777) | S_IWUSR);
  layout_ = create(temporary_, file_);
  if (!content_.blank.empty()) layout_.blank_at = find_blank();
  const std::string head = journal_head(other_sums());
  require_written(write_at(journal_, head.data(), head.size(), 0));
  if (ftruncate(journal_.get(), static_cast<off_t>(head.size() + done_.size() * entry_bytes)) != 0) {
    require_written(errno);
  }
}

// The token follows the entries.
std::uint64_t RowsFile::journal_bytes() const { return entries_begin_ + done_.size() * entry_bytes + sizeof token_; }

// Space still to be allocated for a file of `bytes` in all and its journal, and free space.
RowsFile::Space RowsFile::space_for(std::uint64_t bytes) const {
  const auto missing = [](const FileHandle& file, std::uint64_t all) {
    constexpr std::uint64_t block = 4096;  // of most file systems
    const std::uint64_t blocks = (all + block - 1) / block * block;
    struct stat status {};
    if (!file.valid() || fstat(file.get(), &status) != 0) return blocks;
    return blocks - std::min(static_cast<std::uint64_t>(status.st_blocks) * 512, blocks);
  };
  std::error_code error;
  const auto space = std::filesystem::space(parent_folder(target_), error);
  const bool known = !error && space.capacity > 0;  // some network file systems report no capacity
  return {missing(file_, bytes) + missing(journal_, journal_bytes()), known ? space.available : UINT64_MAX};
}

void RowsFile::throw_full(const Space& space) const {
  const auto text = [](std::uint64_t bytes) { return format_bytes(static_cast<double>(bytes)); };
  const std::string folder = parent_folder(target_);
  if (space.needed > space.free) {
    throw_io(path_, fmt::format("{} of free space in '{}'", text(space.needed), folder),
             fmt::format("{} ({} missing)", text(space.free), text(space.needed - space.free)));
  }
  const std::string more = space.needed > 0 ? fmt::format("{} more to fit", text(space.needed)) : "space";
  throw_io(path_, fmt::format("{} in '{}'", more, folder), "a full disk or a quota that is used up");
}

void RowsFile::require_written(int reason) const {
  if (reason == ENOSPC || reason == EDQUOT) throw_full(space_for(layout_.file_bytes));
  if (reason == 0) return;
  throw_io(path_, fmt::format("{} to be written", format_bytes(static_cast<double>(layout_.file_bytes))),
           std::strerror(reason));
}

// Reports a disk that is too full now, not after hours. File systems that cannot reserve space report it later.
void RowsFile::reserve_space() const {
  const Space space = space_for(layout_.file_bytes);
  if (space.needed > space.free) throw_full(space);
#if defined(__linux__)
  const auto reserve = [&](const FileHandle& file, int mode, std::uint64_t bytes) {
    int reason = 0;
    do {
      reason = fallocate(file.get(), mode, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
    } while (reason == EINTR);
    if (reason == ENOSPC || reason == EDQUOT || reason == EFBIG) require_written(reason);
  };
  reserve(file_, 0, layout_.file_bytes);
  reserve(journal_, FALLOC_FL_KEEP_SIZE, journal_bytes());
#endif
}

std::int64_t RowsFile::rows_done() const { return std::find(done_.begin(), done_.end(), false) - done_.begin(); }

void RowsFile::write(std::int64_t first_row, std::span<const char> bytes) {
  require_not_ending(path_);
  const std::uint64_t row_bytes = content_.row_bytes;
  const auto rows = static_cast<std::int64_t>(bytes.size() / row_bytes);
  const auto group = static_cast<std::int64_t>(std::max<std::uint64_t>(piece_bytes / row_bytes, 1));
  std::vector<std::uint64_t> entries;
  std::string raw;
  for (std::int64_t begin = 0; begin < rows; begin += group) {
    const std::int64_t count = std::min(group, rows - begin);
    const char* const data = bytes.data() + static_cast<std::uint64_t>(begin) * row_bytes;
    const std::int64_t first = first_row + begin;
    const auto place = done_.begin() + first;
    std::fill(place, place + count, false);
    const std::uint64_t data_bytes = static_cast<std::uint64_t>(count) * row_bytes;
    require_written(write_at(file_, data, data_bytes, position_of(first)));
    begin_flush(file_, data_bytes, position_of(first));
    entries.resize(static_cast<std::size_t>(count));
    parallel_for(0, count, [&](std::int64_t row) {
      const std::uint32_t sum = checksum_of(0, data + static_cast<std::uint64_t>(row) * row_bytes, row_bytes);
      entries[static_cast<std::size_t>(row)] = make_entry(first + row, sum);
    });
    raw.clear();
    for (const std::uint64_t entry : entries) store(raw, entry);
    require_written(
        write_at(journal_, raw.data(), raw.size(), entries_begin_ + static_cast<std::uint64_t>(first) * entry_bytes));
    std::fill(place, place + count, true);
    worth_keeping_ = true;
  }
}

std::uint64_t RowsFile::token() {
  if (joined_) return token_;
  std::random_device random;
  token_ = std::uint64_t{random()} << 32 | random();
  std::string bytes;
  store(bytes, token_);
  require_written(write_at(journal_, bytes.data(), bytes.size(), entries_begin_ + done_.size() * entry_bytes));
  return token_;
}

void RowsFile::set_done(std::int64_t first_row, std::int64_t rows) {
  std::fill_n(done_.begin() + first_row, rows, true);
  worth_keeping_ = true;
}

std::uint32_t RowsFile::checksum(std::int64_t first_row, std::int64_t rows) const {
  std::string raw(static_cast<std::size_t>(rows) * entry_bytes, '\0');
  const std::uint64_t begin = entries_begin_ + static_cast<std::uint64_t>(first_row) * entry_bytes;
  if (read_at(journal_, raw.data(), raw.size(), begin) != 0) raw.assign(raw.size(), '\0');
  std::uint32_t sum = 0;
  for (std::int64_t row = first_row; row < first_row + rows; ++row) {
    const auto* const at = raw.data() + static_cast<std::uint64_t>(row - first_row) * entry_bytes;
    const auto entry = load<std::uint64_t>(at, std::endian::little);
    auto bits = static_cast<std::uint32_t>(entry);
    // A network file system may still hide the entry of another process.
    if (entry != make_entry(row, bits)) {
      bits = checksum_of_part(file_, position_of(row), position_of(row) + content_.row_bytes);
    }
    sum = static_cast<std::uint32_t>(crc32_combine(sum, bits, static_cast<z_off_t>(content_.row_bytes)));
  }
  return sum;
}

void RowsFile::flush() {
  if (fsync(file_.get()) != 0) require_written(errno);
}

void RowsFile::finish() {
  require_not_ending(path_);
  flush();
  if (!joined_ && !content_.blank.empty()) {
    const auto text = fmt::format("{:08x}", checksum(0, content_.rows));
    require_written(write_at(file_, text.data(), text.size(), layout_.blank_at));
    flush();
  }
  if (joined_) {
    if (fsync(journal_.get()) != 0) require_written(errno);
    return;
  }
  struct stat existing {};
  if (stat(target_.c_str(), &existing) == 0) (void)!fchmod(file_.get(), existing.st_mode & 0777);
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
    throw_io(path_, "to be replaceable", std::strerror(errno));
  }
  unlink(journal_name_.c_str());
  owned_ = false;
  leave();
  // The new name is on the disk only after its folder is flushed, which not every file system supports.
  const FileHandle folder(open(parent_folder(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.valid()) (void)!fsync(folder.get());
}

}  // namespace holotone::io
