#pragma once
// What the kernels of error diffusion are given. Read by the compiler at run time too: it includes nothing. Not for
// users.

namespace holotone::diffusion {

struct WavefrontArguments {
  const float* field;       // {ny, nx} complex
  unsigned char* codes;     // {ny, nx}
  const float* weights;     // {sets, taps}
  const float* shown;       // {levels} complex
  const float* boundaries;  // {boundary_count}, of a table of levels
  const unsigned char* boundary_codes;
  unsigned long long*
      // {hogels, 2, chunks, rows above, columns of a chunk, 2}: errors that the next group of rows needs, each number
      // with a tag
      borders;
  int* ticket;
  unsigned long long* broken;  // the first pixel that is not finite
  long long nx;
  long long ny;
  int boundary_count;
  int side;  // of hogels
  int hogels_across;
  int hogels;
  int groups;  // of 32 rows in a whole hogel
  int chunks;  // of columns that a group works on in a whole hogel
  int many_sets;
  unsigned epoch;  // of this run, times the groups
  float unit;
  float radius;
  float scale;
  float one;  // a 1 that the compiler does not know
};

}  // namespace holotone::diffusion
