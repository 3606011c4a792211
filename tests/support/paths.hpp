#pragma once
#include <string>

// The only file that knows the build's own folders, so that no other test is compiled anew when they change.
namespace holotone {

/// The root of the source tree.
const std::string& source_folder();

/// The root of the build, where compile_commands.json is if the build writes one.
const std::string& build_folder();

/// The command line program that was built.
const std::string& program_path();

}  // namespace holotone
