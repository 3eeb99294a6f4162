// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/pages/deadlock_page.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "analyzer/deadlock/wait_picture.h"
#include "cli/render/deadlock_render.h"
#include "cli/render/json.h"
#include "cli/render/part_text.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

using analyzer::PictureNode;
using nlohmann::ordered_json;

std::string_view what_name(PictureNode::What what) {
  switch (what) {
    case PictureNode::What::kWaits:
      return "waits";
    case PictureNode::What::kComputes:
      return "computes";
    case PictureNode::What::kEnded:
      return "ended";
    case PictureNode::What::kProcess:
      return "process";
    case PictureNode::What::kUnknown:
      break;
  }
  return "unknown";
}

ordered_json node_json(const PictureNode& node) {
  ordered_json stack = ordered_json::array();
  const analyzer::StackLine* waits = analyzer::application_frame(node.stack);
  ordered_json at;  // the application's innermost function
  for (const auto& line : node.stack) {
    if (&line == waits) at = stack.size();
    stack.push_back({json_value(line.function), json_value(line.module), line.app, json_value(line.file), line.line});
  }
  return {{"what", what_name(node.what)},
          {"tids", node.tids},
          {"pids", node.pids},
          {"name", json_value(node.name)},
          {"process", json_value(node.process)},
          {"waits_for", json_value(node.waits_for)},
          {"halted", json_value(node.halted)},
          {"api", json_value(node.api)},
          {"address", node.address == 0 ? ordered_json() : ordered_json(hex_number(node.address))},
          {"waited_ns", node.waited_ns},
          {"at_least", node.at_least},
          {"finding", node.finding ? ordered_json(*node.finding) : ordered_json()},
          {"circle", node.circle},
          {"stack", std::move(stack)},
          {"at", std::move(at)}};
}

ordered_json picture_json(const analyzer::WaitPicture& picture) {
  ordered_json nodes = ordered_json::array();
  for (const PictureNode& node : picture.nodes) nodes.push_back(node_json(node));
  ordered_json edges = ordered_json::array();
  for (const auto& edge : picture.edges)
    edges.push_back({{"from", edge.from},
                     {"to", edge.to},
                     {"label", json_value(edge.label)},
                     {"circle", edge.circle},
                     {"count", edge.count}});
  return {{"nodes", nodes}, {"edges", edges}, {"left_out", picture.left_out}};
}

}  // namespace

nlohmann::ordered_json deadlock_page(const analyzer::Diagnosis& diagnosis, const std::string& target) {
  const std::string part = diagnosis.part ? ", " + part_text(*diagnosis.part, diagnosis.trace_ns) : "";
  return {{"target", json_value(target + part)},
          {"diagnosis", deadlock_value(diagnosis)},
          {"picture", picture_json(analyzer::picture_of(diagnosis))}};
}

}  // namespace uscope::cli
