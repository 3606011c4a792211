#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace holotone {

/// A file that appears under its name only when complete: writers write to temporary_path() or descriptor(), then
/// commit() renames.
///
/// The temporary is in the target's folder, so that the rename never crosses a file system. Its name is random. It has
/// the permissions of the file it replaces, or those of the umask for a new one. Without commit the destructor removes
/// it. A symbolic link is followed: its target is replaced.
class AtomicFile {
 public:
  /// Creates the empty temporary. Throws io if the folder does not exist (with its name) or is not writable, if `path`
  /// is a folder or a device, or if 64 files are open for writing already.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  [[nodiscard]] const std::string& temporary_path() const { return temporary_path_; }
  /// The temporary, open for reading and writing until the destructor: also where others may write to the folder, no
  /// file of theirs takes its place.
  [[nodiscard]] int descriptor() const { return file_; }
  /// Renames the temporary to the target. Throws io. May be called once.
  void commit();

 private:
  std::string path_;
  std::string temporary_path_;
  int slot_ = -1;
  int file_ = -1;
};

/// Writes `bytes` atomically. Throws io.
void write_file(const std::string& path, std::string_view bytes);

/// Writes atomically the pieces that `next` appends to its argument until it returns false; each piece begins empty.
/// Throws io, and the exceptions of `next`.
void write_file(const std::string& path, const std::function<bool(std::string&)>& next);

/// Removes the temporary of every AtomicFile of this process and makes later AtomicFiles throw. Async-signal-safe: a
/// signal handler calls it before _exit().
void remove_pending_files() noexcept;

}  // namespace holotone
