// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Bringing up, running, tearing down.
#include "host/tests/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "host/procfs.hpp"

namespace sim::host::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class Run : public testing::Test {
 protected:
  Finished sim(std::vector<std::string> words) {
    words.insert(words.begin(), cxi_sim());
    return run(place, words);
  }
  Finished shell(const std::string& script) { return sim({"run", "--", "sh", "-c", script}); }

  Place place;
};

bool alive(pid_t pid) {  // and not waiting to be reaped by whoever has that duty here
  auto stat = read_text("/proc/" + std::to_string(pid) + "/stat");
  auto end = stat.rfind(')');
  return end != std::string::npos && stat[end + 2] != 'Z';
}

bool ends(pid_t pid) {
  for (int tries = 0; tries < 2000 && alive(pid); tries++)
    usleep(5000);
  return !alive(pid);
}

pid_t number_after(const std::string& text, const std::string& word) {
  return static_cast<pid_t>(std::atoi(text.c_str() + text.find(word) + word.size()));
}

TEST_F(Run, ReturnsTheExitStatus) {
  EXPECT_EQ(shell("exit 0").status, 0);
  EXPECT_EQ(shell("exit 42").status, 42);
  EXPECT_EQ(shell("kill -USR1 $$").status, 128 + SIGUSR1);
  EXPECT_THAT(place.leftovers(), IsEmpty());
}

TEST_F(Run, SaysWhenThereIsNoSuchProgram) {
  auto finished = sim({"run", "--", "no-such-program"});
  EXPECT_EQ(finished.status, 127);
  EXPECT_THAT(finished.err, HasSubstr("no-such-program: No such file or directory"));
  finished = sim({"run", "--", "/etc/passwd"});
  EXPECT_EQ(finished.status, 126);
  EXPECT_THAT(finished.err, HasSubstr("/etc/passwd: Permission denied"));
  EXPECT_THAT(place.leftovers(), IsEmpty());
}

TEST_F(Run, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(sim({"run", "--nics", "0", "--", "true"}).status, 125);
  EXPECT_EQ(sim({"run", "--default-service", "maybe", "--", "true"}).status, 125);
  EXPECT_EQ(sim({"run"}).status, 125);
  EXPECT_EQ(sim({"fly"}).status, 125);
}

TEST_F(Run, LeavesTheProgramItsSurroundings) {
  auto finished = shell("ulimit -n; umask; read line; echo $line");
  std::string expected;
  {
    Running plain(place, {"sh", "-c", "ulimit -n; umask; read line; echo $line"});
    expected = plain.finish().out;
  }
  EXPECT_EQ(finished.out, expected);
  EXPECT_THAT(shell("grep SigBlk /proc/self/status").out, HasSubstr("0000000000000000"));
}

TEST_F(Run, HasAsManyNicsAsAsked) {
  EXPECT_EQ(sim({"run", "--nics", "3", "--", probe(), "list", "/sys/class/infiniband"}).out,
            "cxi0 cxi1 cxi2 \n");
}

TEST_F(Run, WritesATrace) {
  auto path = place.path() + "/trace";
  EXPECT_EQ(sim({"run", "--trace", path, "--", probe(), "count", "1"}).status, 0);
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_THAT(text.str(), testing::ContainsRegex("^[0-9]+\\.[0-9]{6} open of cxi0\n"));
  EXPECT_THAT(text.str(), HasSubstr(" release\n"));
  EXPECT_THAT(sim({"run", "--trace", "-", "--", probe(), "count", "1"}).err,
              HasSubstr("open of cxi0"));
  EXPECT_EQ(sim({"run", "--trace", "/does/not/exist", "--", "true"}).status, 125);
}

TEST_F(Run, IsRefusedInsideItself) {
  auto finished = sim({"run", "--", cxi_sim(), "run", "--", "true"});
  EXPECT_EQ(finished.status, 125);
  EXPECT_THAT(finished.err, HasSubstr("cxi_sim inside cxi_sim"));
  EXPECT_THAT(place.leftovers(), IsEmpty());
}

