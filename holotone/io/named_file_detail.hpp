#pragma once
// Files that a file names, such as the buffers of a glTF. Not for users.
#include <cstdint>
#include <filesystem>
#include <holotone/io/file_handle_detail.hpp>
#include <string>

namespace holotone::io {

/// Opens for reading the regular file that the file `naming` calls `name`, in the folder of `naming` or below. Nothing
/// leads out of the folder: no "..", no path from the root, no symbolic link. `what`: "buffer". Throws io with the
/// names of both files.
FileHandle open_named_file(const std::string& naming, const std::string& name, const std::string& what);

/// Bytes of a file that open_named_file opens; 0 for others.
std::uint64_t named_file_bytes(const std::string& naming, const std::string& name);

/// Opens `name` in `folder` or below. -1 with errno EXDEV: it leads out of the folder; ENOSYS: the kernel lacks
/// openat2 (Linux 5.6) or forbids it.
int open_beneath(const std::string& folder, const std::string& name);

/// The same by comparing canonical paths, for other kernels: also follows a link from the root that ends in the folder.
int open_compared(const std::string& folder, const std::string& name);

/// True if a path without links lies in another or below.
bool lies_beneath(const std::filesystem::path& folder, const std::filesystem::path& file);

}  // namespace holotone::io
