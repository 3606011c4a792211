#pragma once
#include <string>
#include <string_view>

namespace holotone {

/// A file that appears under its name only when complete: writers write to temporary_path(), then commit() renames.
/// Without commit the temporary is removed.
class AtomicFile {
 public:
  /// Throws io if the folder does not exist or is not writable.
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  [[nodiscard]] const std::string& temporary_path() const { return temporary_path_; }
  void commit();

 private:
  std::string path_;
  std::string temporary_path_;
  bool committed_ = false;
};

/// Writes `bytes` atomically.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace holotone
