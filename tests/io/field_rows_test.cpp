// Fields written by rows: files equal to those written at once, also after interruptions.
#include <algorithm>
#include <complex>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/fields/field_rows.hpp>
#include <holotone/io/rows_file_detail.hpp>
#include <limits>
#include <omp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tests/io/row_builders.hpp>
#include <tests/support/io_support.hpp>
#include <unistd.h>

namespace holotone {
namespace {

using field_builders::make_field;
using io_support::error_of;
using io_support::read_raw;
using io_support::TemporaryFolder;
using io_support::write_raw;
using row_builders::expect_same;
using row_builders::formats;
using row_builders::read_by_rows;
using row_builders::slice_rows;

const Metadata metadata = {{"wavelength_m", "5.32e-07"},
                           {"pitch_m", "8e-06"},
                           {"encoding", "complex"},
                           {"note", "gr\xc3\xbc\xc3\x9f"},
                           {"seed", "18446744073709551615"}};

TEST(FieldRows, WritesTheBytesOfWriteField) {
  const TemporaryFolder folder;
  for (const std::string& name : formats()) {
    for (const Shape<2> shape : {Shape<2>{13, 37}, Shape<2>{1, 1}, Shape<2>{200, 101}}) {
      FieldFile field = make_field(shape);
      field.metadata = metadata;
      field.metadata["level_phase_rad"] = std::string(150000, '7');
      field.values.data()[0] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
      write_field(folder.file("whole-" + name), field);
      FieldRowsWriter writer(folder.file(name), shape, field.metadata);
      for (std::int64_t end = shape[0]; end > 0; end -= 5) {  // bottom up
        EXPECT_EQ(writer.rows_done(), 0);
        EXPECT_FALSE(writer.is_done(end - 1));
        const std::int64_t first = std::max<std::int64_t>(end - 5, 0);
        writer.write(first, slice_rows(field, first, end - first));
      }
      EXPECT_EQ(writer.rows_done(), shape[0]);
      writer.finish();
      EXPECT_EQ(read_raw(folder.file(name)), read_raw(folder.file("whole-" + name))) << name;
      EXPECT_EQ(std::filesystem::exists(folder.file("." + name + ".part")), false);
      EXPECT_EQ(std::filesystem::exists(folder.file("." + name + ".part.rows")), false);
      const FieldFile back = read_by_rows(folder.file(name), 7);
      expect_same(back, field);
      EXPECT_EQ(back.metadata, name == "x.npy" ? Metadata{} : field.metadata);
    }
  }
}

// Writing ------------------------------------------------------------------------------------------------------------

FieldFile with_metadata(Shape<2> shape) {
  FieldFile field = make_field(shape);
  field.metadata = metadata;
  return field;
}

/// Writes the missing rows of a resumed file; the result must equal the file of write_field.
void complete(const TemporaryFolder& folder, const std::string& name, const FieldFile& field, FieldRowsWriter& writer) {
  for (std::int64_t row = 0; row < writer.shape()[0]; ++row) {
    if (!writer.is_done(row)) writer.write(row, slice_rows(field, row, 1));
  }
  writer.finish();
  write_field(folder.file("whole-" + name), field);
  EXPECT_EQ(read_raw(folder.file(name)), read_raw(folder.file("whole-" + name))) << name;
  EXPECT_EQ(folder.names().size(), 2u);
  std::filesystem::remove(folder.file(name));
  std::filesystem::remove(folder.file("whole-" + name));
}

/// An interrupted run: rows 0 to 6 and 9 of 12.
void leave_unfinished(const std::string& path, const FieldFile& field, const RowsOptions& options) {
  FieldRowsWriter writer(path, field.values.shape(), field.metadata, options);
  writer.write(0, slice_rows(field, 0, 7));
  writer.write(9, slice_rows(field, 9, 1));
  throw std::runtime_error("something else went wrong");
}

TEST(FieldRowsResume, ContinuesAfterAnException) {
  const TemporaryFolder folder;
  const FieldFile field = with_metadata({12, 31});
  const RowsOptions options{"wavelength 532nm, points of x.ply", true};
  for (const std::string& name : formats()) {
    const std::string path = folder.file(name);
    EXPECT_THROW(leave_unfinished(path, field, options), std::runtime_error);
    EXPECT_FALSE(std::filesystem::exists(path));
    FieldRowsWriter writer(path, field.values.shape(), field.metadata, options);
    EXPECT_EQ(writer.rows_done(), 7);
    EXPECT_FALSE(writer.is_done(8));
    EXPECT_TRUE(writer.is_done(9));
    complete(folder, name, field, writer);
  }
}

TEST(FieldRowsResume, NothingIsLeftWithoutIt) {
  const TemporaryFolder folder;
  const FieldFile field = with_metadata({12, 31});
  for (const std::string& name : formats()) {
    EXPECT_THROW(leave_unfinished(folder.file(name), field, {}), std::runtime_error);
    EXPECT_EQ(folder.names(), std::vector<std::string>{});
    // No leftovers of a resumable run without rows either, nor of an earlier run if the next one does not resume.
    { const FieldRowsWriter none(folder.file(name), {12, 31}, metadata, {"key", true}); }
    EXPECT_EQ(folder.names(), std::vector<std::string>{});
    EXPECT_THROW(leave_unfinished(folder.file(name), field, {"key", true}), std::runtime_error);
    EXPECT_EQ(folder.names().size(), 2u);
    EXPECT_THROW(leave_unfinished(folder.file(name), field, {"key", false}), std::runtime_error);
    EXPECT_EQ(folder.names(), std::vector<std::string>{});
  }
}

TEST(FieldRowsResume, OnlyTheSameIsContinued) {
  const TemporaryFolder folder;
  const FieldFile field = with_metadata({12, 31});
  const RowsOptions options{"key", true};
  Metadata other = metadata;
  other["note"] = "another";
  for (const std::string& name : formats()) {
    const std::string path = folder.file(name);
    const auto rows_left = [&](Shape<2> shape, const Metadata& entries, const std::string& key) {
      EXPECT_THROW(leave_unfinished(path, field, options), std::runtime_error);
      return FieldRowsWriter(path, shape, entries, {key, true}).rows_done();
    };
    EXPECT_EQ(rows_left({12, 31}, metadata, "key"), 7);
    EXPECT_EQ(rows_left({12, 31}, metadata, "kez"), 0);
    EXPECT_EQ(rows_left({12, 31}, metadata, "another key"), 0);
    EXPECT_EQ(rows_left({12, 31}, other, "key"), 0);
    EXPECT_EQ(rows_left({31, 12}, metadata, "key"), 0);
    EXPECT_EQ(rows_left({13, 31}, metadata, "key"), 0);
  }
}

// A run that ends between its checksum and the new name: the rows are complete, but the file's head has changed.
TEST(FieldRowsResume, GoesOnAfterTheChecksum) {
  const TemporaryFolder folder;
  const FieldFile field = with_metadata({12, 31});
  const RowsOptions options{"key", true, false, "crc32"};
  const std::string path = folder.file("x.h5");
  if (formats().size() < 2) GTEST_SKIP() << "a build without libhdf5";
  std::uint32_t sum = 0;
  {
    FieldRowsWriter writer(path, {12, 31}, metadata, options);
    writer.write(0, slice_rows(field, 0, 12));
    sum = writer.checksum(0, 12);
    std::filesystem::create_directory(path);
    EXPECT_MENTIONS(error_of([&] { writer.finish(); }), "replaceable");
  }
  std::filesystem::remove(path);
  FieldRowsWriter writer(path, {12, 31}, metadata, options);
  EXPECT_EQ(writer.rows_done(), 12);
  writer.finish();
  const auto read = read_field(path);
  EXPECT_EQ(read.metadata.at("crc32"), fmt::format("{:08x}", sum));
  EXPECT_TRUE(std::ranges::equal(read.values.host(), field.values.host()));
}

// Possible state after a power failure: rows, headers and journals that never reached the disk.
TEST(FieldRowsResume, DamagedRowsDoNotCount) {
  const TemporaryFolder folder;
  const FieldFile field = with_metadata({12, 31});
  const RowsOptions options{"key", true};
  for (const std::string& name : formats()) {
    const std::string path = folder.file(name);
    const std::string data = folder.file("." + name + ".part");
    EXPECT_THROW(leave_unfinished(path, field, options), std::runtime_error);
    const std::string good = read_raw(data);
    const std::string journal = read_raw(data + ".rows");
    const std::size_t row_bytes = 31 * 8;
    const std::size_t begin = good.find(std::string(reinterpret_cast<const char*>(field.values.data()), row_bytes));
    ASSERT_NE(begin, std::string::npos);
    const auto rows_left = [&](const std::string& bytes, const std::string& rows) {
      write_raw(data, bytes);
      write_raw(data + ".rows", rows);
      return FieldRowsWriter(path, {12, 31}, metadata, options).rows_done();
    };
    const auto zeroed = [](std::string bytes, std::size_t at, std::size_t count) {
      return bytes.replace(at, count, count, '\0');
    };
    EXPECT_EQ(rows_left(good, journal), 7);
    EXPECT_EQ(rows_left(zeroed(good, begin + 3 * row_bytes + 100, 4), journal), 3);
    EXPECT_EQ(rows_left(zeroed(good, begin, 8), journal), 0);
    EXPECT_EQ(rows_left(good, zeroed(journal, journal.size() - 8 * 12 + 8 * 5, 8)), 5);
    EXPECT_EQ(rows_left(good, zeroed(journal, 0, 8)), 0);
    EXPECT_EQ(rows_left(good, zeroed(journal, 30, 8)), 0);
    EXPECT_EQ(rows_left(good, journal.substr(0, 20)), 0);
    EXPECT_EQ(rows_left(good, journal.substr(0, journal.size() - 1)), 0);
    EXPECT_EQ(rows_left(zeroed(good, 0, 4), journal), 0);  // the header of the file
    EXPECT_EQ(rows_left(good.substr(0, good.size() - 1), journal), 0);
    if (name == "x.h5") {
      EXPECT_EQ(rows_left(zeroed(good, begin + 12 * row_bytes, 9), journal), 0);  // its tail
    }
    for (std::uint64_t i = 0; i < 40; ++i) {
      write_raw(data, good);
      write_raw(data + ".rows", io_support::mutated(journal, i));
      const FieldRowsWriter writer(path, {12, 31}, metadata, options);
      for (const std::int64_t row : {7, 8, 10, 11}) EXPECT_FALSE(writer.is_done(row)) << i;
    }
    write_raw(data, good);
    write_raw(data + ".rows", journal);
    FieldRowsWriter writer(path, {12, 31}, metadata, options);
    complete(folder, name, field, writer);
  }
}

/// Runs `work` in a forked child, which has only one thread; returns the child's process.
template <class Work>
pid_t start_child(const Work& work) {
  const pid_t child = fork();
  if (child != 0) return child;
  omp_set_num_threads(1);
  int code = 1;
  try {
    work();
    code = 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
  }
  _exit(code);
}

TEST(FieldRowsResume, AKilledProcessLosesAtMostTheRowsInTheMaking) {
  const TemporaryFolder folder;
  const FieldFile field = with_metadata({96, 4001});
  FieldFile other = with_metadata({96, 4001});
  for (auto& value : other.values.host()) value = -value;
  const RowsOptions options{"key", true};
  for (const std::string& name : formats()) {
    const std::string path = folder.file(name);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = start_child([&] {
      FieldRowsWriter writer(path, field.values.shape(), metadata, options);
      writer.write(0, slice_rows(field, 0, 10));
      (void)!write(ends[1], "x", 1);
      for (;;) {  // a row with halves of two versions must not count as done
        writer.write(10, slice_rows(field, 10, 86));
        writer.write(10, slice_rows(other, 10, 86));
      }
    });
    char byte = 0;
    ASSERT_EQ(read(ends[0], &byte, 1), 1);
    usleep(20000);
    EXPECT_THROW(FieldRowsWriter(path, field.values.shape(), metadata, options), Error);  // its process is alive
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    close(ends[0]);
    close(ends[1]);
    EXPECT_FALSE(std::filesystem::exists(path));
    FieldRowsWriter writer(path, field.values.shape(), metadata, options);
    int survived = 0;
    for (std::int64_t row = 0; row < 96; ++row) survived += writer.is_done(row) ? 1 : 0;
    std::printf("%s: %d of 96 rows survived the kill\n", name.c_str(), survived);
    EXPECT_GE(writer.rows_done(), 10);
    for (std::int64_t row = 0; row < 96; ++row) {
      if (!writer.is_done(row)) writer.write(row, slice_rows(field, row, 1));
    }
    writer.finish();
    const FieldFile got = read_field(path);
    for (std::int64_t row = 0; row < 96; ++row) {
      const std::complex<float>* const values = &got.values(row, 0);
      const auto is_of = [&](const FieldFile& source) {
        return std::equal(values, values + 4001, &source.values(row, 0));
      };
      EXPECT_TRUE(is_of(field) || (row >= 10 && is_of(other))) << row;
    }
    EXPECT_EQ(folder.names().size(), 1u);
    std::filesystem::remove(path);
  }
}

TEST(FieldRowsWriter, AFullDiskIsOneLineAndCanBeResumed) {
  const TemporaryFolder folder;
  const FieldFile field = with_metadata({64, 1000});
  const RowsOptions options{"key", true};
  for (const std::string& name : formats()) {
    const std::string path = folder.file(name);
    const pid_t child = start_child([&] {
      signal(SIGXFSZ, SIG_IGN);
      FieldRowsWriter writer(path, field.values.shape(), metadata, options);
      const rlimit half{32 * 8000, 32 * 8000};
      if (setrlimit(RLIMIT_FSIZE, &half) != 0) throw std::runtime_error("setrlimit");
      const std::string text = error_of([&] {
        for (std::int64_t row = 0; row < 64; ++row) writer.write(row, slice_rows(field, row, 1));
      });
      if (!text.starts_with(path + ": expected 50") || text.find("File too large") == std::string::npos) {
        throw std::runtime_error(text);
      }
      EXPECT_THROW(FieldRowsWriter(path + ".npy", {64, 1000}, {}), Error);  // no second file can be started either
    });
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(folder.names().size(), 2u);  // neither the final name nor the second file exists
    FieldRowsWriter writer(path, field.values.shape(), metadata, options);
    EXPECT_GE(writer.rows_done(), 30);
    EXPECT_LT(writer.rows_done(), 33);
    complete(folder, name, field, writer);
  }
}

TEST(FieldRowsWriter, MissingSpaceIsSaidBeforeTheFirstRow) {
  const TemporaryFolder folder;
  for (const std::string& name : formats()) {
    for (const bool resume : {false, true}) {
      const std::string path = folder.file(name);
      const std::string text = error_of([&] {
        FieldRowsWriter(path, {1 << 20, 1 << 26}, metadata, {"key", resume});  // 512 TiB
      });
      EXPECT_MENTIONS(text, path + ": expected 512.0 TiB of free space in '");
      EXPECT_MENTIONS(text, std::filesystem::path(path).parent_path().string() + "', got ");
      EXPECT_MENTIONS(text, " missing)");
      EXPECT_EQ(folder.names(), std::vector<std::string>{});
    }
  }
}

// Names of unfinished rows that hold something else are reported, and left alone.
TEST(FieldRowsWriter, NamesWhatIsInItsWay) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.npy");
  for (const std::string name : {".x.npy.part", ".x.npy.part.rows"}) {
    const auto refused = [&](std::string_view what) {
      const std::string text = error_of([&] { FieldRowsWriter(path, {4, 3}, metadata, {"key", true}); });
      EXPECT_MENTIONS(text,
                      path + ": expected '" + folder.file(name) + "' to be absent or a file of an unfinished run");
      EXPECT_MENTIONS(text, fmt::format("got {}; remove it", what));
      EXPECT_EQ(folder.names(), std::vector<std::string>{name});
      std::filesystem::remove_all(folder.file(name));
    };
    std::filesystem::create_directory(folder.file(name));
    refused("a folder");
    std::filesystem::create_symlink("elsewhere", folder.file(name));
    refused("a link");
    ASSERT_EQ(mkfifo(folder.file(name).c_str(), 0600), 0);
    refused("a device, pipe or socket");
  }
}

// Names that are held before the rows are begun.
TEST(RowsFileHeld, KeepsOthersAwayAndUnfinishedRows) {
  const TemporaryFolder folder;
  const FieldFile field = with_metadata({12, 31});
  const RowsOptions options{"key", true};
  const std::string path = folder.file("x.npy");
  const io::RowsContent content{{}, 12, 31 * 8};
  {
    const io::RowsFile held(path, content, 0);
    EXPECT_EQ(held.bytes_needed(), 2 * 4096U);
    EXPECT_MENTIONS(error_of([&] { FieldRowsWriter(path, {12, 31}, metadata, options); }), "another that holds");
    EXPECT_MENTIONS(error_of([&] { io::RowsFile(path, content, 0); }), "another that holds");
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{});
  EXPECT_MENTIONS(error_of([&] { io::RowsFile(path, content, std::uint64_t{1} << 60); }), "TiB of free space in");
  EXPECT_EQ(folder.names(), std::vector<std::string>{});
  EXPECT_THROW(leave_unfinished(path, field, options), std::runtime_error);
  { const io::RowsFile held(path, content, 0); }
  FieldRowsWriter writer(path, {12, 31}, metadata, options);
  EXPECT_EQ(writer.rows_done(), 7);
}

/// Mounts a file system of 1 MiB on a folder, for this process alone. False if the system does not permit it.
bool mount_small_disk(const std::string& folder) {
  const auto user = geteuid();
  if (unshare(CLONE_NEWNS) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
  }
  return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("none", folder.c_str(), "tmpfs", 0, "size=1m") == 0;
}

TEST(FieldRowsWriter, ASmallDisk) {
  const TemporaryFolder folder;
  constexpr int not_permitted = 77;
  const pid_t child = start_child([&] {
    if (!mount_small_disk(folder.file(""))) _exit(not_permitted);
    const FieldFile field = with_metadata({64, 1000});
    for (const std::string& name : formats()) {
      const std::string path = folder.file(name);
      write_raw(folder.file("ballast"), std::string(700 << 10, 'x'));
      const std::string text = error_of([&] { FieldRowsWriter(path, {64, 1000}, metadata); });
      if (text.find(": expected 504.0 KiB of free space in") == std::string::npos) throw std::runtime_error(text);
      if (folder.names().size() != 1) throw std::runtime_error("something is left");
      std::filesystem::remove(folder.file("ballast"));
      FieldRowsWriter writer(path, {64, 1000}, metadata);
      // The space is reserved for the file: other files cannot use it.
      write_raw(folder.file("ballast"), std::string(700 << 10, 'x'));
      writer.write(0, slice_rows(field, 0, 64));
      // Unless the file system revokes the reservation.
      const int file = open(folder.file("." + name + ".part").c_str(), O_WRONLY);
      if (fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 8192, 64 * 8000) != 0) _exit(not_permitted);
      close(file);
      write_raw(folder.file("ballast"), std::string(1 << 20, 'x'));
      const std::string full = error_of([&] { writer.write(0, slice_rows(field, 0, 64)); });
      if (full.find(" missing)") == std::string::npos || writer.rows_done() != 0) throw std::runtime_error(full);
      std::filesystem::remove(folder.file("ballast"));
      writer.write(0, slice_rows(field, 0, 64));
      writer.finish();
      expect_same(read_by_rows(path, 10), field);
      std::filesystem::remove(path);
    }
    if (testing::Test::HasFailure()) throw std::runtime_error("see above");
  });
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == not_permitted) GTEST_SKIP() << "no file system may be mounted here";
  EXPECT_EQ(status, 0);
}

