#pragma once
// Compiled kernels kept in a folder for other processes. Not for users.
#include <functional>
#include <string>
#include <string_view>

namespace holotone {

/// Machine code of `compile`, kept in `folder` as <name>-<checksum>.kernel with its length and checksum. `identity`
/// holds every input that the code depends on. A file that is damaged or of another identity is made again; a folder
/// that is not writable, or empty, is ignored. Files are written under another name and renamed: processes may share a
/// folder.
std::string kept_kernel(const std::string& folder, std::string_view name, const std::string& identity,
                        const std::function<std::string()>& compile);

/// Removes the file of kept_kernel, whose code the driver refused.
void forget_kernel(const std::string& folder, std::string_view name, const std::string& identity) noexcept;

}  // namespace holotone