TEST_F(Run, BringsUpNothingInsideItself) {
  auto finished = sim({"run", "--", cxi_sim(), "up", "inner"});
  EXPECT_EQ(finished.status, 125);
  EXPECT_TRUE(finished.err.starts_with("cxi_sim: Device or resource busy: this runs on"))
      << finished.err;
}

TEST_F(Run, PassesSignalsOn) {
  Running running(place,
                  {cxi_sim(), "run", "--", "sh", "-c",
                   "trap 'echo caught; exit 5' TERM; echo ready; while :; do sleep 0.05; done"});
  ASSERT_TRUE(running.wait_for("ready"));
  kill(running.pid(), SIGTERM);
  auto finished = running.finish();
  EXPECT_EQ(finished.status, 5);
  EXPECT_THAT(finished.out, HasSubstr("caught"));
}

TEST_F(Run, EndsWhatTheProgramLeavesBehind) {
  auto finished = shell(
      "mkfifo $XDG_RUNTIME_DIR/told; "
      "setsid sh -c 'sleep 1000 & echo left $!; echo >$XDG_RUNTIME_DIR/told; wait' & "
      "read line <$XDG_RUNTIME_DIR/told; rm $XDG_RUNTIME_DIR/told; exit 3");
  EXPECT_EQ(finished.status, 3);
  ASSERT_THAT(finished.out, HasSubstr("left "));
  EXPECT_FALSE(alive(number_after(finished.out, "left ")));
  EXPECT_THAT(place.leftovers(), IsEmpty());
}

constexpr const char* family = "setsid sleep 1000 & echo child $!; echo main $$; sleep 1001";

TEST_F(Run, TakesTheProgramAlongWhenKilled) {
  Running running(place, {cxi_sim(), "run", "--", "sh", "-c", family});
  ASSERT_TRUE(running.wait_for("main "));
  kill(running.pid(), SIGKILL);
  auto out = running.finish().out;
  EXPECT_TRUE(ends(number_after(out, "child ")));
  EXPECT_TRUE(ends(number_after(out, "main ")));
  for (int tries = 0; tries < 2000 && !place.leftovers().empty(); tries++)
    usleep(5000);
  EXPECT_THAT(place.leftovers(), IsEmpty());
}

TEST_F(Run, TakesTheProgramAlongWhenItsWorkerIsKilled) {
  Running running(place, {cxi_sim(), "run", "--", "sh", "-c", family});
  ASSERT_TRUE(running.wait_for("main "));
  auto pid = std::to_string(running.pid());
  pid_t worker = std::atoi(read_text("/proc/" + pid + "/task/" + pid + "/children").c_str());
  ASSERT_GT(worker, 0);
  kill(worker, SIGKILL);
  auto finished = running.finish();
  EXPECT_EQ(finished.status, 128 + SIGKILL);
  EXPECT_TRUE(ends(number_after(finished.out, "child ")));
  EXPECT_TRUE(ends(number_after(finished.out, "main ")));
  EXPECT_THAT(place.leftovers(), IsEmpty());
}

TEST_F(Run, RemovesWhatADeadOneLeft) {
  auto stale = place.path() + "/cxi_sim/run-1/tree";
  ASSERT_EQ(run(place, {"mkdir", "-p", "-m", "700", stale}).status, 0);
  ASSERT_EQ(run(place, {"chmod", "700", place.path() + "/cxi_sim"}).status, 0);
  EXPECT_EQ(shell("exit 0").status, 0);
  EXPECT_THAT(place.leftovers(), IsEmpty());
}

