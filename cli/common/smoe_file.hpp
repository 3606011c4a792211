#pragma once
#include <cstdint>
#include <holotone/recipes/mixture_files.hpp>
#include <string>
#include <string_view>

namespace holotone::cli {

/// read_mixture of a file that a command's user named by `option`, which is named where the extension is another.
MixtureFile read_model(const std::string& path, std::string_view option = "IN");

/// Throws invalid_argument naming the option unless the name ends in .smoe, .json or .npz.
void require_model_name(std::string_view option, const std::string& path);

/// "40k", "1.5M", "40000": a count of bytes, in powers of 1000. Throws invalid_argument.
std::int64_t byte_count(std::string_view option, const std::string& text);

}  // namespace holotone::cli
