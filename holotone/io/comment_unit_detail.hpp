#pragma once
// Units of coordinates that the comment of a file states. Not for users.
#include <optional>
#include <string>
#include <string_view>

namespace holotone::io {

struct CommentUnit {
  std::string text{};              ///< such as "mm"; empty: none is stated
  std::optional<double> metres{};  ///< of one; none for what is no length
  std::string rest{};              ///< the comment without it
};

/// The unit in "units: mm", "File units = inches", "unit=1e-3 m", "UNITS=mm" or "x y z in mm". A word that is no length
/// is a unit after ':' or '=' only: the comment may be prose.
CommentUnit find_comment_unit(std::string_view comment);

/// Adds what another comment states. Throws io if it is another unit.
void merge_comment_unit(CommentUnit& unit, const CommentUnit& other, std::string_view path);

}  // namespace holotone::io
