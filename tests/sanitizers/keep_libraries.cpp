/// Linked into programs under the address sanitizer, in place of libc's: Open MPI's plugins stay in
/// the process, so that what they leak is theirs by name (leaks.supp) when the leaks are counted.
extern "C" [[gnu::visibility("default")]] int dlclose(void*) { return 0; }
