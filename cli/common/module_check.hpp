#pragma once
#include <string>

namespace holotone::cli {

/// What is wrong with the file of a module: "/usr/bin/x.so, which is cut off after 4096 of 17000 bytes". Empty: it has
/// all that its headers name. Loading a shorter one would end the program by SIGBUS.
std::string why_not_whole(const std::string& path);

}  // namespace holotone::cli
