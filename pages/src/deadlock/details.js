// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// All that the page has of one node: what it waits for, who waits for it, and its stack.
import {count, duration, element} from "../common/page.js";
import {doing, processOf, who} from "./graph.js";

const kMostTids = 200;

function stack(node) {
  return element("ol", {class: "frames"}, ...node.stack.map(([name, module, ours, file, line], i) => element(
      "li", {class: `${ours ? "ours" : "faint"}${i === node.at ? " at" : ""}`}, element("code", {}, name),
      module && !name.startsWith(module) ? ` ${module}` : "", file ? element("span", {class: "faint"}, ` ${file}:${line}`) : null,
      i === node.at ? element("strong", {}, " ← waits here") : null)));
}

// pick(index): to choose another node.
export function makeDetails(picture, pick) {
  const place = element("aside", {class: "panel", id: "details", tabindex: 0, "aria-live": "polite", "aria-label": "The chosen thread"});
  const links = (edges, end) => element("ul", {class: "plain"}, ...edges.map((edge) => element(
      "li", {}, element("button", {type: "button", class: "link", onclick: () => pick(edge[end])}, who(picture.nodes[edge[end]])),
      edge.label ? ` (${edge.label})` : "")));
  return {
    place,
    show(index) {
      const node = picture.nodes[index];
      if (!node) {
        place.replaceChildren(element("p", {class: "faint"}, "Choose a box: this place then shows its stack, and what it waits for."));
        return;
      }
      const facts = element("dl", {class: "facts"});
      const fact = (name, value) => value && facts.append(element("dt", {}, name), element("dd", {}, value));
      if (node.what !== "process") fact("process", processOf(node));
      fact("does", doing(node));
      fact(node.waits_for.includes("(") ? "object" : "lock", node.address);
      fact("called", node.api);
      if (node.what === "waits")
        fact("for", `${node.at_least ? "at least " : ""}${duration(node.waited_ns)}${node.tids.length > 1 ? ", the longest" : ""}`);
      if (node.tids.length > 1)
        fact("threads", node.tids.slice(0, kMostTids).join(", ") + (node.tids.length > kMostTids ? ` and ${count(node.tids.length - kMostTids)} more` : ""));
      const out = picture.edges.filter((edge) => edge.from === index), into = picture.edges.filter((edge) => edge.to === index);
      place.replaceChildren(...[
        element("h3", {}, who(node)),
        node.circle ? element("p", {class: "bad"}, out.some(({to}) => to === index) ? "It waits for itself." : "It is in the cycle: each waits for the next one.") : null,
        facts,
        out.length ? element("h4", {}, node.what === "process" ? "Its threads" : "Waits for") : null, out.length ? links(out, "to") : null,
        into.length ? element("h4", {}, "Waited for by") : null, into.length ? links(into, "from") : null,
        node.stack.length ? element("h4", {}, "Stack, innermost function first") : null, node.stack.length ? stack(node) : null,
      ].filter(Boolean));
      place.scrollTop = 0;
    },
  };
}
