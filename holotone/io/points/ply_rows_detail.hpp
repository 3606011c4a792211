#pragma once
// Rows of a PLY file's elements, ascii or binary, as numbers. Not for users.
#include <cstdint>
#include <functional>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/points/ply_header_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <string_view>
#include <vector>

namespace holotone::io {

/// One row: a number for each property (lists: their length), and the entries of one list.
struct PlyRow {
  std::vector<double> scalar;
  std::vector<double> list;
};

class PlyRows {
 public:
  /// Checks that the data can contain the rows declared in the header; throws io with both counts.
  PlyRows(const PlyHeader& header, std::string_view bytes, std::string_view path);

  /// Reads the next row of `element` into `row`; entries of the list property number `wanted_list` go to
  /// row.list (pass the number of properties for none). Throws io naming the row.
  void read(const PlyElement& element, std::uint64_t index, std::size_t wanted_list, PlyRow& row);

  /// Calls use(index, row) for all rows of an element, by all threads and in any order if the rows are binary and of
  /// one length. Throws as read.
  void read_all(const PlyElement& element, const std::function<void(std::size_t index, const PlyRow& row)>& use);

  /// Skips all rows of an element.
  void skip(const PlyElement& element);

  /// Throws if anything but blanks remains.
  void finish(const PlyElement& last) const;

  /// Returns "vertex 17 (line 31 of the data)" or, in a binary file, "vertex 17".
  [[nodiscard]] std::string row_name(const PlyElement& element, std::uint64_t index) const;

 private:
  void check_lines(const PlyHeader& header, std::string_view data) const;
  void check_bytes(const PlyHeader& header, std::uint64_t available) const;
  void read_text(const PlyElement& element, std::uint64_t index, std::size_t wanted_list, PlyRow& row);
  void read_binary(const PlyElement& element, std::uint64_t index, std::size_t wanted_list, PlyRow& row);
  double take_number(std::string_view& rest, const PlyElement& element, std::uint64_t index,
                     const PlyProperty& property) const;
  std::uint64_t list_length(double value, const PlyElement& element, std::uint64_t index) const;

  std::string_view path_;
  bool is_text_;
  std::endian order_;
  LineReader lines_;
  ByteReader binary_;
};

}  // namespace holotone::io
