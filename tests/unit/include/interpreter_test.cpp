// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What an interpreter was told to interpret, by its arguments as the kernel keeps them.
#include "uscope/interpreter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace uscope::include {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

__u32 language_of(std::string_view name) {
  __u64 word = 0;
  name.copy(reinterpret_cast<char*>(&word), sizeof(word));
  return usc_language_of(word);
}

// As both backends do it: a NUL behind what was read, then byte by byte. "" = none was found. The language is that of
// argument 0.
std::string script_of(std::string_view arguments) {
  std::array<char, USC_ARGUMENT_BYTES> text{};
  text.fill('x');  // what an earlier look has left behind
  const std::size_t bytes = std::min(arguments.size(), text.size() - 1);
  std::copy_n(arguments.begin(), bytes, text.begin());
  text[bytes] = 0;
  const std::string_view name = arguments.substr(0, arguments.find('\0'));
  usc_argument_scan scan{};
  scan.language = language_of(name.substr(name.find_last_of("/-") + 1));
  for (__u32 i = 0; i <= bytes && usc_scan_argument(&scan, text.data(), i) == 0; i++) {
  }
  return scan.found != 0 ? std::string(text.data() + scan.base) : "";
}

TEST(Interpreter, TheScriptIsTheFirstArgumentThatIsNoOption) {
  EXPECT_EQ(script_of("sh\0run.sh\0"sv), "run.sh");
  EXPECT_EQ(script_of("/bin/sh\0-e\0/srv/jobs/run.sh\0--now\0"sv), "run.sh");
  EXPECT_EQ(script_of("python3\0-u\0-B\0serve.py\0"sv), "serve.py");
  EXPECT_EQ(script_of("-sh\0a/b\0"sv), "b");
  EXPECT_EQ(script_of("perl\0-w\0-T\0-s\0-X\0job.pl\0"sv), "job.pl");
  EXPECT_EQ(script_of("bash\0--norc\0--\0-odd-name\0"sv), "-odd-name");
  EXPECT_EQ(script_of("bash\0-\0run.sh\0"sv), "run.sh");
}

TEST(Interpreter, CodeOnTheCommandLineIsNoScript) {
  for (const std::string_view arguments : {"sh\0-c\0ls /etc/nginx\0"sv,
                                           "bash\0-ec\0ls /etc/nginx\0"sv,
                                           "dash\0-e\0-c\0ls\0nginx\0"sv,
                                           "sh\0-s\0nginx\0"sv,
                                           "zsh\0-o\0extendedglob\0-c\0nginx\0"sv,
                                           "python3\0-c\0import nginx\0"sv,
                                           "python3\0-Ic\0nginx\0"sv,
                                           "python3\0-\0nginx\0"sv,
                                           "perl\0-e\0nginx\0x\0"sv,
                                           "perl\0-lane\0nginx\0x\0"sv,
                                           "perl\0-E\0nginx\0"sv,
                                           "perl\0-de1\0nginx\0"sv,
                                           "ruby\0-e\0nginx\0"sv,
                                           "node\0-e\0nginx\0"sv,
                                           "node\0-pe\0nginx\0"sv,
                                           "node\0--eval\0nginx\0"sv,
                                           "nodejs\0--print=1\0nginx\0"sv,
                                           "php\0-r\0nginx\0"sv,
                                           "php8.2\0--run\0nginx\0"sv,
                                           "guile\0-c\0nginx\0"sv})
    EXPECT_EQ(script_of(arguments), "") << arguments;
}

TEST(Interpreter, AnOptionsValueIsNoScript) {
  EXPECT_EQ(script_of("python3\0-W\0ignore\0-X\0perf\0x.py\0"sv), "x.py");
  EXPECT_EQ(script_of("python3\0-Wignore\0-Xperf\0-uW\0error\0x.py\0"sv), "x.py");
  EXPECT_EQ(script_of("python3\0--check-hash-based-pycs\0always\0x.py\0"sv), "x.py");
  EXPECT_EQ(script_of("bash\0-eo\0pipefail\0-O\0extglob\0+O\0nullglob\0x.sh\0"sv), "x.sh");
  EXPECT_EQ(script_of("bash\0--rcfile\0rc\0--init-file\0init\0x.sh\0"sv), "x.sh");
  EXPECT_EQ(script_of("perl\0-I\0lib\0-Ilib\0-Mstrict\0-i.old\0-d:NYTProf\0x.pl\0"sv), "x.pl");
  EXPECT_EQ(script_of("ruby\0-I\0lib\0-r\0set\0-W:no-experimental\0--encoding\0utf-8\0x.rb\0"sv), "x.rb");
  EXPECT_EQ(script_of("node\0-r\0mod\0--require\0mod\0--import=mod\0--inspect\0x.js\0"sv), "x.js");
  EXPECT_EQ(script_of("node\0--experimental-loader\0mod\0--experimental-vm-modules\0x.js\0"sv), "x.js");
  EXPECT_EQ(script_of("php\0-d\0a=b\0-S\0localhost:80\0router.php\0"sv), "router.php");
  EXPECT_EQ(script_of("lua5.4\0-e\0x=1\0-l\0mod\0x.lua\0"sv), "x.lua");
  EXPECT_EQ(script_of("tclsh8.6\0-encoding\0utf-8\0x.tcl\0"sv), "x.tcl");
}

