#include <filesystem>
#include <holotone/io/guarded/guarded.hpp>
#include <tests/support/paths.hpp>

namespace holotone {

const std::string& source_folder() {
  static const std::string folder = HOLOTONE_SOURCE_DIR;
  return folder;
}

const std::string& build_folder() {
  static const std::string folder = HOLOTONE_BUILD_DIR;
  return folder;
}

const std::string& program_path() {
  static const std::string path = HOLOTONE_PROGRAM;
  return path;
}

const std::string& guarded_program() {
  static const std::string path = std::filesystem::exists(program_path()) ? program_path() : current_program();
  return path;
}

}  // namespace holotone
