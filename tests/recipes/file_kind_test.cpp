// What a file holds, by its name and first bytes.
#include <gtest/gtest.h>
#include <holotone/io/npy_detail.hpp>
#include <holotone/recipes/file_kind_detail.hpp>
#include <tests/support/io_support.hpp>

namespace holotone {
namespace {

class FileKindTest : public ::testing::Test {
 protected:
  [[nodiscard]] FileKind kind(const std::string& name, const std::string& bytes = "") const {
    const auto path = folder_.file(name);
    io_support::write_raw(path, bytes);
    return file_kind(path);
  }
  [[nodiscard]] FileKind kind_of_npy(std::string_view type, const std::vector<std::int64_t>& shape) const {
    std::int64_t bytes = type[2] - '0';
    for (const auto side : shape) bytes *= side;
    return kind("a.npy", io::npy_header(type, shape) + std::string(static_cast<std::size_t>(bytes), '\0'));
  }

 private:
  io_support::TemporaryFolder folder_;
};

TEST_F(FileKindTest, IsOftenSaidByTheNameAlone) {
  for (const auto* name : {"a.png", "a.PNG", "a.tif", "a.tiff", "a.bmp", "a.jpg", "a.jpeg", "a.pfm", "a.exr"}) {
    EXPECT_EQ(kind(name, "x"), FileKind::picture) << name;
  }
  for (const auto* name : {"a.h5", "a.hdf5", "a.mat", "a.ohc"}) EXPECT_EQ(kind(name, "x"), FileKind::field) << name;
  for (const auto* name : {"a.smoe", "a.json", "a.npz"}) EXPECT_EQ(kind(name, "x"), FileKind::model) << name;
  for (const auto* name : {"a.svg", "a.dat", "a.xy"}) EXPECT_EQ(kind(name, "x"), FileKind::dots) << name;
  for (const auto* name : {"a.ply", "a.stl", "a.obj", "a.gltf", "a.glb", "a.xyz", "a.asc", "a.unknown", "a"}) {
    EXPECT_EQ(kind(name, "x"), FileKind::points) << name;
  }
}

TEST_F(FileKindTest, FieldsOfUnknownNamesAreSeenByTheirSignature) {
  EXPECT_EQ(kind("field.of.light", "\x89HDF\r\n\x1a\n rest"), FileKind::field);
  EXPECT_EQ(kind("field.of.light", "\x89HDF\r\n\x1a rest"), FileKind::points);
}

TEST_F(FileKindTest, TablesHoldDotsWithoutZ) {
  for (const std::string extension : {".csv", ".tsv", ".txt"}) {
    EXPECT_EQ(kind("a" + extension, "# Holotone dots\n1,2,3\n"), FileKind::dots) << extension;
    EXPECT_EQ(kind("a" + extension, "x,y,radius\n1,2,3\n"), FileKind::dots) << extension;
    EXPECT_EQ(kind("a" + extension, "1 2\n3 4\n"), FileKind::dots) << extension;
    EXPECT_EQ(kind("a" + extension, "x,y,z\n1,2,3\n"), FileKind::points) << extension;
    EXPECT_EQ(kind("a" + extension, "1 2 3\n"), FileKind::points) << extension;
  }
  EXPECT_EQ(kind("a.xyz", "1 2\n3 4\n"), FileKind::points);
}

TEST_F(FileKindTest, ArraysOfNumPyAreSeenByTypeAndShape) {
  EXPECT_EQ(kind_of_npy("<c8", {4, 3}), FileKind::field);
  EXPECT_EQ(kind_of_npy("<f4", {4, 2}), FileKind::dots);
  EXPECT_EQ(kind_of_npy("<f4", {4, 3}), FileKind::points);
  EXPECT_EQ(kind_of_npy("<f4", {4, 4}), FileKind::points);
  EXPECT_EQ(kind_of_npy("<f4", {4, 5}), FileKind::array);
  EXPECT_EQ(kind_of_npy("<f4", {4, 1}), FileKind::array);
  EXPECT_EQ(kind_of_npy("|u1", {4, 5, 3}), FileKind::array);
  EXPECT_MENTIONS(io_support::error_of([&] { (void)kind("broken.npy", "x"); }), "broken.npy");
}

}  // namespace
}  // namespace holotone
