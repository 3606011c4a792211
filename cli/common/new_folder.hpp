#pragma once
#include <cli/common/paths.hpp>
#include <holotone/core/error.hpp>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace holotone::cli {

/// A folder that appears under its name only when all its files are complete. Until commit() it is
/// `.NAME.PID-DIGITS.part`, for this user alone, beside that name, or inside it if that folder exists and is empty.
/// Without commit() it is removed, also on a signal. Leftovers of killed programs under the same name are removed
/// first: a lock distinguishes them from folders of running programs.
class NewFolder {
 public:
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  /// Throws, naming `option`, if the folder is not empty, a file has that name, or the location is not writable.
  NewFolder(std::string_view option, const std::string& path);
  /// Path as the user named it.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Creates a subfolder.
  void add_folder(const std::string& name) const;
  /// Path for writing a file in the folder. May be called from several threads.
  [[nodiscard]] std::string file(const std::string& name) const;
  /// Throws io if the folder cannot be renamed.
  void commit();
  /// The error with the temporary path replaced by the final one.
  [[nodiscard]] Error named(const Error& error) const;

 private:
  UnfinishedRun unfinished_;
  std::string path_;
  std::string temporary_;
  bool existing_ = false;  ///< the files go into an existing empty folder
  mode_t final_mode_ = 0700;
  int lock_ = -1;  ///< on the temporary folder
};

}  // namespace holotone::cli
