#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace holotone {

/// A file that appears under its name only when complete: writers write to temporary_path(), then commit()
/// renames.
///
/// The temporary lies in the target's folder, so that the rename never crosses a file system; it has the
/// permissions of the file it replaces, or those the umask gives a new one. Without commit the destructor
/// removes it. A symbolic link is followed: the file it points to is replaced.
class AtomicFile {
 public:
  /// Creates the empty temporary. Throws io if the folder does not exist (naming it) or cannot be written, if
  /// `path` names a folder or a device, or if 64 files are being written already.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  [[nodiscard]] const std::string& temporary_path() const { return temporary_path_; }
  /// Renames the temporary to the target. Throws io. May be called once.
  void commit();

 private:
  std::string path_;
  std::string temporary_path_;
  int slot_ = -1;
};

/// Writes `bytes` atomically. Throws io.
void write_file(const std::string& path, std::string_view bytes);

/// Writes atomically what `next` appends to its argument, piece by piece, until it returns false; each piece begins
/// empty. Throws io, and what `next` throws.
void write_file(const std::string& path, const std::function<bool(std::string&)>& next);

/// Removes the temporary of every AtomicFile of this process and makes later AtomicFiles throw.
/// Async-signal-safe: it is what a signal handler calls before _exit().
void remove_pending_files() noexcept;

}  // namespace holotone
