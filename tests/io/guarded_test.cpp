// glTF and HDF5 through a child process: contents, and results for damaged files.
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/io/fields/field_rows.hpp>
#include <holotone/io/guarded/guarded.hpp>
#include <holotone/io/guarded/guarded_dump_detail.hpp>
#include <holotone/io/named_file_detail.hpp>
#include <holotone/io/points/points.hpp>
#include <sys/stat.h>
#include <tests/io/assimp_scenes.hpp>
#include <tests/io/field_builders.hpp>
#include <tests/io/hdf5_fixtures.hpp>
#include <tests/io/scene_builders.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/paths.hpp>

namespace holotone {
namespace {

using field_builders::has_hdf5;
using field_builders::make_field;
using io_support::error_of;
using io_support::mutated;
using io_support::read_raw;
using io_support::TemporaryFolder;
using io_support::write_raw;
using namespace assimp_scenes;

const std::string program = guarded_program();

#define SKIP_WITHOUT_HDF5() \
  if (!has_hdf5()) GTEST_SKIP() << "built without HDF5"

TEST(GuardedScene, GltfAppliesTheNodesAndKeepsLinearColours) {
  SKIP_WITHOUT_ASSIMP();
  const TemporaryFolder folder;
  write_raw(folder.file("x.gltf"), gltf);
  const Mesh mesh = read_scene_guarded(folder.file("x.gltf"), program);
  ASSERT_EQ(mesh.position.size(), 3u);
  expect_near(mesh.position[1], {0, 1, 5});
  expect_near(mesh.position[2], {-1, 0, 5});
  ASSERT_EQ(mesh.colour.size(), 3u);
  expect_near(mesh.colour[0], {0.5f, 0.5f, 0.5f});
  EXPECT_EQ(mesh.triangle.size(), 1u);
  expect_same(read_scene_assimp(folder.file("x.gltf")), mesh);
}

// One triangle with its 36 bytes in the file `uri`.
std::string gltf_beside(const std::string& uri) {
  return R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"buffers":[{"byteLength":36,"uri":")" +
         uri + R"("}],"bufferViews":[{"buffer":0,"byteLength":36}],
"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}]})";
}

std::string triangle_bytes() {
  std::string bytes;
  for (const float number : {0.0F, 0.0F, 0.0F, 1.0F, 0.0F, 0.0F, 0.0F, 1.0F, 0.0F})
    bytes += io_support::bytes_of(number);
  return bytes;
}

TEST(GuardedScene, BuffersLieInTheFolderOfTheGltf) {
  SKIP_WITHOUT_ASSIMP();
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("a/b"));
  for (const char* name : {"outside.bin", "a/in.bin", "a/b/in.bin"}) write_raw(folder.file(name), triangle_bytes());
  ASSERT_EQ(mkfifo(folder.file("a/fifo.bin").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder.file("a/zero.bin"));
  const std::string path = folder.file("a/x.gltf");
  for (const char* uri : {"in.bin", "b/in.bin", "./in.bin"}) {
    write_raw(path, gltf_beside(uri));
    EXPECT_EQ(read_scene_guarded(path, program).position.size(), 3u) << uri;
  }
  std::filesystem::create_symlink("../outside.bin", folder.file("a/out.bin"));
  std::filesystem::create_symlink(folder.file("outside.bin"), folder.file("a/b/far.bin"));
  std::filesystem::create_directory_symlink("..", folder.file("a/up"));
  std::filesystem::create_symlink("out.bin", folder.file("a/chain.bin"));
  std::filesystem::create_symlink("loop.bin", folder.file("a/loop.bin"));
  std::filesystem::create_symlink("/proc/self/fd/0", folder.file("a/magic.bin"));
  const std::string from_root = folder.file("outside.bin");
  const std::string inside_from_root = folder.file("a/in.bin");
  const std::pair<std::string, const char*> refused[] = {{"../outside.bin", "a path with '..'"},
                                                         {"b/../in.bin", "a path with '..'"},
                                                         {from_root, "a path from the root"},
                                                         {inside_from_root, "a path from the root"},
                                                         {"out.bin", "a link that leads out of it"},
                                                         {"b/far.bin", "a link that leads out of it"},
                                                         {"up/outside.bin", "a link that leads out of it"},
                                                         {"chain.bin", "a link that leads out of it"},
                                                         {"zero.bin", "a link that leads out of it"},
                                                         {"magic.bin", "a link that leads out of it"},
                                                         {"loop.bin", "links in a circle"},
                                                         {"missing.bin", "no such file"},
                                                         {"b", "a folder"},
                                                         {"fifo.bin", "a device, pipe or socket"}};
  for (const auto& [uri, words] : refused) {
    write_raw(path, gltf_beside(uri));
    const auto start = std::chrono::steady_clock::now();
    const std::string text = error_of([&] { read_scene_guarded(path, program); });
    EXPECT_TRUE(text.starts_with(path + ": expected the buffer '" + uri.substr(0, 40))) << text;
    EXPECT_TRUE(text.ends_with(std::string(" to be a regular file in its folder or below, got ") + words)) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 10) << uri;
  }
}

// Links inside the folder are followed, also where the scene is opened through a link to its folder.
TEST(GuardedScene, BuffersMayBeLinksWithinTheFolder) {
  SKIP_WITHOUT_ASSIMP();
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("a/b"));
  write_raw(folder.file("a/b/in.bin"), triangle_bytes());
  std::filesystem::create_symlink("b/in.bin", folder.file("a/link.bin"));
  std::filesystem::create_symlink("../link.bin", folder.file("a/b/back.bin"));
  std::filesystem::create_directory_symlink("a", folder.file("alias"));
  for (const char* uri : {"link.bin", "b/back.bin"}) {
    write_raw(folder.file("a/x.gltf"), gltf_beside(uri));
    EXPECT_EQ(read_scene_guarded(folder.file("a/x.gltf"), program).position.size(), 3u) << uri;
    EXPECT_EQ(read_scene_guarded(folder.file("alias/x.gltf"), program).position.size(), 3u) << uri;
  }
}