// 241 blocks of the file and 9 of its journal, for two of which there is no space.
TEST(FieldRowsWriter, TheJournalNeedsSpaceToo) {
  const TemporaryFolder folder;
  constexpr int not_permitted = 77;
  const pid_t child = start_child([&] {
    if (!mount_small_disk(folder.file(""))) _exit(not_permitted);
    const Shape<2> shape{4096, 30};
    const std::string path = folder.file("x.npy");
    write_raw(folder.file("ballast"), std::string((256 - 248) * 4096, 'x'));
    for (const bool resume : {false, true}) {
      const std::string text = error_of([&] { FieldRowsWriter(path, shape, metadata, {"key", resume}); });
      if (text.find(" missing)") == std::string::npos) throw std::runtime_error(text);
      if (folder.names().size() != 1) throw std::runtime_error("something is left");
    }
    write_raw(folder.file("ballast"), std::string((256 - 250) * 4096, 'x'));
    const FieldFile field = with_metadata(shape);
    FieldRowsWriter writer(path, shape, metadata);
    writer.write(0, slice_rows(field, 0, 4096));
    writer.finish();
    if (testing::Test::HasFailure()) throw std::runtime_error("see above");
  });
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == not_permitted) GTEST_SKIP() << "no file system may be mounted here";
  EXPECT_EQ(status, 0);
}

