#include <tests/support/program.hpp>

namespace holotone::test {

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

RunningProgram::RunningProgram(std::vector<std::string> arguments, fs::path captured,
                               const std::function<void()>& prepare)
    : RunningProgram(
          [&] {
            arguments.insert(arguments.begin(), program_path());
            return Words{std::move(arguments)};
          }(),
          std::move(captured), prepare) {}

RunningProgram::RunningProgram(Words words, fs::path captured, const std::function<void()>& prepare)
    : captured_(std::move(captured)) {
  std::vector<char*> pointers;
  for (auto& argument : words.words) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const std::string output = (captured_ / "output").string();
  const std::string error = (captured_ / "error").string();
  process_ = fork();
  if (process_ == 0) {
    const int out = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int err = open(error.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    // Background test runs inherit ignored signals; the program is tested as in the foreground.
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) signal(number, SIG_DFL);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    prepare();
    execvp(pointers.front(), pointers.data());
    _exit(127);
  }
}

RunningProgram::~RunningProgram() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
}

bool RunningProgram::running() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

ProgramResult RunningProgram::wait(double seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (running()) {
    if (std::chrono::steady_clock::now() > deadline) kill(process_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  int status = 0;
  waitpid(process_, &status, 0);
  process_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), content_of(captured_ / "output"),
          content_of(captured_ / "error")};
}

bool can_write(const std::string& name) {
  const std::string extension = fs::path(name).extension().string();
  const std::string probe =
      (fs::temp_directory_path() / fmt::format("holotone_probe_{}{}", getpid(), extension)).string();
  try {
    if (is_field_name(name)) {
      FieldFile field{Array<std::complex<float>, 2>({1, 1}), {{"wavelength_m", "1e-6"}, {"pitch_m", "1e-5"}}};
      field.values(std::int64_t{0}, std::int64_t{0}) = 1;
      write_field(probe, field);
    } else {
      Image image{Array<std::uint8_t, 3>({1, 1, 1}), {}};
      std::get<Array<std::uint8_t, 3>>(image.pixels).host()[0] = 1;
      write_image(probe, image);
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    std::printf("this build does not write %s\n", extension.c_str());
    return false;
  }
  fs::remove(probe);
  return true;
}

ProgramTest::ProgramTest() {
  std::string name = (fs::temp_directory_path() / "holotone_test_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  base_ = name;
  folder_ = base_ / "work";
  captured_ = base_ / "captured";
  fs::create_directory(folder_);
  fs::create_directory(captured_);
}
ProgramTest::~ProgramTest() {
  std::error_code error;
  fs::remove_all(base_, error);
}

ProgramResult ProgramTest::run(const std::vector<std::string>& arguments, double seconds) const {
  return RunningProgram(arguments, captured_).wait(seconds);
}

nlohmann::json ProgramTest::run_json(std::vector<std::string> arguments) const {
  arguments.emplace_back("--json");
  const auto result = run(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(result.error, "");
  auto json = nlohmann::json::parse(result.output, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << result.output;
  return json;
}

std::string ProgramTest::path(const std::string& name) const { return (folder_ / name).string(); }

std::string ProgramTest::write(const std::string& name, const std::string& content) const {
  std::ofstream(folder_ / name, std::ios::binary) << content;
  return path(name);
}

std::string ProgramTest::write_cloud(const std::string& name, const std::vector<std::array<double, 4>>& points) const {
  std::string text = "x,y,z,amplitude\n";
  for (const auto& [x, y, z, a] : points) text += fmt::format("{:.9g},{:.9g},{:.9g},{:.9g}\n", x, y, z, a);
  return write(name, text);
}

std::set<std::string> ProgramTest::files() const {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    names.insert(entry.path().lexically_relative(folder_).string());
  }
  return names;
}

void ProgramTest::expect_refused(const std::vector<std::string>& arguments,
                                 std::initializer_list<const char*> words) const {
  const auto before = files();
  const auto result = run(arguments);
  std::string line = "holotone";
  for (const auto& argument : arguments) line += " " + argument;
  EXPECT_EQ(result.exit_code, 2) << line << "\n" << result.error;
  EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << line << "\n" << result.error;
  EXPECT_EQ(result.error.rfind("holotone: ", 0), 0u) << line << "\n" << result.error;
  EXPECT_EQ(result.output, "") << line;
  for (const char* word : words) {
    EXPECT_NE(result.error.find(word), std::string::npos) << line << "\nwithout '" << word << "': " << result.error;
  }
  EXPECT_EQ(files(), before) << line;
}

}  // namespace holotone::test
