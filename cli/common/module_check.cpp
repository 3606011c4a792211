#include <algorithm>
#include <array>
#include <cli/common/module_check.hpp>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <vector>

namespace holotone::cli {
namespace {

/// Bytes that the headers of an ELF file say it has; 0: it is none of this kind of machine.
std::uint64_t stated_bytes(const io::FileHandle& file, std::uint64_t bytes, const std::string& path) {
  Elf64_Ehdr head{};
  if (bytes < sizeof head) return sizeof head;
  io::require_bytes(file, reinterpret_cast<char*>(&head), sizeof head, 0, path);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64) return 0;
  const std::uint64_t sections_end = head.e_shoff + std::uint64_t{head.e_shnum} * head.e_shentsize;
  const std::uint64_t segments_end = head.e_phoff + std::uint64_t{head.e_phnum} * sizeof(Elf64_Phdr);
  std::uint64_t end = std::max({std::uint64_t{sizeof head}, sections_end, segments_end});
  if (segments_end > bytes || head.e_phentsize != sizeof(Elf64_Phdr)) return end;
  std::vector<Elf64_Phdr> segments(head.e_phnum);
  io::require_bytes(file, reinterpret_cast<char*>(segments.data()), segments.size() * sizeof(Elf64_Phdr), head.e_phoff,
                    path);
  for (const auto& segment : segments) {
    if (segment.p_type == PT_LOAD) end = std::max(end, segment.p_offset + segment.p_filesz);
  }
  return end;
}

}  // namespace

std::string why_not_whole(const std::string& path) {
  try {
    std::uint64_t bytes = 0;
    const auto file = io::open_file(path, bytes);
    const std::uint64_t stated = stated_bytes(file, bytes, path);
    if (stated == 0) return fmt::format("{}, which is no module of this kind of machine", path);
    return bytes < stated ? fmt::format("{}, which is cut off after {} of {} bytes", path, bytes, stated) : "";
  } catch (const Error& error) {
    return fmt::format("{}: {}", path, error.got());
  }
}

}  // namespace holotone::cli