// The actions of a signal handler before it ends the program.
TEST(FieldRowsWriter, EndingTheProgramRemovesWhatIsNotToBeResumed) {
  for (const bool resume : {false, true}) {
    const TemporaryFolder folder;
    const FieldFile field = with_metadata({12, 31});
    const pid_t child = start_child([&] {
      FieldRowsWriter writer(folder.file("x.npy"), {12, 31}, metadata, {"key", resume});
      writer.write(0, slice_rows(field, 0, 12));
      remove_pending_files();
      error_of([&] { writer.write(0, slice_rows(field, 0, 12)); }, ErrorCode::cancelled);
      error_of([&] { writer.finish(); }, ErrorCode::cancelled);
      _exit(testing::Test::HasFailure() ? 1 : 0);
    });
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(folder.names().size(), resume ? 2u : 0u);
  }
}

TEST(FieldRowsWriter, TwoAtOnceAreRefused) {
  const TemporaryFolder folder;
  for (const std::string& name : formats()) {
    const std::string path = folder.file(name);
    const FieldFile field = with_metadata({4, 3});
    FieldRowsWriter first(path, {4, 3}, metadata);
    first.write(0, slice_rows(field, 0, 2));
    for (const bool resume : {false, true}) {
      const std::string text = error_of([&] { FieldRowsWriter(path, {4, 3}, metadata, {{}, resume}); });
      EXPECT_MENTIONS(text, path + ": expected one program writing it, got another that holds");
    }
    EXPECT_EQ(first.rows_done(), 2);
    complete(folder, name, field, first);  // undisturbed
    FieldRowsWriter third(path, {4, 3}, metadata);
    complete(folder, name, field, third);
  }
}

