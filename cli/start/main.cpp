// The program `holotone` loads holotone_program.so, which has all the commands. What must come before its libraries
// stands here: their environment, and the start of CUDA beside their loading.
#include <cli/start/early_cuda.hpp>
#include <cli/start/end.hpp>
#include <cli/start/environment.hpp>
#include <climits>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <initializer_list>
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

/// The module beside this program, or where it is installed.
void* load_program() {
  char path[2 * PATH_MAX] = {};
  if (readlink("/proc/self/exe", path, PATH_MAX) <= 0)
    end("expected /proc, which names the program's folder, got none");
  char* const name = std::strrchr(path, '/') + 1;
  for (const char* module : {"holotone_program.so", "../" HOLOTONE_MODULE_FOLDER "/holotone_program.so"}) {
    std::strcpy(name, module);
    if (access(path, F_OK) == 0) break;
  }
  void* const module = dlopen(path, RTLD_LAZY);
  if (module == nullptr) end("expected holotone_program.so and its libraries, got: ", dlerror());
  return module;
}

}  // namespace
}  // namespace holotone::start

int main(int argc, char** argv) {
  using namespace holotone::start;
  occupy_standard_descriptors();
  // The child that parses a file has its limits from its parent.
  if (argc < 2 || std::strncmp(argv[1], "__read-", 7) != 0) {
    set_environment();
    start_cuda_early(argc, argv);
  }
  void* const run = dlsym(load_program(), "holotone_main");
  if (run == nullptr) end("expected the holotone_program.so of this program, got that of another");
  return reinterpret_cast<int (*)(int, char**)>(run)(argc, argv);
}