TEST(Interpreter, AModuleAClassAndAFileOfCodeAreWhatIsInterpreted) {
  EXPECT_EQ(script_of("python3\0-m\0http.server\0008000\0"sv), "http.server");
  EXPECT_EQ(script_of("python3\0-um\0http.server\0"sv), "http.server");
  EXPECT_EQ(script_of("python3\0-mhttp.server\0"sv), "http.server");
  EXPECT_EQ(script_of("java\0-Xmx1g\0-XX:+UseG1GC\0-Dlog=a/b\0-jar\0/srv/x.jar\0server\0"sv), "x.jar");
  EXPECT_EQ(script_of("java\0-cp\0/srv/*\0--add-opens\0java.base/a=b\0@more\0org.acme.Main\0"sv), "org.acme.Main");
  EXPECT_EQ(script_of("java\0--module-path\0/srv\0-m\0acme/org.acme.Main\0"sv), "org.acme.Main");
  EXPECT_EQ(script_of("php\0-f\0/srv/x.php\0"sv), "x.php");
  EXPECT_EQ(script_of("php\0--file=/srv/x.php\0"sv), "x.php");
  EXPECT_EQ(script_of("guile\0-s\0/srv/x.scm\0"sv), "x.scm");
}

TEST(Interpreter, TheLoaderRunsAProgram) {
  const auto run_by = [](std::string_view arguments) {
    std::array<char, USC_ARGUMENT_BYTES> text{};
    arguments.copy(text.data(), text.size() - 1);
    usc_argument_scan scan{};
    scan.language = language_of("ld-linux-x86-64.so.2");
    for (__u32 i = 0; i <= arguments.size() && usc_scan_argument(&scan, text.data(), i) == 0; i++) {
    }
    return scan.found != 0 ? std::string(text.data() + scan.base) : "";
  };
  EXPECT_EQ(run_by("/lib64/ld-linux-x86-64.so.2\0./svc\0-x\0"sv), "svc");
  EXPECT_EQ(run_by("ld.so\0--library-path\0/srv/lib\0--argv0\0name\0--preload\0a.so\0/srv/bin/svc\0"sv), "svc");
  EXPECT_EQ(run_by("ld.so\0--inhibit-cache\0--inhibit-rpath\0\0--audit=a.so\0--glibc-hwcaps-mask\0m\0svc\0"sv), "svc");
  EXPECT_EQ(run_by("ld.so\0--glibc-hwcaps-prepend\0p\0--list\0svc\0"sv), "svc");
  EXPECT_EQ(run_by("ld.so\0--version\0"sv), "");
  for (const char* name : {"ld-linux-x86-64.so.2", "ld-musl-x86_64.so.1", "ld.so", "ld-2.31.so"})
    EXPECT_EQ(language_of(name), USC_LOADER) << name;
  for (const char* name : {"ld", "ld.bfd", "ld.gold", "ld.lld", "ldd", "ldconfig"})
    EXPECT_EQ(language_of(name), USC_NO_LANGUAGE) << name;
}

TEST(Interpreter, WithoutOneNothingIsFound) {
  EXPECT_EQ(script_of("bash\0"sv), "");
  EXPECT_EQ(script_of("bash"sv), "");
  EXPECT_EQ(script_of("bash\0-i\0"sv), "");
  EXPECT_EQ(script_of("bash\0\0run.sh\0"sv), "");
  EXPECT_EQ(script_of("bash\0scripts/\0"sv), "");
  EXPECT_EQ(script_of("python3\0-W\0"sv), "");
  EXPECT_EQ(script_of("python3\0-m\0"sv), "");
}

TEST(Interpreter, OnlyInterpretersHaveALanguage) {
  for (const char* name : {"", "grep", "nginx", "shred", "pythonic", "javac", "nodeos"})
    EXPECT_EQ(language_of(name), USC_NO_LANGUAGE) << name;
  for (const char* name : {"sh", "dash", "python3.11", "perl", "ruby3.1", "php8.2", "node", "nodejs", "lua5.4", "java"})
    EXPECT_NE(language_of(name), USC_NO_LANGUAGE) << name;
}

TEST(Interpreter, AnArgumentThatIsCutOffEndsWhereItWasCut) {
  EXPECT_EQ(script_of("sh\0run"sv), "run");
  EXPECT_EQ(script_of(std::string("sh\0", 3) + std::string(4000, 'a')), std::string(USC_ARGUMENT_BYTES - 1 - 3, 'a'));
  EXPECT_EQ(script_of("java\0-cp\0"s + std::string(4000, 'a') + "\0Main\0"s), "");
}

}  // namespace
}  // namespace uscope::include