TEST_F(Run, SaysInOneLineHowToPutItRight) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes = {
      {{"run"}, "cxi_sim: name the program to run: cxi_sim run -- program\n"},
      {{"run", "--nics", "0", "--", "true"},
       "cxi_sim: --nics: Value 0 not in range 1 to 16; see cxi_sim --help\n"},
      {{"exec", "--", "true"}, "cxi_sim: no instance is running; start one with cxi_sim up\n"},
      {{"down", "b"}, "cxi_sim: no instance b is running; there is: none\n"},
      {{"up", "a/b"},
       "cxi_sim: \"a/b\" cannot be a name: use up to 32 letters, digits, '-', '_', '.'\n"},
  };
  for (const auto& [words, line] : mistakes)
    EXPECT_EQ(sim(words).err, line);
  ASSERT_EQ(sim({"up", "a"}).status, 0);
  EXPECT_EQ(
      sim({"up", "a"}).err,
      "cxi_sim: an instance a is running; choose another name, or end it with cxi_sim down\n");
  EXPECT_EQ(sim({"set", "link", "cxi7", "up"}).err,
            "cxi_sim: a: link cxi7 up: No such device; cxi_sim status lists the devices\n");
  EXPECT_EQ(sim({"down", "b"}).err, "cxi_sim: no instance b is running; there is: a\n");
  EXPECT_EQ(sim({"down", "a"}).status, 0);
}

TEST_F(Run, NamesTheCommandsThatThereAre) {
  EXPECT_EQ(sim({"start"}).err,
            "cxi_sim: start is no command: run, up, exec, down, status and set are; "
            "see cxi_sim --help\n");
}

TEST_F(Run, FindsItsTreesBelowAnyNameOfTheFolder) {
  ASSERT_EQ(symlink(place.path().c_str(), (place.path() + "/link").c_str()), 0);
  for (const auto* name : {"/", "/link", "/link/"})
    EXPECT_EQ(run(place, {"env", "XDG_RUNTIME_DIR=" + place.path() + name, cxi_sim(), "run", "--",
                          probe(), "cat", "node_type", "/sys/class/infiniband/cxi0"})
                  .out,
              sim({"run", "--", probe(), "cat", "/sys/class/infiniband/cxi0/node_type"}).out);
  // A device opened from its folder is one, and not the file that stands in for it.
  EXPECT_EQ(run(place, {"env", "XDG_RUNTIME_DIR=" + place.path() + "/link", cxi_sim(), "run", "--",
                        probe(), "stat-device"})
                .out,
            sim({"run", "--", probe(), "stat-device"}).out);
}

TEST_F(Run, TakesAnotherNameWhereItsOwnIsTaken) {
  auto finished = run(place, {"sh", "-c",
                              cxi_sim() + " up run-$$ && exec " + cxi_sim() +
                                  " run -- sh -c 'echo $0 $CXI_SIM_NAME' $$"});
  std::istringstream words(finished.out);
  std::string pid, name;
  words >> pid >> name;
  EXPECT_EQ(name, "run-" + pid + "-2");
  EXPECT_EQ(sim({"down"}).status, 0);
}

TEST_F(Run, TakesNoDescriptorForAStreamItWasStartedWithout) {
  auto finished =
      run(place, {"sh", "-c",
                  cxi_sim() + " run --statistics -- sh -c 'for i in 0 1 2; do test ! -e "
                              "/proc/$$/fd/$i || exit 9; done; exit 7' <&- >&- 2>&-"});
  EXPECT_EQ(finished.status, 7);
  EXPECT_THAT(place.leftovers(), IsEmpty());
}

TEST_F(Run, ReturnsTheExitStatusToACallerThatIgnoresItsChildren) {
  auto finished =
      run(place, {"env", "--ignore-signal=CHLD", cxi_sim(), "run", "--", "sh", "-c", "exit 3"});
  EXPECT_EQ(finished.status, 3);
  // The program finds the signal ignored, as it would without us.
  finished = run(place, {"env", "--ignore-signal=CHLD", cxi_sim(), "run", "--", "grep", "SigIgn",
                         "/proc/self/status"});
  auto ignored = std::strtoull(finished.out.c_str() + std::string("SigIgn:").size(), nullptr, 16);
  EXPECT_NE(ignored >> (SIGCHLD - 1) & 1, 0u) << finished.out;
}

