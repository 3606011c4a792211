#include <algorithm>
#include <stdexcept>
#include <vector>
#include <web/server/page_files.hpp>
#include <web/server/stored_page.hpp>

namespace holotone::web {
namespace {

std::string_view find_text(std::string_view name) {
  const PageFile* const file = find_page_file(name);
  if (file == nullptr) throw std::logic_error("the page has no " + std::string(name));
  return file->text;
}

/// Calls body(line) for each line, its end included.
template <class Body>
void each_line(std::string_view text, const Body& body) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    body(text.substr(0, end));
    text.remove_prefix(end);
  }
}

/// A module without its imports and without the word export: all modules become one, in the order of their dependence.
void append_module(std::string& script, std::string_view text) {
  constexpr std::string_view exported = "export ";
  each_line(text, [&](std::string_view line) {
    if (line.starts_with("import ")) return;
    if (line.starts_with(exported)) line.remove_prefix(exported.size());
    script += line;
  });
}

/// `</script` within a script would end it.
void append_data(std::string& page, std::string_view json) {
  for (const char c : json) {
    if (c == '<') {
      page += "\\u003c";
    } else {
      page += c;
    }
  }
}

}  // namespace

std::string stored_page(std::string_view stored) {
  constexpr std::string_view module_line = R"(<link rel="modulepreload" href=")";
  constexpr std::string_view style_line = R"(<link rel="stylesheet" href="style.css">)";
  constexpr std::string_view script_line = R"(<script type="module" src="main.js"></script>)";
  std::string page;
  std::string script;
  page.reserve(stored.size() + (std::size_t{1} << 18));
  each_line(find_text("index.html"), [&](std::string_view line) {
    if (line.starts_with(module_line)) {
      line.remove_prefix(module_line.size());
      append_module(script, find_text(line.substr(0, line.find('"'))));
    } else if (line.starts_with(style_line)) {
      page += "<style>\n";
      page += find_text("style.css");
      page += "</style>\n";
    } else if (line.starts_with(script_line)) {
      page += R"(<script id="stored" type="application/json">)";
      append_data(page, stored);
      page += "</script>\n<script type=\"module\">\n";
      page += script;
      page += "</script>\n";
    } else {
      page += line;
    }
  });
  return page;
}

}  // namespace holotone::web
