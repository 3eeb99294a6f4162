// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/tree.h"

#include <cstdio>
#include <memory>

#include "cli/render/tree_render.h"
#include "cli/session/confined_reader.h"
#include "cli/terminal/pager.h"
#include "cli/verbs/shared_options.h"
#include "store/db/database.h"

namespace uscope::cli {
namespace {

void define_tree(Verb& verb) {
  auto options = std::make_shared<TreeOptions>();
  verb.add_option("FILE.db", options->file, "a trace that `uscope record` or `uscope load` has written")->required();
  verb.add_flag("--images", options->images,
                "print a line for each program that a process executed, with its arguments");
  add_format(verb, options->format);
  add_color(verb);
  add_no_pager(verb);
  verb.runs([options] { return run_tree(*options); });
}

}  // namespace

void add_tree(CommandLine& line) {
  line.add_verb("tree", "show the process tree with images, life times, exit codes, events", define_tree);
}

Result<int> run_tree(const TreeOptions& options) {
  const Pager pager;
  auto database = open_and_warn(options.file);
  if (!database) return database.error();
  auto tree = analyzer::build_tree(*database);
  if (!tree) return tree.error();
  Output out(stdout);
  out.write(options.format == Format::kText ? tree_text(*tree, options.images, text_width(stdout)) : tree_json(*tree));
  if (auto done = out.finish(); !done) return done.error();
  return 0;
}

}  // namespace uscope::cli
