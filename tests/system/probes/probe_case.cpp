// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tests/system/probes/probe_case.h"

#include <elf.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

namespace uscope::tracer {
namespace {

std::filesystem::path fixtures;

}  // namespace

std::string fixture(const std::string& name) {
  return fixtures / ("fixture_" + name);
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char part[4096];
  while (const std::size_t got = fread(part, 1, sizeof(part), pipe)) text.append(part, got);
  pclose(pipe);
  return text;
}

void run_untraced(const std::string& results) {
  output_of(fixture("probed") + " run " + results);
}

Places places_of_probed() {
  Places places;
  std::istringstream text(output_of(fixture("probed") + " places"));
  std::string name;
  for (std::uint64_t offset = 0; text >> name >> offset;) places[name] = offset;
  return places;
}

Counts read_counts(const std::string& path) {
  Counts counts;
  std::ifstream file(path);
  std::string name;
  for (long count = 0; file >> name >> count;) counts[name] = count;
  return counts;
}

Places functions_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr head{};
  file.read(reinterpret_cast<char*>(&head), sizeof(head));
  std::vector<Elf64_Phdr> parts(head.e_phnum);
  file.seekg(static_cast<std::streamoff>(head.e_phoff));
  file.read(reinterpret_cast<char*>(parts.data()), static_cast<std::streamsize>(parts.size() * sizeof(parts[0])));
  Places places;
  std::istringstream text(output_of("readelf -sW " + path + " 2>/dev/null"));
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string number, size, type, bind, visibility, section, name;
    std::uint64_t address = 0;
    words >> number >> std::hex >> address >> size >> type >> bind >> visibility >> section >> name;
    if (type != "FUNC" || section == "UND" || size == "0") continue;
    for (const Elf64_Phdr& part : parts) {
      const std::uint64_t offset = address - part.p_vaddr + part.p_offset;
      char first[2] = {};
      if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0 || address - part.p_vaddr >= part.p_filesz) continue;
      file.seekg(static_cast<std::streamoff>(offset));
      file.read(first, sizeof(first));
      if (std::string_view(first, 2) != "\x0f\x1f" && std::string_view(first, 2) != "\x66\x2e") places[name] = offset;
    }
  }
  return places;
}

ProbeArgument argument(ProbeArgument::From from, std::uint8_t reg, std::uint8_t bytes, bool is_signed,
                       std::int64_t offset) {
  ProbeArgument made;
  made.name = "argument";
  made.type = "long";
  made.from = from;
  made.reg = reg;
  made.bytes = bytes;
  made.is_signed = is_signed;
  made.offset = offset;
  return made;
}

ProbeArgument text_argument(std::uint8_t reg) {
  ProbeArgument made = argument(ProbeArgument::From::kRegister, reg, 8);
  made.type = "const char *";
  made.is_string = true;
  return made;
}

Probe probe_at(std::string name, std::string path, std::uint64_t place, std::uint32_t kind) {
  Probe probe;
  probe.source = USC_SOURCE_UFUNCTION;
  probe.kind = kind;
  probe.name = std::move(name);
  probe.path = std::move(path);
  probe.places = {place};
  return probe;
}

ProbeArgument field_of(const std::string& tracepoint, const std::string& name, bool is_string) {
  std::ifstream format("/sys/kernel/tracing/events/" + tracepoint + "/format");
  ProbeArgument made;
  for (std::string line; std::getline(format, line);) {
    unsigned offset = 0;
    unsigned size = 0;
    unsigned is_signed = 0;
    const std::size_t end = line.find(';');
    if (line.rfind("\tfield:", 0) != 0 ||
        sscanf(line.c_str() + end, ";\toffset:%u;\tsize:%u;\tsigned:%u;", &offset, &size, &is_signed) != 3)
      continue;
    std::string declared = line.substr(7, end - 7);
    const std::size_t space = declared.rfind(' ');
    std::string field = declared.substr(space + 1);
    std::string type = declared.substr(0, space);
    if (const std::size_t array = field.find('['); array != std::string::npos) {
      type += field.substr(array);
      field.resize(array);
    }
    if (field != name) continue;
    made.name = name;
    made.type = type;
    made.from = ProbeArgument::From::kRecord;
    made.bytes = static_cast<std::uint8_t>(size <= 8 ? size : 1);
    made.is_signed = is_signed != 0;
    made.offset = offset;
    made.is_string = is_string;
    return made;
  }
  ADD_FAILURE() << tracepoint << " has no field " << name;
  return made;
}

Probe tracepoint(const std::string& name, std::uint32_t kind) {
  Probe probe;
  probe.source = USC_SOURCE_TRACEPOINT;
  probe.kind = kind;
  probe.system = name.substr(0, name.find('/'));
  probe.event = name.substr(name.find('/') + 1);
  probe.name = probe.system + ":" + probe.event;
  std::ifstream("/sys/kernel/tracing/events/" + name + "/id") >> probe.event_id;
  EXPECT_NE(probe.event_id, 0U) << name;
  return probe;
}

}  // namespace uscope::tracer

// usage: probe_hits FIXTURE_FOLDER
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2) return 2;
  uscope::tracer::fixtures = argv[1];
  return RUN_ALL_TESTS();
}
