// What precompiles the headers of the unit tests (cmake/modules.cmake): a target must have a source.
int main() { return 0; }