// The limits of the reader follow the files that it may open: /proc/kcore claims terabytes.
TEST(GuardedScene, LimitsDoNotCountFilesOutside) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("a"));
  write_raw(folder.file("outside.bin"), triangle_bytes());
  write_raw(folder.file("a/in.bin"), triangle_bytes());
  std::filesystem::create_symlink("../outside.bin", folder.file("a/out.bin"));
  EXPECT_EQ(io::named_file_bytes(folder.file("a/x.gltf"), "in.bin"), 36u);
  for (const auto& name : {std::string("out.bin"), std::string("../outside.bin"), folder.file("a/in.bin")}) {
    EXPECT_EQ(io::named_file_bytes(folder.file("a/x.gltf"), name), 0u) << name;
  }
}

// Kernels without openat2 compare canonical paths.
TEST(NamedFile, BothWaysOfOpeningAgree) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("a/b"));
  for (const char* name : {"outside.bin", "ab.bin", "a/in.bin"}) write_raw(folder.file(name), "x");
  std::filesystem::create_symlink("../in.bin", folder.file("a/b/back.bin"));
  std::filesystem::create_symlink("../outside.bin", folder.file("a/out.bin"));
  std::filesystem::create_symlink("../ab.bin", folder.file("a/similar.bin"));
  std::filesystem::create_symlink("/etc/hostname", folder.file("a/far.bin"));
  std::filesystem::create_directory_symlink("..", folder.file("a/up"));
  std::filesystem::create_symlink("loop.bin", folder.file("a/loop.bin"));
  for (const auto& [name, reason] : {std::pair{"in.bin", 0},
                                     {"b/back.bin", 0},
                                     {"b", 0},
                                     {"out.bin", EXDEV},
                                     {"similar.bin", EXDEV},
                                     {"far.bin", EXDEV},
                                     {"up/outside.bin", EXDEV},
                                     {"up/a/in.bin", EXDEV},
                                     {"loop.bin", ELOOP},
                                     {"missing.bin", ENOENT},
                                     {"in.bin/x", ENOTDIR}}) {
    for (const auto& open : {io::open_beneath, io::open_compared}) {
      errno = 0;
      const io::FileHandle file(open(folder.file("a"), name));
      if (!file.valid() && errno == ENOSYS) continue;
      // Compared as a whole, a path that leaves the folder and comes back lies in it.
      if (open == io::open_compared && std::string_view(name) == "up/a/in.bin") continue;
      EXPECT_EQ(file.valid() ? 0 : errno, reason) << name << (open == io::open_compared ? ", compared" : "");
    }
  }
}

