// A library for tests of the search for libraries. A copy gets a name and a number of its own by replacing the text
// below and its soname, libholotone_fake_0.so.2 (tests/core/cuda_library_test.cpp).
extern "C" {

char holotone_fake_text[] = "fake library 0";

int holotone_fake_number() { return holotone_fake_text[sizeof holotone_fake_text - 2] - '0'; }

#if !FAKE_LIBRARY_LACKS_A_FUNCTION
int holotone_fake_other() { return 10 + holotone_fake_number(); }
#endif
}
