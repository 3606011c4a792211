#pragma once
// Text of tables whose headers other programs write. Not for users.
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

/// A table's text as its readers take it, with the same lines.
///
/// Of ECSV (astropy) the names have the units of the header's `datatype`, as "x[um]"; units elsewhere in the header do
/// not count. Of GNU Octave's text the header of its matrix is left out. Throws io for a damaged header of ECSV, for
/// several variables of Octave, or one that is no matrix of two dimensions, and for COLMAP's points3D.txt. `bytes` must
/// outlive the object.
class TableText {
 public:
  TableText(std::string_view bytes, std::string_view path);
  TableText(const TableText&) = delete;
  TableText& operator=(const TableText&) = delete;
  [[nodiscard]] std::string_view get() const { return changed_.empty() ? bytes_ : std::string_view(changed_); }

 private:
  std::string_view bytes_;
  std::string changed_;
};

/// A column of ECSV's `datatype`.
struct EcsvColumn {
  std::string name{};
  std::string unit{};  ///< empty: none
};

/// Columns of the lines of an ECSV header, without '#' (APE 6): mappings in braces or in lines.
std::vector<EcsvColumn> list_ecsv_columns(const std::vector<std::string_view>& header);

/// True for "0", "1", "2" and so on, two at least: the labels of columns that have no names (pandas).
bool may_be_labels(const std::vector<std::string_view>& words);

/// Throws io for a first row of words that may be labels.
void refuse_labels(const std::vector<std::string_view>& words, std::string_view path);

}  // namespace holotone::io