TEST(GuardedField, OtherFilesOfAnHdf5AreNotOpened) {
  SKIP_WITHOUT_HDF5();
  const TemporaryFolder folder;
  write_field(folder.file("other.h5"), make_field({2, 2}));
  write_raw(folder.file("other.bin"), std::string(32, 'x'));
  const std::string path = folder.file("x.h5");
  for (const auto& [bytes, got] : {std::pair{hdf5_fixtures::linked, "a link to 'other.h5'"},
                                   {hdf5_fixtures::stored, "data in 'other.bin'"},
                                   {hdf5_fixtures::combined, "a virtual dataset of 'other.h5'"}}) {
    write_raw(path, bytes);
    const std::string text = path + ": expected a field in the file itself, got " + got;
    EXPECT_EQ(error_of([&] { read_field_guarded(path, program); }), text);
    EXPECT_EQ(error_of([&] { FieldRowsReader(path, program); }), text);
  }
}

TEST(SceneSideFiles, AreTheUrisOfAGltf) {
  const TemporaryFolder folder;
  const std::string json = R"({"buffers":[{"uri":"a.bin"},{"uri" : "data:x;base64,AA=="}, {"ur\u0069":"sub/b\/c.bin"}],
"images":[{"uri":"wood%20grain.png"},{"name":"uri"}],"extras":{"uri":7,"x":"\"uri\":\"no.bin\"","uri":"a.bin"}})";
  const std::vector<std::string> expected{folder.file("a.bin"), folder.file("sub/b/c.bin"),
                                          folder.file("wood%20grain.png"), folder.file("wood grain.png")};
  write_raw(folder.file("x.gltf"), json);
  EXPECT_EQ(scene_side_files(folder.file("x.gltf")), expected);
  const auto length = static_cast<std::uint32_t>(json.size());
  write_raw(folder.file("x.glb"), "glTF" + io_support::bytes_of<std::uint32_t>(2) + io_support::bytes_of(length + 20) +
                                      io_support::bytes_of(length) + "JSON" + json + R"({"uri":"behind.bin"})");
  EXPECT_EQ(scene_side_files(folder.file("x.glb")), expected);
  for (const char* cut : {"", "{", "{\"uri\"", "{\"uri\":", "{\"uri\":\"a", "{\"uri\":\"a\\", "glTF", "glTF\2\0\0"}) {
    write_raw(folder.file("x.gltf"), cut);
    EXPECT_TRUE(scene_side_files(folder.file("x.gltf")).empty()) << cut;
  }
  EXPECT_TRUE(scene_side_files(folder.file("absent.gltf")).empty());
}

