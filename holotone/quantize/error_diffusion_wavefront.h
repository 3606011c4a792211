#pragma once
// Arguments of the kernels of error diffusion. Also compiled at run time: includes nothing. Not for users.

namespace holotone::diffusion {

struct WavefrontParameters {
  const float* field;       // {ny, nx} complex
  unsigned char* codes;     // {ny, nx}
  const float* weights;     // {sets, taps}
  const float* shown;       // {levels} complex
  const float* boundaries;  // {boundary_count}, boundaries of a table of levels
  const unsigned char* boundary_codes;
  // {hogels, 2, chunks, rows above, columns of a chunk, 2}: errors for the next group of rows, each number with a tag
  unsigned long long* borders;
  int* ticket;
  unsigned long long* broken;  // index of the first pixel that is not finite
  long long nx;
  long long ny;
  int boundary_count;
  int side;  // side of hogels, pixels
  int hogels_across;
  int hogels;
  int groups;  // groups of 32 rows in a whole hogel
  int chunks;  // chunks of columns of a group in a whole hogel
  int many_sets;
  unsigned epoch;  // number of earlier runs, times the groups
  float unit;
  float radius;
  float scale;
  float one;     // 1 as a run-time value: a product with it is not optimized away
  int set_side;  // side of the squares with sets of weights of their own within the hogel (SETS)
  int sets_across;
};

}  // namespace holotone::diffusion
