#pragma once
#include <cli/common/paths.hpp>
#include <holotone/core/error.hpp>
#include <string>
#include <string_view>

namespace holotone::cli {

/// A folder of files that appears under its name only when all of them are complete: until commit() it stands beside
/// that name as `.NAME.PID.part`, or in an empty folder that is there already, and without commit() it is removed, on a
/// signal too. What programs that were killed left of the same name is removed first: a lock on the folder tells it
/// from a running one's.
class NewFolder {
 public:
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  /// Throws, naming `option`, for a folder that holds something, a file of that name, and a place that cannot be
  /// written.
  NewFolder(std::string_view option, const std::string& path);
  /// As the user named it.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Makes a folder in it.
  void add_folder(const std::string& name) const;
  /// The path to write a file of it at. May be called from several threads.
  [[nodiscard]] std::string file(const std::string& name) const;
  /// Throws io where the folder cannot take its name.
  void commit();
  /// An error of a file in it, which then has the name that it would have had.
  [[nodiscard]] Error named(const Error& error) const;

 private:
  UnfinishedRun unfinished_;
  std::string path_;
  std::string temporary_;
  bool existing_ = false;  ///< an empty folder takes the files
  int lock_ = -1;          ///< on the temporary folder
};

}  // namespace holotone::cli
