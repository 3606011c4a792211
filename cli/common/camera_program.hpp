#pragma once
#include <cli/common/console.hpp>
#include <holotone/io/images/image.hpp>
#include <string>

namespace holotone::cli {

/// Camera of --camera: a command that shows codes on a panel and writes a picture of the light to its standard output.
class CameraProgram {
 public:
  /// `command`: for /bin/sh; each %s becomes the file of the codes.
  CameraProgram(std::string command, double timeout_s, const ConsoleOptions& console);
  ~CameraProgram();
  CameraProgram(const CameraProgram&) = delete;
  CameraProgram& operator=(const CameraProgram&) = delete;

  /// File to write the codes to; removed with this object.
  [[nodiscard]] std::string codes_path() const { return folder_ + "/codes.png"; }
  /// Runs the command and reads its picture, as read_measured_picture does; the first one's notes are printed. Throws
  /// io for a command that fails, takes longer than the timeout or writes no picture.
  [[nodiscard]] Image take() const;

 private:
  [[nodiscard]] std::string picture_path() const { return folder_ + "/picture"; }

  std::string command_;
  double timeout_s_;
  ConsoleOptions console_;
  std::string folder_;
  mutable bool has_notes_ = false;  ///< printed
};

}  // namespace holotone::cli
