#pragma once
// Files that are removed unless completed, and their names. Not for users.
#include <cstdint>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/file_handle_detail.hpp>
#include <string>
#include <string_view>

namespace holotone::io {

/// File that `path` resolves to, after symbolic links if it exists. Throws io as AtomicFile does.
std::string output_target(const std::string& path);

/// Throws cancelled if remove_pending_files() was called, after which no file may be written.
void require_not_ending(const std::string& path);

/// Registers a name: until disarm_name(slot), remove_pending_files() removes the file of this name. Throws io if the
/// name is too long or 64 names are registered already.
int arm_name(const std::string& path);
void disarm_name(int slot) noexcept;

/// An AtomicFile written sequentially.
class AppendedFile {
 public:
  explicit AppendedFile(const std::string& path);
  /// Throws io.
  void append(std::string_view bytes);
  /// Flushes everything to the disk; for results that took long to compute.
  void flush();
  void commit() { target_.commit(); }

 private:
  std::string path_;
  AtomicFile target_;
  FileHandle file_;
  std::uint64_t position_ = 0;
};

}  // namespace holotone::io
