// Arrays as arguments: a buffer and the distance of the array's begin in it. A distance of its own, since a sub-buffer
// must begin at an address that few rows of a panel have.
#define ARRAY(type, name) __global type *name##_memory, long name##_first
#define AT(name) (name##_memory + name##_first)
