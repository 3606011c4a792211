#pragma once
// Damaged files of fields, read in a guarded child whose library may crash.
#include <holotone/io/guarded/guarded.hpp>
#include <string>
#include <vector>

namespace io_support {

/// Reads `count` mutations of a seed, a twenty-fifth of them with a sanitizer, whose children start slowly. Of each a
/// part, by turns. A read must return or throw io in one line that begins with the file's name, by the reader or by the
/// child's end; at least one must be refused.
void expect_guarded_survival(const std::string& name, const std::string& seed, std::uint64_t count,
                             const std::vector<std::string>& parts, holotone::FieldContent content);

}  // namespace io_support