TEST(FieldRowsWriter, BadArguments) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.npy");
  const auto invalid = [](const auto& action) { return error_of(action, ErrorCode::invalid_argument); };
  for (const Shape<2> shape : {Shape<2>{0, 3}, Shape<2>{3, 0}, Shape<2>{-1, 3}, Shape<2>{1, INT64_MAX}}) {
    EXPECT_MENTIONS(invalid([&] { FieldRowsWriter(path, shape, {}); }), "shape: expected 1 to 2^26");
  }
  EXPECT_MENTIONS(invalid([&] { FieldRowsWriter(path, {1, 1}, {{"a: b", "c"}}); }), "metadata");
  EXPECT_MENTIONS(error_of(
                      [&] {
                        FieldRowsWriter(folder.file("x.png"), {1, 1}, {});
                      },
                      ErrorCode::unsupported),
                  "expected .h5, .hdf5 or .npy for a field written by rows, got .png");
  EXPECT_MENTIONS(error_of([&] { FieldRowsWriter(folder.file("none/x.npy"), {1, 1}, {}); }), "to exist, got none");
  FieldRowsWriter writer(path, {4, 3}, {});
  const FieldFile field = make_field({5, 3});
  EXPECT_MENTIONS(invalid([&] { writer.write(0, slice_rows(field, 0, 5)); }), "of at most 4 rows");
  EXPECT_MENTIONS(invalid([&] { writer.write(3, slice_rows(field, 0, 2)); }),
                  "first_row: expected 2 rows from one of 0");
  EXPECT_MENTIONS(invalid([&] { writer.write(-1, slice_rows(field, 0, 2)); }), "got -1");
  EXPECT_MENTIONS(invalid([&] { writer.write(0, {field.values.data(), {3, 4}}); }), "shape {n, 3}");
  writer.write(1, slice_rows(field, 1, 3));
  EXPECT_MENTIONS(invalid([&] { writer.finish(); }), "row 0 missing");
  EXPECT_FALSE(writer.is_done(-1) || writer.is_done(4));
  writer.write(0, slice_rows(field, 0, 1));
  writer.finish();
  EXPECT_MENTIONS(invalid([&] { writer.finish(); }), "expected one, got two");
  EXPECT_MENTIONS(invalid([&] { writer.write(0, slice_rows(field, 0, 1)); }), "after finish()");
}

TEST(FieldRowsWriter, KeepsPermissionsAndFollowsLinks) {
  const TemporaryFolder folder;
  write_raw(folder.file("old.npy"), "x");
  std::filesystem::permissions(folder.file("old.npy"), std::filesystem::perms::owner_read);
  std::filesystem::create_symlink(folder.file("old.npy"), folder.file("x.npy"));
  const FieldFile field = make_field({2, 2});
  FieldRowsWriter writer(folder.file("x.npy"), {2, 2}, {});
  writer.write(0, slice_rows(field, 0, 2));
  writer.finish();
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("x.npy")));
  EXPECT_EQ(std::filesystem::status(folder.file("old.npy")).permissions(), std::filesystem::perms::owner_read);
  expect_same(read_field(folder.file("old.npy")), field);
}

}  // namespace
}  // namespace holotone