TEST_F(Run, KeepsNothingOfItsCallerOpenWhenItStaysUp) {
  // The shell reads until everybody has closed the pipe.
  auto finished =
      run(place, {"sh", "-c", "x=$(" + cxi_sim() + " up a 9>&1 2>&1) && echo came back"});
  EXPECT_EQ(finished.out, "came back\n");
  EXPECT_EQ(sim({"down"}).status, 0);
}

TEST_F(Run, CanBeTakenDownOnceItsProgramsHaveEnded) {
  for (int i = 0; i < 10; i++) {
    ASSERT_EQ(sim({"up", "a"}).status, 0);
    ASSERT_EQ(sim({"exec", "--", probe(), "count", "1"}).status, 0);
    ASSERT_EQ(sim({"down"}).err, "");
  }
  EXPECT_THAT(place.leftovers(), IsEmpty());
}

TEST_F(Run, WorksWithoutPrivileges) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  auto as_nobody = [&](std::vector<std::string> words) {
    std::vector<std::string> command = {cxi_sim(), "run", "--", probe()};
    command.insert(command.end(), words.begin(), words.end());
    return run(place, command, 65534);
  };
  auto finished = as_nobody({"descriptors"});
  if (finished.status == 98) GTEST_SKIP() << "the build folder is closed to others";
  EXPECT_EQ(finished.out, "2 3 4 1 0\n");
  EXPECT_EQ(as_nobody({"memory"}).out, "fedcba small large\n");
  EXPECT_EQ(as_nobody({"memory", "undumpable"}).out, "fedcba small large\n");
  EXPECT_EQ(as_nobody({"who"}).out, "1 1\n");
  EXPECT_THAT(place.leftovers(), IsEmpty());
}

TEST_F(Run, CanBeCommanded) {
  auto finished =
      shell(probe() + " cat /sys/class/infiniband/cxi1/ports/1/state; " + cxi_sim() +
            " set link cxi1 down; " + probe() + " cat /sys/class/infiniband/cxi1/ports/1/state; " +
            cxi_sim() + " set link cxi7 down; echo $?; " + cxi_sim() + " status");
  EXPECT_THAT(finished.out, testing::StartsWith("4: ACTIVE\n1: DOWN\n125\n"));
  EXPECT_THAT(finished.out, HasSubstr("cxi1 (uverbs1, hsn1) nid 2\n"));
  EXPECT_THAT(finished.err, HasSubstr("No such device"));
}

TEST_F(Run, SharesALongLivedInstance) {
  ASSERT_EQ(sim({"up", "a"}).status, 0);
  EXPECT_EQ(sim({"up", "a"}).status, 125);
  EXPECT_EQ(sim({"exec", "--name", "a", "--", probe(), "count", "3"}).out, "3\n");
  EXPECT_EQ(sim({"exec", "--", "sh", "-c", "exit 9"}).status, 9);

  Running holding(place, {cxi_sim(), "exec", "--", probe(), "hold"});
  ASSERT_TRUE(holding.wait_for("ready"));
  EXPECT_EQ(sim({"exec", "--", probe(), "await", "2", "1"}).out, "ok\n");
  EXPECT_EQ(sim({"down"}).status, 125);  // somebody is there
  EXPECT_EQ(sim({"down", "--force"}).status, 0);
  auto held = holding.finish();
  EXPECT_EQ(held.status, 128 + SIGKILL);
  EXPECT_EQ(held.err, "cxi_sim: a has ended, and the program with it\n");
  EXPECT_EQ(sim({"exec", "--name", "a", "--", "true"}).status, 125);
  EXPECT_THAT(place.leftovers(), IsEmpty());
}

}  // namespace
}  // namespace sim::host::tests
