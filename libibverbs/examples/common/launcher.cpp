// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "launcher.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace examples {

void run_under_launcher(const std::string& device, std::uint32_t vni,
                        const std::vector<std::string>& arguments) {
  if (std::getenv(launched_variable)) return;
  std::error_code unknown;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (unknown) return;
  // By its path, since the launcher may look for programs elsewhere.
  std::vector<std::string> words = {"cxi_launcher",      "--device", device, "--vni",
                                    std::to_string(vni), "--",       self};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  if (setenv(launched_variable, "1", 1) != 0) return;
  execv((self.parent_path() / words.front()).c_str(), argv.data());
  execvp(words.front().c_str(), argv.data());
  unsetenv(launched_variable);
}

}  // namespace examples
