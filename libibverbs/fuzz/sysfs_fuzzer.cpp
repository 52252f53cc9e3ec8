// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Contents of sysfs files and of the configuration: the parsers alone, and a scan of a tree whose
// files hold whatever the fuzzer thinks of.
#include <fuzzer/FuzzedDataProvider.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "../discovery/config.hpp"
#include "../discovery/scan.hpp"
#include "../sysfs.hpp"

namespace {

namespace fs = std::filesystem;

void must(bool holds) {
  if (!holds) abort();
}

template <size_t Size>
bool is_terminated(const char (&text)[Size]) {
  return strnlen(text, Size) < Size;
}

// A file whose content changes with every input; it lives in memory.
class Changing {
 public:
  explicit Changing(const fs::path& path) : fd_(memfd_create("sysfs", 0)) {
    must(fd_ >= 0);
    fs::create_directories(path.parent_path());
    fs::create_symlink("/proc/self/fd/" + std::to_string(fd_), path);
  }
  void set(const std::string& content) {
    must(ftruncate(fd_, 0) == 0);
    must(pwrite(fd_, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size()));
  }

 private:
  int fd_;
};

// One device, rxe0, whose uverbs device is uverbs0.
struct Tree {
  Tree()
      : root(make_root()),
        ibdev(fs::path(root) / "class/infiniband_verbs/uverbs0/ibdev"),
        dev(fs::path(root) / "class/infiniband_verbs/uverbs0/dev"),
        abi(fs::path(root) / "class/infiniband_verbs/uverbs0/abi_version"),
        version(fs::path(root) / "class/infiniband_verbs/abi_version"),
        node_type(fs::path(root) / "class/infiniband/rxe0/node_type"),
        node_guid(fs::path(root) / "class/infiniband/rxe0/node_guid") {
    fs::create_directories(fs::path(root) / "nodes/uverbs0");
  }

  // One that was killed, or has found a fault, leaves its tree: the next one takes it away.
  static std::string make_root() {
    const std::string prefix = fs::temp_directory_path() / "sysfs-fuzzer-";
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(fs::temp_directory_path())) {
      const std::string path = entry.path();
      if (!path.starts_with(prefix)) continue;
      const pid_t owner = atoi(path.c_str() + prefix.size());
      if (owner == getpid() || kill(owner, 0) != 0) fs::remove_all(entry, ignored);
    }
    static std::string kept = prefix + std::to_string(getpid());
    must(fs::create_directory(kept));
    atexit([] { fs::remove_all(kept); });
    return kept;
  }

  std::string root;
  Changing ibdev, dev, abi, version, node_type, node_guid;
};

void check_parsers(const std::string& text) {
  const char* characters = text.c_str();
  ibv_gid gid;
  verbs::parse_number(characters);
  verbs::parse_device_number(characters);
  verbs::parse_guid(characters);
  verbs::parse_gid(characters, gid);
  verbs::parse_node_type(characters);
  char root[verbs::sysfs_path_max];
  verbs::normalize_root(root, characters);
  must(is_terminated(root));
}

void check_reader(Tree& tree, const std::string& content, size_t room) {
  tree.node_guid.set(content);
  // Of exactly this size, so that a byte too many is seen.
  std::unique_ptr<char[]> buffer(new char[room]);
  int length = verbs::read_sysfs({buffer.get(), room}, "%s/class/infiniband/rxe0/node_guid",
                                 tree.root.c_str());
  must(length <= static_cast<int>(room));
  if (length > 0) must(static_cast<size_t>(length) < room && buffer[length] == '\0');
}

void check_config(const std::string& text) {
  verbs::Names names;
  std::string copy = text + "\n";
  FILE* file = fmemopen(copy.data(), copy.size(), "r");
  must(file && verbs::read_config(file, "fuzz", names) == 0);
  fclose(file);
  for (const char* name : names)
    must(name[0] != '\0' && strpbrk(name, " \t\n") == nullptr);
  verbs::free_names(names);
  must(verbs::split_names(text.c_str(), names) == 0);
  for (const char* name : names)
    must(name[0] != '\0' && strpbrk(name, ":;") == nullptr);
  verbs::free_names(names);
}

void check_scan(Tree& tree, FuzzedDataProvider& input) {
  auto or_good = [&](const char* good) {
    return input.ConsumeBool() ? std::string(good) : input.ConsumeRandomLengthString(600);
  };
  tree.ibdev.set(or_good("rxe0\n"));
  tree.dev.set(or_good("231:192\n"));
  tree.abi.set(or_good("2\n"));
  tree.version.set(or_good("6\n"));
  tree.node_type.set(or_good("1: CA\n"));
  const std::string nodes = tree.root + "/nodes";
  const verbs::Places places{tree.root.c_str(), nodes.c_str()};
  verbs::Records records;
  must(verbs::scan_sysfs(places, records) == 0);
  must(records.size() <= 1);
  for (verbs_sysfs_dev* record : records) {
    must(strcmp(record->sysfs_name, "uverbs0") == 0 && is_terminated(record->ibdev_name));
    must(is_terminated(record->ibdev_path) && strchr(record->ibdev_name, '/') == nullptr);
    char text[32];
    if (verbs::read_device_file(text, *record, "node_guid") > 0) verbs::parse_guid(text);
  }
  verbs::free_records(records);
  verbs::check_interface_version(places);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // Bad lines of the configuration are reported, which is nothing to look at here.
  must(freopen("/dev/null", "w", stdout) != nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Tree tree;
  FuzzedDataProvider input(data, size);
  switch (input.ConsumeIntegralInRange(0, 3)) {
    case 0:
      check_parsers(input.ConsumeRemainingBytesAsString());
      break;
    case 1: {
      size_t room = input.ConsumeIntegralInRange<size_t>(1, 64);
      check_reader(tree, input.ConsumeRemainingBytesAsString(), room);
      break;
    }
    case 2:
      check_config(input.ConsumeRemainingBytesAsString());
      break;
    default:
      check_scan(tree, input);
      break;
  }
  return 0;
}
