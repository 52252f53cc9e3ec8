// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "config.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "../error.hpp"
#include "../scoped.hpp"

namespace verbs {
namespace {

constexpr const char* blanks = " \t";
constexpr const char* field_ends = " \t\n";

int add(const char* text, size_t length, Names& names) {
  Owned<char> name(strndup(text, length));
  if (!name || !names.push(name.get())) return ENOMEM;
  name.release();
  return 0;
}

int read_line(const char* line, const char* file_name, Names& names) {
  const char* word = line + strspn(line, blanks);
  size_t length = strcspn(word, field_ends);
  if (length == 0 || *word == '#') return 0;
  if (length == strlen("driver") && strncmp(word, "driver", length) == 0) {
    const char* value = word + length + strspn(word + length, blanks);
    if (size_t size = strcspn(value, field_ends)) return add(value, size, names);
  }
  fprintf(stderr, "libibverbs: Warning: ignoring bad config directive '%.*s' in file '%s'.\n",
          static_cast<int>(length), word, file_name);
  return 0;
}

}  // namespace

void free_names(Names& names) noexcept {
  for (char* name : names)
    free(name);
  names.clear();
}

int read_config(FILE* file, const char* name, Names& names) noexcept {
  char* line = nullptr;
  size_t room = 0;
  int error = 0;
  while (!error && getline(&line, &room, file) != -1)
    error = read_line(line, name, names);
  if (!error && !feof(file) && is_shortage(errno)) error = errno;
  free(line);
  return error;
}

int read_config_folder(const char* path, Names& names) noexcept {
  DIR* folder = opendir(path);
  if (!folder) {
    if (is_shortage(errno)) return errno;
    fprintf(stderr, "libibverbs: Warning: couldn't open config directory '%s'.\n", path);
    return 0;
  }
  int error = 0;
  while (dirent* entry = error ? nullptr : readdir(folder)) {
    // O_NONBLOCK: a FIFO that somebody left here must not stop us before fstat() finds it out.
    Fd fd(openat(dirfd(folder), entry->d_name, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd && is_shortage(errno)) error = errno;
    struct stat status;
    if (!fd || fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    FILE* file = fdopen(fd.get(), "r");
    if (!file) {
      error = errno;
      continue;
    }
    fd.release();
    error = read_config(file, entry->d_name, names);
    fclose(file);
  }
  closedir(folder);
  return error;
}

int split_names(const char* list, Names& names) noexcept {
  while (*list) {
    size_t length = strcspn(list, ":;");
    if (length)
      if (int error = add(list, length, names)) return error;
    list += length;
    if (*list) list++;
  }
  return 0;
}

}  // namespace verbs
