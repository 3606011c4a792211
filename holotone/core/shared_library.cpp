#include <dlfcn.h>
#include <holotone/core/shared_library.hpp>

namespace holotone {

SharedLibrary::SharedLibrary(std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    handle_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    if (const char* const reason = ::dlerror()) reason_ = reason;
  }
}

SharedLibrary SharedLibrary::of_process(const char* soname) {
  SharedLibrary library;
  library.handle_ = ::dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  return library;
}

void SharedLibrary::close() noexcept {
  if (handle_ != nullptr) ::dlclose(handle_);
  handle_ = nullptr;
}

void* SharedLibrary::symbol(const char* name) const { return handle_ != nullptr ? ::dlsym(handle_, name) : nullptr; }

}  // namespace holotone
