// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Random calls and random contents of queues against the model, with libFuzzer.
//
//   model_fuzzer --make-seeds=FOLDER       writes a first corpus
//   model_fuzzer [libFuzzer options] FOLDER
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "fuzz/world.hpp"

namespace {

int make_seeds(const std::string& folder) {
  std::filesystem::remove_all(folder);  // what earlier runs have added
  std::filesystem::create_directories(folder);
  unsigned number = 0;
  for (const auto& bytes : sim::fuzz::first_corpus()) {
    FILE* file = fopen((folder + "/seed-" + std::to_string(number++)).c_str(), "wb");
    if (!file) return 1;
    const bool written = fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    if (fclose(file) != 0 || !written) return 1;
  }
  return 0;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view option = "--make-seeds=";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    if (argument.starts_with(option)) exit(make_seeds(std::string(argument.substr(option.size()))));
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sim::fuzz::run(data, size);
  return 0;
}
