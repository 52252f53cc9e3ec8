// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs/exported_jobs.hpp"

namespace sim::uverbs {

nic::Made<int> ExportedJobs::add(std::shared_ptr<JobRecord> job) {
  prune();
  int read_end = -1;
  auto pipe = EventPipe::make(8, &read_end);
  if (!pipe) return {-1, pipe.error};
  entries_.push_back({std::move(pipe.value), std::move(job)});
  return {read_end, 0};
}

std::shared_ptr<JobRecord> ExportedJobs::find(FileId id) {
  for (const Entry& entry : entries_) {
    if (entry.pipe->id() == id) return entry.job;
  }
  return nullptr;
}

void ExportedJobs::prune() {
  std::erase_if(entries_, [](const Entry& entry) { return entry.pipe->abandoned(); });
}

}  // namespace sim::uverbs
