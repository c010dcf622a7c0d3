/// Preloaded into the program (LD_PRELOAD) by faults_test.py: makes calls of the system fail, and tells what was
/// opened.
///
///     KINEGRAPH_FAULT=write:3:ENOSPC   the third write to a regular file fails, and every one after it
///     KINEGRAPH_FAULT=rename:1:KILL    the program is killed at its first rename
///     KINEGRAPH_FAULT=write:1:SHORT    every write takes 7 bytes at most, every second one is interrupted
///     KINEGRAPH_OPENED=FILE            the path of every file opened is appended to FILE
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

int error_of(const std::string& name) {
  if (name == "ENOSPC") return ENOSPC;
  if (name == "EACCES") return EACCES;
  if (name == "EDQUOT") return EDQUOT;
  if (name == "ENOSYS") return ENOSYS;
  if (name == "EOPNOTSUPP") return EOPNOTSUPP;
  if (name == "ENOLCK") return ENOLCK;
  if (name == "EWOULDBLOCK") return EWOULDBLOCK;
  return EIO;
}

/// Whether this call of `function` shall fail; with its error in errno.
bool fails(const char* function) {
  const char* asked = std::getenv("KINEGRAPH_FAULT");
  if (!asked) return false;
  const std::string fault = asked;
  const std::size_t first = fault.find(':'), second = fault.find(':', first + 1);
  if (fault.substr(0, first) != function || fault.substr(second + 1) == "SHORT") return false;
  static std::atomic<int> calls{0};
  if (++calls < std::atoi(fault.c_str() + first + 1)) return false;
  if (fault.substr(second + 1) == "KILL") raise(SIGKILL);
  errno = error_of(fault.substr(second + 1));
  return true;
}

bool short_writes() {
  const char* asked = std::getenv("KINEGRAPH_FAULT");
  return asked && std::strstr(asked, "SHORT");
}

bool is_file(int descriptor) {
  struct stat info {};
  return fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
}

void tell(const char* path) {
  const char* into = std::getenv("KINEGRAPH_OPENED");
  if (!into || !path) return;
  const int log = next<int(const char*, int, ...)>("open")(into, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) return;
  const std::string line = std::string(path) + "\n";
  [[maybe_unused]] const ssize_t told = next<ssize_t(int, const void*, size_t)>("write")(log, line.data(), line.size());
  next<int(int)>("close")(log);
}

mode_t mode_of(int flags, va_list more) { return flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0; }

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t count) {
  if (is_file(descriptor)) {
    if (fails("write")) return -1;
    static std::atomic<int> turn{0};
    if (short_writes() && ++turn % 2 == 0) {
      errno = EINTR;
      return -1;
    }
    if (short_writes() && count > 7) count = 7;
  }
  return next<ssize_t(int, const void*, size_t)>("write")(descriptor, bytes, count);
}

/// HDF5 writes so: each block at its place.
ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t place) {
  if (is_file(descriptor) && fails("write")) return -1;
  return next<ssize_t(int, const void*, size_t, off_t)>("pwrite")(descriptor, bytes, count, place);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off64_t place) {
  if (is_file(descriptor) && fails("write")) return -1;
  return next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64")(descriptor, bytes, count, place);
}

int fsync(int descriptor) { return is_file(descriptor) && fails("fsync") ? -1 : next<int(int)>("fsync")(descriptor); }

int close(int descriptor) {
  const bool failing = is_file(descriptor) && (fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY && fails("close");
  const int error = errno, done = next<int(int)>("close")(descriptor);
  if (failing) errno = error;
  return failing ? -1 : done;
}

int flock(int descriptor, int how) { return fails("flock") ? -1 : next<int(int, int)>("flock")(descriptor, how); }

int rename(const char* from, const char* to) {
  return fails("rename") ? -1 : next<int(const char*, const char*)>("rename")(from, to);
}

/// "MPI_Init_thread:1:EIO": an MPI that was built without threads.
int MPI_Init_thread(int* count, char*** arguments, int required, int* given) {
  const auto init = reinterpret_cast<int (*)(int*, char***, int, int*)>(dlsym(RTLD_DEFAULT, "PMPI_Init_thread"));
  const int done = init(count, arguments, required, given);
  if (fails("MPI_Init_thread")) *given = 0;
  return done;
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  tell(path);
  return next<int(const char*, int, ...)>("open")(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  tell(path);
  return next<int(const char*, int, ...)>("open64")(path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) {
  tell(path);
  return next<FILE*(const char*, const char*)>("fopen")(path, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  tell(path);
  return next<FILE*(const char*, const char*)>("fopen64")(path, mode);
}
}
