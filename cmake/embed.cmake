# holotone_embed(target function file...): a C++ source that defines std::string_view function(std::string_view path): the text of each file by its path
# from the root of the tree, for what is compiled when the program runs.
function(holotone_embed target function)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
  set(cases)
  foreach(file IN LISTS ARGN)
    file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${file} text)
    string(APPEND cases "  if (path == \"${folder}/${file}\") return R\"embedded(${text})embedded\";\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
  # file(CONFIGURE), which leaves a file alone that would not change, takes @name@ for a variable.
  set(at "@")
  string(REPLACE "@" "@at@" cases "${cases}")
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"#include <string_view>
namespace holotone {
std::string_view ${function}(std::string_view path);
std::string_view ${function}(std::string_view path) {
${cases}  return {};
}
}  // namespace holotone
")
  target_sources(${target} PRIVATE ${source})
endfunction()
