/* clang-format off */
/* Preloaded into a program under test, makes system calls on some files go wrong.
 *
 * WARPFOLD_FAULT_FILE    the files: those whose path contains this
 * WARPFOLD_FAULT_CALL    the call: pread, pwrite, fsync, fallocate or open
 * WARPFOLD_FAULT_BYTE    the place of the fault in the file, of pread and pwrite; unset: every place
 * WARPFOLD_FAULT_RANK    the MPI rank; unset: all
 * WARPFOLD_FAULT_ACTION  error ERRNO     it fails there, after the bytes before
 *                        short BYTES     it never moves more than so many bytes
 *                        kill            the process is killed as it begins
 *                        truncate BYTES  the file is cut to so many bytes as it begins
 *                        modify BYTE     that byte of the file is inverted as it begins
 *                        delay MS        it begins so many milliseconds later
 *                        lose-gpu        a kernel traps on every GPU that the process works on, and
 *                                        leaves it without them, as it begins
 * WARPFOLD_FAULT_LOG     a file that grows by a byte with every fault
 * WARPFOLD_FAULT_MEMORY  the bytes of memory that the host seems to have
 */
/* clang-format on */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
  const char* file;
  const char* call;
  const char* log;
  long byte; /* -1: every one */
  char action[16];
  long value;
} fault;

static int is_chosen_rank(void) {
  const char* chosen = getenv("WARPFOLD_FAULT_RANK");
  const char* open_mpi = getenv("OMPI_COMM_WORLD_RANK");
  const char* rank = open_mpi != NULL ? open_mpi : getenv("PMI_RANK");
  return chosen == NULL || (rank != NULL && strcmp(chosen, rank) == 0);
}

__attribute__((constructor)) static void read_settings(void) {
  const char* action = getenv("WARPFOLD_FAULT_ACTION");
  const char* byte = getenv("WARPFOLD_FAULT_BYTE");
  if (action == NULL || !is_chosen_rank()) return;
  if (sscanf(action, "%15s %ld", fault.action, &fault.value) < 1) return;
  fault.call = getenv("WARPFOLD_FAULT_CALL");
  fault.log = getenv("WARPFOLD_FAULT_LOG");
  fault.byte = byte != NULL ? atol(byte) : -1;
  fault.file = getenv("WARPFOLD_FAULT_FILE");
}

static int is_meant(const char* call) {
  return fault.file != NULL && strcmp(call, fault.call) == 0;
}

static int is_meant_on(const char* call, const char* path) {
  return is_meant(call) && strstr(path, fault.file) != NULL;
}

static int acts(const char* action) { return strcmp(fault.action, action) == 0; }

static void count_fault(void) {
  const int file =
      (int)syscall(SYS_openat, AT_FDCWD, fault.log, O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (write(file, "x", 1) == 1) close(file);
}

static void invert_byte(const char* path, off_t place) {
  char byte = 0;
  const int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR);
  syscall(SYS_pread64, file, &byte, 1, place);
  byte = (char)~byte;
  syscall(SYS_pwrite64, file, &byte, 1, place);
  close(file);
}

/* What is called of the CUDA driver, whose headers a test may not have. */
static struct {
  int (*device_count)(int*);
  int (*context_state)(int, unsigned*, int*);
  int (*retain)(void**, int);
  int (*push)(void*);
  int (*pop)(void**);
  int (*load)(void**, const void*);
  int (*find)(void**, void*, const char*);
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**);
} cuda;

static void find_driver(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == NULL) abort();
  *(void**)&cuda.device_count = dlsym(driver, "cuDeviceGetCount");
  *(void**)&cuda.context_state = dlsym(driver, "cuDevicePrimaryCtxGetState");
  *(void**)&cuda.retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
  *(void**)&cuda.push = dlsym(driver, "cuCtxPushCurrent_v2");
  *(void**)&cuda.pop = dlsym(driver, "cuCtxPopCurrent_v2");
  *(void**)&cuda.load = dlsym(driver, "cuModuleLoadData");
  *(void**)&cuda.find = dlsym(driver, "cuModuleGetFunction");
  *(void**)&cuda.launch = dlsym(driver, "cuLaunchKernel");
}

