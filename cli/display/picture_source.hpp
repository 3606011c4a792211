#pragma once
#include <cli/common/paths.hpp>
#include <holotone/recipes/codes/panel_pictures_detail.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// The pictures of a list of files, read one after the other.
class PictureSource {
 public:
  /// `names`: files, or patterns with a counter. Throws io or invalid_argument for a file that is not there.
  PictureSource(const std::vector<std::string>& names, const PictureRules& rules);

  /// Steps of the sequence, each of which gives one or, with field_sequence, three pictures.
  [[nodiscard]] std::int64_t steps() const { return static_cast<std::int64_t>(steps_.size()); }
  [[nodiscard]] std::int64_t pictures_a_step() const { return rules_.field_sequence ? 3 : 1; }
  /// Gaps in the numbers of the files.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  /// Throws io or invalid_argument, naming the file.
  [[nodiscard]] std::vector<PanelPicture> read(std::int64_t step) const;

 private:
  using Files = std::vector<std::string>;
  [[nodiscard]] Files list_files(const std::string& name);

  PictureRules rules_;
  std::vector<Files> steps_;  ///< files of each step
  std::vector<std::string> warnings_;
};

}  // namespace holotone::cli