TEST(ReaderLimits, FollowTheBytes) {
  EXPECT_EQ(scene_reader_limits(1000).memory_bytes, (std::uint64_t{256} << 20) + 128'000);
  EXPECT_DOUBLE_EQ(scene_reader_limits(600'000).run.seconds, 3.6);
  EXPECT_EQ(field_reader_limits(1000).memory_bytes, (std::uint64_t{256} << 20) + 4'000'000);
  EXPECT_EQ(field_reader_limits(1 << 30).memory_bytes, (std::uint64_t{256} << 20) + (std::uint64_t{26} << 30));
  EXPECT_EQ(field_reader_limits(1000).run.output_bytes, (std::uint64_t{64} << 20) + 1'100'000);
  EXPECT_DOUBLE_EQ(field_reader_limits(4'000'000).run.seconds, 21);
}

// 40,000 nodes with one mesh of 8,000 vertices, all at zero: 600 kB that take as long as 320 million vertices.
TEST(ReaderLimits, HoldSmallFilesBack) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a program with a sanitizer does not run under a limit of memory";
#else
  SKIP_WITHOUT_ASSIMP();
  const TemporaryFolder folder;
  constexpr int nodes = 40'000;
  std::string list = "0";
  std::string children = "{\"mesh\":0}";
  for (int i = 1; i < nodes; ++i) {
    list += fmt::format(",{}", i);
    children += ",{\"mesh\":0}";
  }
  write_raw(folder.file("x.bin"), std::string(96'000, '\0'));
  write_raw(folder.file("x.gltf"), R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[)" + list +
                                       R"(]}],"nodes":[)" + children +
                                       R"(],"meshes":[{"primitives":[{"attributes":{"POSITION":0},"mode":0}]}],
"buffers":[{"byteLength":96000,"uri":"x.bin"}],"bufferViews":[{"buffer":0,"byteLength":96000}],
"accessors":[{"bufferView":0,"componentType":5126,"count":8000,"type":"VEC3","min":[0,0,0],"max":[0,0,0]}]})");
  const auto start = std::chrono::steady_clock::now();
  const std::string text = error_of([&] { read_scene_guarded(folder.file("x.gltf"), program); });
  EXPECT_MENTIONS(text, folder.file("x.gltf") + ": the reader took more than 3.");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("40,000 nodes of one mesh: refused after %.1f s\n", seconds.count());
#endif
}

TEST(GuardedScene, OwnFormatsAreReadHere) {
  const TemporaryFolder folder;
  write_raw(folder.file("x.ply"), scene_builders::rich_ply(scene_builders::PlyKind::big));
  expect_same(read_scene_guarded(folder.file("x.ply"), "/no/program"), read_scene(folder.file("x.ply")));
}

TEST(GuardedScene, ErrorsArriveAsOneLine) {
  SKIP_WITHOUT_ASSIMP();
  const TemporaryFolder folder;
  const auto refuse = [&](const std::string& name) {
    return error_of([&] { read_scene_guarded(folder.file(name), program); });
  };
  EXPECT_EQ(refuse("absent.glb"), folder.file("absent.glb") + ": expected a readable file, got none");
  write_raw(folder.file("empty.gltf"), "");
  EXPECT_MENTIONS(refuse("empty.gltf"), "an empty file");
  write_raw(folder.file("garbage.glb"), "garbage \x01\x02");
  EXPECT_MENTIONS(refuse("garbage.glb"), "a glTF or GLB scene");
  write_raw(folder.file("x.gltf"), gltf);
  // A program that is not a reader.
  const auto wrong = [&](const std::string& other) {
    return error_of([&] { read_scene_guarded(folder.file("x.gltf"), other); });
  };
  EXPECT_MENTIONS(wrong("/bin/echo"), "expected the guarded reader to give a dump");
  EXPECT_MENTIONS(wrong("/bin/false"), "the reader failed (exit code 1)");
}

TEST(GuardedField, Hdf5RoundTrips) {
  SKIP_WITHOUT_HDF5();
  const TemporaryFolder folder;
  FieldFile field = make_field({13, 37});
  field.metadata = {{"wavelength_m", "5.32e-07"}, {"encoding", "complex"}};
  write_field(folder.file("x.h5"), field);
  const FieldFile back = read_field_guarded(folder.file("x.h5"), program);
  ASSERT_EQ(back.values.shape(), field.values.shape());
  EXPECT_EQ(std::memcmp(back.values.data(), field.values.data(), field.values.bytes()), 0);
  EXPECT_EQ(back.metadata, field.metadata);
  EXPECT_MENTIONS(error_of([&] { read_field_guarded(folder.file("absent.h5"), program); }), "got none");
}

TEST(GuardedField, TooLittleMemoryIsSaidPlainly) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers reserve more memory than any limit";
#else
  SKIP_WITHOUT_HDF5();
  const TemporaryFolder folder;
  write_field(folder.file("x.h5"), make_field({500, 600}));
  const ReaderLimits limits{.memory_bytes = 100 << 20};
  write_field(folder.file("large.h5"), make_field({4000, 4000}));
  EXPECT_EQ(read_field_guarded(folder.file("x.h5"), program, limits).values.shape(), (Shape<2>{500, 600}));
  EXPECT_EQ(error_of([&] { read_field_guarded(folder.file("large.h5"), program, limits); }),
            folder.file("large.h5") + ": the reader needed more than 100.0 MiB");
#endif
}

// Damaged files -----------------------------------------------------------------------------------------------------

struct Tally {
  int read = 0;
  int refused = 0;
  int crashed = 0;
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int mutation_count = 40;  // a child with a sanitizer starts several times more slowly
#else
constexpr int mutation_count = 200;
#endif

template <class Read>
void expect_guarded_survival(const std::string& seed, const std::string& name, const Read& read_one) {
  const TemporaryFolder folder;
  const std::string path = folder.file(name);
  const auto start = std::chrono::steady_clock::now();
  Tally tally;
  for (int i = 0; i < mutation_count; ++i) {
    write_raw(path, mutated(seed, static_cast<std::uint64_t>(i)));
    try {
      read_one(path);
      ++tally.read;
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_EQ(error.code(), ErrorCode::io) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      EXPECT_TRUE(text.starts_with(path)) << text;
      const bool crashed = text.find("the reader ") != std::string::npos;
      ++(crashed ? tally.crashed : tally.refused);
      if (crashed) std::printf("  mutation %d: %s\n", i, text.c_str());
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%s: %d mutations of %zu bytes in %.1f s: %d read, %d refused, %d ended the child\n", name.c_str(),
              mutation_count, seed.size(), seconds.count(), tally.read, tally.refused, tally.crashed);
  EXPECT_GT(tally.refused, 0);
}

const ReaderLimits small_limits{.run = {.output_bytes = 64 << 20, .seconds = 5},
                                .memory_bytes = std::uint64_t{1} << 30};

TEST(GuardedBadInput, MutatedScenes) {
  SKIP_WITHOUT_ASSIMP();
  const auto read = [](const std::string& path) { read_scene_guarded(path, program, small_limits); };
  expect_guarded_survival(gltf, "x.gltf", read);
}

TEST(GuardedBadInput, MutatedHdf5) {
  SKIP_WITHOUT_HDF5();
  const TemporaryFolder folder;
  FieldFile field = make_field({4, 6});
  field.metadata = {{"wavelength_m", "5.32e-07"}, {"encoding", "complex"}};
  write_field(folder.file("x.h5"), field);
  const auto read = [](const std::string& path) { read_field_guarded(path, program, small_limits); };
  expect_guarded_survival(read_raw(folder.file("x.h5")), "x.h5", read);
}

TEST(GuardedBadInput, TruncatedFiles) {
  const TemporaryFolder folder;
  std::vector<std::pair<std::string, std::string>> files;
  if (has_assimp()) files = {{"x.gltf", gltf}};
  if (has_hdf5()) {
    write_field(folder.file("x.h5"), make_field({4, 6}));
    files.emplace_back("x.h5", read_raw(folder.file("x.h5")));
  }
  if (files.empty()) GTEST_SKIP() << "built without assimp and HDF5";
  for (const auto& [name, bytes] : files) {
    const auto read = [](const std::string& path) {
      path.ends_with("h5") ? void(read_field_guarded(path, program)) : void(read_scene_guarded(path, program));
    };
    io_support::expect_truncations_refused(bytes, name, true, read);
  }
}

// The parent validates every field of a dump.
TEST(GuardedDump, RoundTripsAndRefusesEverythingElse) {
  Mesh mesh;
  mesh.position = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  mesh.colour = {{0, 0, 1}, {0, 1, 0}, {1, 0, 0}};
  mesh.amplitude = {1, 2, 3};
  mesh.triangle = {{0, 1, 2}};
  mesh.origin = {1e6, 0, -3};
  mesh.ignored = "skins, animations";
  const std::string dump = io::dump_scene(mesh);
  expect_same(io::parse_scene(dump, "x"), mesh);
  for (std::size_t size = 0; size < dump.size(); ++size) {
    EXPECT_THROW(io::parse_scene(dump.substr(0, size), "x"), Error) << size;
  }
  EXPECT_MENTIONS(error_of([&] { io::parse_scene(dump + "x", "x"); }), "the end");
  EXPECT_MENTIONS(error_of([&] { io::parse_field(dump, "x"); }), "the kind asked for");
  mesh.origin[1] = INFINITY;
  EXPECT_MENTIONS(error_of([&] { io::parse_scene(io::dump_scene(mesh), "x"); }), "a finite origin");
  mesh.origin = {};
  mesh.triangle = {{0, 1, 3}};
  EXPECT_MENTIONS(error_of([&] { io::parse_scene(io::dump_scene(mesh), "x"); }), "indices below 3");
  mesh.triangle.clear();
  mesh.amplitude.pop_back();
  EXPECT_MENTIONS(error_of([&] { io::parse_scene(io::dump_scene(mesh), "x"); }), "3 amplitudes");

  FieldFile field = make_field({2, 3});
  field.metadata = {{"a", "b"}};
  const std::string field_dump = io::dump_field(field);
  EXPECT_EQ(io::parse_field(field_dump, "x").metadata, field.metadata);
  for (std::size_t size = 0; size < field_dump.size(); ++size) {
    EXPECT_THROW(io::parse_field(field_dump.substr(0, size), "x"), Error) << size;
  }
  for (const auto& seed : {dump, field_dump}) {
    io_support::expect_survival("dump", seed, ".dump", 300, [](const std::string& path) {
      const std::string bytes = read_raw(path);
      bytes.size() > 8 && bytes[8] == 1 ? void(io::parse_scene(bytes, "x")) : void(io::parse_field(bytes, "x"));
    });
  }
}

TEST(GuardedDump, ErrorsKeepTheirCodeAndBecomeOneLine) {
  const auto dump = io::dump_error(ErrorCode::unsupported, "two\nlines \x1b[31m");
  EXPECT_EQ(error_of([&] { io::parse_field(dump, "x"); }, ErrorCode::unsupported), "two lines  [31m");
}

TEST(GuardedChild, OnlyItsOwnCommandsAreTaken) {
  const char* other[] = {"holotone", "info", "a", "b"};
  EXPECT_FALSE(guarded_child(4, other).has_value());
  const char* few[] = {"holotone", "__read-scene", "a"};
  EXPECT_FALSE(guarded_child(3, few).has_value());
  const char* wrong[] = {"holotone", "__read-scene", "absent.ply", "1e9"};
  EXPECT_FALSE(guarded_child(4, wrong).has_value());
  const GuardedRun run = run_guarded(program, {"__read-scene", "absent.ply", "1000000000"}, {}, "absent.ply");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_MENTIONS(error_of([&] { io::parse_scene(run.output, "x"); }), "absent.ply");
}

}  // namespace
}  // namespace holotone
