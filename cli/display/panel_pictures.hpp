#pragma once
#include <cli/common/panel_player.hpp>
#include <cli/common/paths.hpp>
#include <holotone/io/images/image.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

Shape<2> panel_shape(const PanelCodes& codes);

/// How files become codes.
struct PictureRules {
  bool packed16 = false;        ///< 16-bit grey files are split into two channels; others are refused
  std::string bit_planes;       ///< order of channels for frames that are packed by 24; empty: not packed
  bool field_sequence = false;  ///< the channels of RGB files, or files with %c, one after the other
  std::int64_t trigger_px = 0;  ///< side of a trigger's square; 0: none
};

/// One picture that the panel shows.
struct PanelPicture {
  std::string name;  ///< of its file
  PanelCodes codes;
  /// The same with a lit trigger in the corner: shown once the panel has settled. Without a trigger: none.
  std::optional<PanelCodes> lit;
};

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
  [[nodiscard]] PanelCodes read_codes(const std::string& path) const;
  [[nodiscard]] std::vector<PanelPicture> fields_of(const Files& files) const;
  [[nodiscard]] PanelPicture packed(const Files& files) const;
  [[nodiscard]] PanelPicture with_trigger(PanelPicture picture, std::int64_t field) const;

  PictureRules rules_;
  std::vector<Files> steps_;  ///< files of each step
  std::vector<std::string> warnings_;
};

}  // namespace holotone::cli
