// The program `holotone` loads holotone_program.so, which has all the commands: libgomp and OpenBLAS read the
// environment when they are loaded, and here it is set before.
#include <cli/start/end.hpp>
#include <cli/start/environment.hpp>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <initializer_list>
#include <sys/stat.h>
#include <unistd.h>

namespace holotone::start {
namespace {

/// A closed descriptor would be reused for the next opened file, and messages would go into that file. Opening
/// /dev/null in the wrong direction keeps reads or writes failing.
void occupy_standard_descriptors() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(file, F_GETFD) < 0) (void)!open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

/// True for a file that ends before what its ELF header names: loading it would end the program by SIGBUS.
bool is_cut_off(const char* path) {
  Elf64_Ehdr head{};
  struct stat information {};
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const bool read_all = file >= 0 && fstat(file, &information) == 0 && read(file, &head, sizeof head) == sizeof head;
  if (file >= 0) close(file);
  const auto end = head.e_shoff + std::uint64_t{head.e_shnum} * head.e_shentsize;
  return read_all && std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
         static_cast<std::uint64_t>(information.st_size) < end;
}

/// The module beside this program, or where it is installed.
void* load_program() {
  constexpr const char* expected =
      "expected holotone_program.so, and its libraries, beside the program or in "
      "../" HOLOTONE_MODULE_FOLDER " (copy both, or link to the program), got: ";
  char path[2 * PATH_MAX] = {};
  if (readlink("/proc/self/exe", path, PATH_MAX) <= 0)
    end("expected /proc, which names the program's folder, got none");
  char* const name = std::strrchr(path, '/') + 1;
  for (const char* module : {"holotone_program.so", "../" HOLOTONE_MODULE_FOLDER "/holotone_program.so"}) {
    (void)std::snprintf(name, sizeof path - static_cast<std::size_t>(name - path), "%s", module);
    if (access(path, F_OK) == 0) break;
  }
  if (is_cut_off(path)) end(expected, "a file that is cut off");
  // dlopen gives $ORIGIN and the like in a path another meaning.
  if (std::strchr(path, '$') != nullptr) {
    (void)std::snprintf(path, sizeof path, "/proc/self/fd/%d", open(path, O_RDONLY | O_CLOEXEC));
  }
  void* const module = dlopen(path, RTLD_LAZY);
  if (module == nullptr) end(expected, dlerror());
  return module;
}

}  // namespace
}  // namespace holotone::start

int main(int argc, char** argv) {
  using namespace holotone::start;
  occupy_standard_descriptors();
  // The child that parses a file has its limits from its parent.
  if (argc < 2 || std::strncmp(argv[1], "__read-", 7) != 0) set_environment();
  void* const run = dlsym(load_program(), "holotone_main");
  if (run == nullptr) end("expected the holotone_program.so of this program, got that of another");
  return reinterpret_cast<int (*)(int, char**)>(run)(argc, argv);
}
