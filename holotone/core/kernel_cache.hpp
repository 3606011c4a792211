#pragma once
// Compiled kernels kept in a folder for other processes. Not for users.
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace holotone {

/// Machine code of `compile`, kept in `folder` as <name>-<checksum>.kernel with its length and checksum. `identity`
/// holds every input that the code depends on. A file that is damaged or of another identity is made again; a folder
/// that is not writable, or empty, is ignored. Files are written under another name and renamed: processes may share a
/// folder. Machine code of others is never loaded: folder and file belong to the effective user and nobody else can
/// write to them, as the opened ones state. A folder of others is ignored, a file of others is made again; new folders
/// have mode 0700, new files 0600.
std::string kept_kernel(const std::string& folder, std::string_view name, const std::string& identity,
                        const std::function<std::string()>& compile);

/// Why kept_kernel ignores an existing folder, "one of user 1000" or "mode 775"; empty: it does not.
std::string kernel_cache_refusal(const std::string& folder);

/// Name of a file in such a folder that kept_kernel does not load, and why: {"a.kernel", "mode 666"}; empty: none.
std::pair<std::string, std::string> find_refused_kernel(const std::string& folder);

/// Removes the file of kept_kernel, whose code the driver refused.
void forget_kernel(const std::string& folder, std::string_view name, const std::string& identity) noexcept;

}  // namespace holotone
