#pragma once
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>

namespace holotone::cli {

/// Options that `add` adds stand under a heading of their own in --help.
template <class Add>
void under(CLI::App& command, const std::string& heading, const Add& add) {
  const auto before = command.get_options();
  add();
  for (auto* option : command.get_options()) {
    if (std::ranges::find(before, option) == before.end()) option->group(heading);
  }
}

}  // namespace holotone::cli
