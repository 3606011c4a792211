#pragma once
// What the generator writes about the library's types (tables_generated.hpp), and the documentation of its headers.
#include <string>
#include <string_view>

namespace holotone::python {

/// Strings of an enum. Specialised with
///   static constexpr std::string_view all[];   in the order of the values from 0
///   static constexpr std::string_view values[];   their names in C++, `documented` that of the enum
///   static constexpr const char* type;         for signatures
///   static std::string_view also(Enum value);  a second name, as the program writes it; empty: none
template <class Enum>
struct Names;

/// Members of an aggregate. Specialised with
///   static constexpr const char* name;
///   static constexpr bool flat;                its members are arguments of their own
///   template <class Visit> static void each(Visit&& visit);   visit(name, pointer to member, has a default)
template <class Aggregate>
struct Members;

template <class T>
concept Named = requires {
  Names<T>::type;
};
template <class T>
concept Aggregate = requires {
  Members<T>::name;
};

/// Comment on a declaration of the headers: "PointCloudPlan::execute". Empty if there is none.
std::string_view documentation(std::string_view declaration);

}  // namespace holotone::python
