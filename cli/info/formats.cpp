#include <cli/common/command.hpp>
#include <cli/common/console.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holotone/io/file_formats.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

int run_formats(const ConsoleOptions& console) {
  auto list = nlohmann::json::array();
  for (const FormatSupport& format : file_formats()) {
    report(console,
           fmt::format("{}: {} ({})", format.name, name_of(format.content), fmt::join(format.extensions, " ")));
    nlohmann::json row{{"name", format.name}, {"content", name_of(format.content)}, {"extensions", format.extensions}};
    row.update({{"by_content", format.by_content}, {"is_built", format.is_built}});
    for (const auto& [key, text] : {std::pair{"read", &format.read},
                                    {"written", &format.written},
                                    {"honoured", &format.honoured},
                                    {"not_honoured", &format.not_honoured},
                                    {"library", &format.library}}) {
      row[key] = *text;
      if (!text->empty()) report(console, fmt::format("  {:<13} {}", key, *text));
    }
    if (!format.is_built) report(console, "  refused by this build, which lacks the library");
    list.push_back(std::move(row));
  }
  report_json(console, {{"formats", list}});
  return exit_ok;
}

}  // namespace

Command formats_command() {
  const auto console = std::make_shared<ConsoleOptions>();
  return {.name = "formats",
          .purpose = "List the formats of files that are read and written, and what of them is honoured",
          .examples = {"holotone formats", "holotone formats --json"},
          .groups = {console_options(*console)},
          .run = [console] { return run_formats(*console); }};
}

}  // namespace holotone::cli
