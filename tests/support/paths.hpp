#pragma once
#include <string>

// The only file that depends on the build's folders, so that no other test is recompiled when they change.
namespace holotone {

/// The root of the source tree.
const std::string& source_folder();

/// The root of the build; contains compile_commands.json if the build writes it.
const std::string& build_folder();

/// The command line program of the build, which may not have been built.
const std::string& program_path();

/// A program for guarded children: that of the build, or else the tests, which would run themselves as any other.
const std::string& guarded_program();

}  // namespace holotone
