#pragma once
// Deflate pieces without repetitions. Not for users.
#include <string>
#include <string_view>

namespace holotone::io {

/// Codes a piece of a raw deflate stream byte by byte (RFC 1951, dynamic Huffman codes, literals alone). It ends at a
/// whole byte; the last piece ends the stream. Own code: zlib's Z_HUFFMAN_ONLY is slow, and libdeflate cannot end a
/// piece at a byte (docs/files.md).
std::string huffman_coded(std::string_view bytes, bool last);

}  // namespace holotone::io
