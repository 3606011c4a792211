#pragma once
// Comments that name the columns of a table. Not for users.
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

/// Names of columns in a comment of rapidSTORM, <field identifier="Position-0-0" unit="nanometer"/>: "x [nanometer]" of
/// positions, others as they stand. Empty for other comments.
std::vector<std::string> list_field_names(std::string_view comment);

/// A comment without "columns:", "fields:" and the like at its beginning.
std::string_view skip_heading(std::string_view comment);

/// True for words as in names of columns: "x y frame intensity", "X [nm]", "column 3 is the frame". False if x, y and z
/// are all that it names.
bool may_name_columns(std::string_view comment);

}  // namespace holotone::io
