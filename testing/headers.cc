// What precompiles the headers of the unit tests (cmake/modules.cmake): a target has a source.
int main() { return 0; }
