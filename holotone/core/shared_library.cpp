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

void* SharedLibrary::symbol(const char* name) const { return handle_ != nullptr ? ::dlsym(handle_, name) : nullptr; }

}  // namespace holotone
