// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Jobs that have been handed out as descriptors. A descriptor is the read end of a pipe that never
// carries data: its identity names the job, and the pipe tells when the last copy is closed.
#pragma once

#include <memory>
#include <vector>

#include "uverbs/event_pipe.hpp"

namespace sim::uverbs {

struct JobRecord;

class ExportedJobs {
 public:
  // Returns the descriptor to install and close, and keeps the job while a copy of it is open.
  nic::Made<int> add(std::shared_ptr<JobRecord> job);
  std::shared_ptr<JobRecord> find(FileId id);
  // Lets go of jobs that no descriptor names any more.
  void prune();
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::shared_ptr<EventPipe> pipe;
    std::shared_ptr<JobRecord> job;
  };
  std::vector<Entry> entries_;
};

}  // namespace sim::uverbs
