#pragma once
#include <string>
#include <string_view>

namespace holotone::web {

/// The page as one HTML file that needs no server: style and modules inside, and `stored`, JSON with "documents" (the
/// message) and "answers" (document, view, state, header, data in base64).
std::string stored_page(std::string_view stored);

}  // namespace holotone::web
