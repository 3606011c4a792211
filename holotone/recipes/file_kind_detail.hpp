#pragma once
// Not for users.
#include <string>

namespace holotone {

/// What a file holds, by its name and first bytes. `points` is the last kind: points or a mesh.
enum class FileKind { dots, model, picture, array, field, points };

FileKind file_kind(const std::string& path);

}  // namespace holotone
