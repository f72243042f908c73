// A shared library that is no PJRT plugin, for tests that need one to open.
extern "C" [[gnu::visibility("default")]] int precast_test_symbol() { return 1; }
