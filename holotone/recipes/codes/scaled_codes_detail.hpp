#pragma once
// Codes of few bits that a file has from black to white, for viewers of pictures. Not for users.
#include <holotone/io/images/image.hpp>
#include <string>

namespace holotone {

/// Turns codes of `bits` bits that fill all bits of a pixel, as ImageWriteOptions::scaled_bits writes them, into codes
/// again; a file with the pixels' bits stays. `stated`: the file says that its codes are scaled; otherwise codes beyond
/// `bits` are, if all are steps from black to white, and the returned note says so. Throws io for a code that is none
/// of them in a file that states it.
std::string take_scale_out(const std::string& path, Image& image, int bits, bool stated);

/// Throws io, which asks for bits, if the codes of more than 1 bit are 0 and the largest alone: two levels of one bit,
/// or of all, whose phases are almost the same.
void require_known_bits(const std::string& path, const Image& image);

}  // namespace holotone
