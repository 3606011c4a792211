#pragma once
// Files that are removed unless they become complete, and their names. Not for users.
#include <cstdint>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/file_handle_detail.hpp>
#include <string>
#include <string_view>

namespace holotone::io {

/// The file that `path` leads to, its symbolic links resolved where it exists. Throws io as AtomicFile does.
std::string output_target(const std::string& path);

/// Throws cancelled if remove_pending_files() was called: nothing is written any more.
void require_not_ending(const std::string& path);

/// From here to disarm_name(slot) remove_pending_files() removes the file of this name. Throws io if the name is too long or 64
/// are armed already.
int arm_name(const std::string& path);
void disarm_name(int slot) noexcept;

/// An AtomicFile that is written from its beginning to its end.
class AppendedFile {
 public:
  explicit AppendedFile(const std::string& path);
  /// Throws io.
  void append(std::string_view bytes);
  /// Flushes all to the disk: for what took long to make.
  void flush();
  void commit() { target_.commit(); }

 private:
  std::string path_;
  AtomicFile target_;
  FileHandle file_;
  std::uint64_t position_ = 0;
};

}  // namespace holotone::io
