#pragma once
// Libraries that are opened while the program runs: a machine without one loses a backend, not the program.
// Not for users.
#include <initializer_list>
#include <string>

namespace holotone {

/// A library opened by dlopen. It stays open until the process ends, because drivers keep threads in it. Copies share
/// it.
class SharedLibrary {
 public:
  /// Opens the first of `names` that the system's loader accepts.
  SharedLibrary(std::initializer_list<const char*> names);
  /// The library of this soname if the process has loaded it, from any folder.
  static SharedLibrary of_process(const char* soname);

  [[nodiscard]] bool open() const noexcept { return handle_ != nullptr; }
  /// For a library that is not the one wanted, before a function of it is called.
  void close() noexcept;
  /// Stores the address of `name` in `function`. False if the library is not open or lacks the name.
  template <class Function>
  bool load(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(symbol(name));
    return function != nullptr;
  }
  /// Message of the system's loader for the last name that was not opened.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  SharedLibrary() = default;
  [[nodiscard]] void* symbol(const char* name) const;
  void* handle_ = nullptr;
  std::string reason_;
};

}  // namespace holotone