static void trap_on(int device) {
  static const char code[] =
      ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry lose() { trap; }\n";
  void* context = NULL;
  void* module = NULL;
  void* kernel = NULL;
  if (cuda.retain(&context, device) != 0 || cuda.push(context) != 0) abort();
  if (cuda.load(&module, code) != 0 || cuda.find(&kernel, module, "lose") != 0) abort();
  if (cuda.launch(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) != 0) abort();
  cuda.pop(&context);
}

static void lose_gpus(void) {
  int devices = 0;
  find_driver();
  if (cuda.device_count(&devices) != 0) abort();
  for (int device = 0; device < devices; ++device) {
    unsigned flags = 0;
    int active = 0;
    if (cuda.context_state(device, &flags, &active) == 0 && active) trap_on(device);
  }
}

/* How many of `bytes` bytes from `offset` on a call may move; -1 and errno where it fails. */
static ssize_t allowed(const char* path, size_t bytes, off_t offset) {
  const off_t end = offset + (off_t)bytes;
  if (acts("short")) {
    if (bytes <= (size_t)fault.value) return (ssize_t)bytes;
    count_fault();
    return fault.value;
  }
  if (fault.byte >= 0 && (fault.byte < offset || fault.byte >= end)) return (ssize_t)bytes;
  if (acts("error") && fault.byte > offset) return fault.byte - offset;
  count_fault();
  if (acts("error")) {
    errno = (int)fault.value;
    return -1;
  }
  if (acts("kill")) raise(SIGKILL);
  if (acts("truncate") && truncate(path, fault.value) != 0) abort();
  if (acts("lose-gpu")) lose_gpus();
  if (acts("modify")) invert_byte(path, fault.value);
  if (acts("delay")) usleep((useconds_t)fault.value * 1000);
  return (ssize_t)bytes;
}

static ssize_t allowed_on(const char* call, int descriptor, size_t bytes, off_t offset) {
  char link[64];
  char path[PATH_MAX];
  if (!is_meant(call)) return (ssize_t)bytes;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  return is_meant_on(call, path) ? allowed(path, bytes, offset) : (ssize_t)bytes;
}

ssize_t pread(int descriptor, void* out, size_t bytes, off_t offset) {
  const ssize_t now = allowed_on("pread", descriptor, bytes, offset);
  return now < 0 ? now : syscall(SYS_pread64, descriptor, out, (size_t)now, offset);
}

ssize_t pwrite(int descriptor, const void* from, size_t bytes, off_t offset) {
  const ssize_t now = allowed_on("pwrite", descriptor, bytes, offset);
  return now < 0 ? now : syscall(SYS_pwrite64, descriptor, from, (size_t)now, offset);
}

int fsync(int descriptor) {
  return allowed_on("fsync", descriptor, 0, 0) < 0 ? -1 : (int)syscall(SYS_fsync, descriptor);
}

int fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
  if (allowed_on("fallocate", descriptor, 0, 0) < 0) return -1;
  return (int)syscall(SYS_fallocate, descriptor, mode, offset, bytes);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (is_meant_on("open", path) && allowed(path, 0, 0) < 0) return -1;
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

long sysconf(int name) {
  long (*const real)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
  const char* memory = getenv("WARPFOLD_FAULT_MEMORY");
  if (name != _SC_PHYS_PAGES || memory == NULL) return real(name);
  return atol(memory) / real(_SC_PAGESIZE);
}

ssize_t pread64(int, void*, size_t, off_t) __attribute__((alias("pread")));
ssize_t pwrite64(int, const void*, size_t, off_t) __attribute__((alias("pwrite")));
int fallocate64(int, int, off_t, off_t) __attribute__((alias("fallocate")));
int open64(const char*, int, ...) __attribute__((alias("open")));
