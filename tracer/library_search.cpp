// The loader's search, roughly: DT_RUNPATH with $ORIGIN, then the folders that Debian and others compile in.
// ld.so.cache is not read; LD_LIBRARY_PATH is not followed.
#include "tracer/library_search.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <fstream>

#include "support/unique_fd.h"
#include "symbolizer/elf_facts.h"

namespace uscope::tracer {
namespace {

constexpr std::size_t kMostFiles = 64;
constexpr std::array<const char*, 7> kFolders = {
    "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"};

bool is_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

std::string expand_origin(std::string folder, const std::string& user) {
  for (const std::string token : {"$ORIGIN", "${ORIGIN}"}) {
    const std::size_t at = folder.find(token);
    if (at != std::string::npos) folder.replace(at, token.size(), std::filesystem::path(user).parent_path().string());
  }
  return folder;
}

std::string find_library(const std::string& name, const symbolizer::ElfFacts& facts, const std::string& user) {
  if (name.find('/') != std::string::npos) return is_file(name) ? name : "";
  std::vector<std::string> folders;
  for (const std::string& folder : facts.runpath) folders.push_back(expand_origin(folder, user));
  folders.insert(folders.end(), kFolders.begin(), kFolders.end());
  for (std::string& path : folders) {
    path.append("/").append(name);
    if (is_file(path)) return path;
  }
  return "";
}

// The interpreter of a script, "" where the file is none.
std::string script_interpreter(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 256> line{};
  file.read(line.data(), line.size() - 1);
  std::string text(line.data(), static_cast<std::size_t>(file.gcount()));
  if (text.compare(0, 2, "#!") != 0) return "";
  text = text.substr(2, text.find('\n') == std::string::npos ? std::string::npos : text.find('\n') - 2);
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_first_of(" \t", begin) - begin);
}

}  // namespace

std::vector<std::string> with_libraries(const std::string& executable) {
  std::vector<std::string> files;
  std::deque<std::string> queue = {executable};
  if (std::string interpreter = script_interpreter(executable); !interpreter.empty()) queue = {interpreter};
  const auto ask = [&](const std::string& path) {
    const bool known = std::find(files.begin(), files.end(), path) != files.end() ||
                       std::find(queue.begin(), queue.end(), path) != queue.end();
    if (!path.empty() && !known) queue.push_back(path);
  };
  while (!queue.empty() && files.size() < kMostFiles) {
    const std::string path = queue.front();
    queue.pop_front();
    const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd) continue;
    const auto facts = symbolizer::read_elf_facts(fd.get(), path);
    if (!facts) continue;
    files.push_back(path);
    ask(facts->interpreter);
    for (const std::string& name : facts->needed) ask(find_library(name, *facts, path));
  }
  return files;
}

}  // namespace uscope::tracer
