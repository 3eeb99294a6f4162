// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The wait-for graph: dagre places its nodes and leads its edges, which become SVG of the page, so that keys reach each
// node and printers print it. An edge leads from who waits to who is waited for.
import {Graph, layout} from "@dagrejs/dagre";
import {count, duration, element, plural} from "../common/page.js";

const kSvg = "http://www.w3.org/2000/svg";
const kLine = 17, kPad = 10, kLetters = 38, kMostScale = 1.15, kOuter = 4, kBow = 56;  // kOuter: the second frame's distance

function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS(kSvg, name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== null && value !== undefined) made.setAttribute(key, String(value));
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// The end of a name says less than its beginning, but for paths, whose last part counts.
function cut(text, most = kLetters) {
  const letters = [...text];
  return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : text;
}

export function who(node) {
  if (node.what === "process") return `any thread of ${processOf(node)}`;
  if (node.tids.length > 1) return `${plural(node.tids.length, "thread")}${node.name ? `: ${node.name} …` : ""}`;
  return `thread ${node.tids[0]}${node.name ? ` ${node.name}` : ""}`;
}

export function processOf(node) {
  const name = node.process || "process";
  if (node.pids.length === 0) return "";
  return node.pids.length === 1 ? `${name} (pid ${node.pids[0]})` : `${name}, ${count(node.pids.length)} processes`;
}

// What the thread does, in a few words.
export function doing(node) {
  if (node.halted) return node.halted;
  if (node.what === "computes") return `runs, no call for ${duration(node.waited_ns)}`;
  if (node.what === "ended") return "has ended";
  if (node.what === "process") return "";
  if (node.what === "unknown") return "not known what it does";
  return /^\w+\(/.test(node.waits_for) ? `waits in ${node.waits_for}` : `waits for ${node.waits_for}`;
}

function linesOf(node) {
  const lines = [who(node)];
  if (node.what !== "process") lines.push(processOf(node));
  lines.push(doing(node) + (node.address && /^an? /.test(node.waits_for) && !node.waits_for.startsWith("a thread") ? ` ${node.address}` : ""));
  if (node.at !== null && node.stack[node.at]) lines.push(`in ${node.stack[node.at][0]}`);
  return lines.filter(Boolean).map((line) => cut(line));
}

const measure = document.createElement("canvas").getContext("2d");
function widthOf(text, bold) {
  measure.font = `${bold ? "600 " : ""}13px system-ui, "DejaVu Sans", sans-serif`;
  return measure.measureText(text).width;
}

// Through the points, smoothly: cubic curves whose tangents are those of Catmull and Rom.
function pathOf(points) {
  const at = (i) => points[Math.min(points.length - 1, Math.max(0, i))];
  const toward = (i, j, k) => `${at(i).x + (at(k).x - at(j).x) / 6},${at(i).y + (at(k).y - at(j).y) / 6}`;
  let path = `M${points[0].x},${points[0].y}`;
  for (let i = 0; i + 1 < points.length; i++) path += ` C${toward(i, i - 1, i + 1)} ${toward(i + 1, i + 2, i)} ${at(i + 1).x},${at(i + 1).y}`;
  return path;
}

// A wait for itself: a bow above its node, and its label above that.
function bowOf(node) {
  const top = node.y - node.height / 2 + kBow;
  return {points: [{x: node.x - 46, y: top}, {x: node.x - 40, y: top - 20}, {x: node.x, y: top - 30}, {x: node.x + 40, y: top - 20}, {x: node.x + 46, y: top}],
          x: node.x, y: top - 42};
}

const outer = (node) => (node.circle ? kOuter : 0);
const bow = (picture, i) => (picture.edges.some(({from, to}) => from === i && to === i) ? kBow : 0);

// The graph from left to right or, where it is clearly larger in the window so, from top to bottom.
function laidOut(picture, texts, labels) {
  const tries = ["LR", "TB"].map((rankdir) => {
    const graph = new Graph({multigraph: true});
    graph.setGraph({rankdir, nodesep: 28, ranksep: rankdir === "LR" ? 40 : 58, edgesep: 22, marginx: 14, marginy: 14, acyclicer: "greedy"});
    picture.nodes.forEach((node, i) => graph.setNode(String(i), {
      width: Math.max(...texts[i].map((line, at) => widthOf(line, at === 0))) + 2 * kPad + 2 * outer(node),
      height: texts[i].length * kLine + 2 * kPad - 4 + 2 * outer(node) + 2 * bow(picture, i),
    }));
    picture.edges.forEach((edge, i) => edge.from !== edge.to && graph.setEdge(String(edge.from), String(edge.to), {
      width: widthOf(labels[i]) + 14, height: kLine + 4, labelpos: "c", weight: edge.circle ? 3 : 1,
    }, String(i)));
    layout(graph);
    return graph;
  });
  const scales = tries.map((graph) => Math.min(kMostScale, 0.62 * window.innerWidth / graph.graph().width, 0.75 * window.innerHeight / graph.graph().height));
  return tries[scales[1] > 1.15 * scales[0] ? 1 : 0];
}

// picked(index): called when a node is chosen. Returns {place, pick(index)}.
export function makeGraph(picture, picked) {
  const texts = picture.nodes.map(linesOf);
  const labels = picture.edges.map((edge) => cut(edge.label || "its threads", 32) + (edge.count > 1 ? ` ×${count(edge.count)}` : ""));
  const graph = laidOut(picture, texts, labels);
  const {width, height} = graph.graph();
  const drawing = svg("svg", {viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, role: "group", "aria-label": "Who waits for whom"});
  const marker = (id, kind) => svg("marker", {id, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse",
                                              orient: "auto-start-reverse", class: kind}, svg("path", {d: "M0,0 L10,5 L0,10 z"}));
  const wide = marker("arrow-circle", "arrow circle");
  wide.setAttribute("markerWidth", 15);
  wide.setAttribute("markerHeight", 15);
  drawing.append(svg("defs", {}, marker("arrow", "arrow"), wide));

  // Circles are drawn last, above the others.
  const order = picture.edges.map((edge, i) => i).sort((a, b) => picture.edges[a].circle - picture.edges[b].circle);
  const signs = [];
  for (const i of order) {
    const edge = picture.edges[i];
    const placed = edge.from === edge.to ? {...bowOf(graph.node(String(edge.from))), width: widthOf(labels[i]) + 14}
                                         : graph.edge({v: String(edge.from), w: String(edge.to), name: String(i)});
    const kind = edge.circle ? " circle" : edge.label ? "" : " members";
    drawing.append(svg("path", {d: pathOf(placed.points), class: `edge${kind}`, "marker-end": `url(#arrow${edge.circle ? "-circle" : ""})`}));
    signs.push(svg("rect", {x: placed.x - placed.width / 2 + 2, y: placed.y - kLine / 2 - 2, width: placed.width - 4, height: kLine + 3, class: "label-ground"}));
    const sign = svg("text", {x: placed.x, y: placed.y + 4, class: `label${kind}`});
    sign.textContent = labels[i];
    signs.push(sign);
  }
  drawing.append(...signs);

  const groups = picture.nodes.map((node, i) => {
    const placed = graph.node(String(i)), edge = outer(node), high = edge + bow(picture, i);
    const left = placed.x - placed.width / 2 + edge, top = placed.y - placed.height / 2 + high;
    const box = (grow, kind) => svg("rect", {x: left - grow, y: top - grow, width: placed.width - 2 * edge + 2 * grow,
                                             height: placed.height - 2 * high + 2 * grow,
                                             rx: node.what === "process" ? 16 : 5, class: kind});
    const lines = texts[i].map((line, at) => {
      const text = svg("text", {x: left + kPad, y: top + kPad + 9 + at * kLine, class: at === 0 ? "name" : "more"});
      text.textContent = line;
      return text;
    });
    const kind = node.circle ? " circle" : node.finding !== null ? " accused" : "";
    const said = [who(node), processOf(node), doing(node), node.circle ? "in the cycle" : ""].filter(Boolean).join(", ");
    const group = svg("g", {class: `node ${node.what}${kind}`, tabindex: 0, role: "button", "aria-pressed": "false", "aria-label": said, "data-node": i},
                      node.circle ? box(kOuter, "outer") : null, node.tids.length > 1 ? box(0, "behind") : null, box(0, "box"), ...lines);
    if (node.tids.length > 1) group.querySelector(".behind").setAttribute("transform", "translate(5,5)");
    group.addEventListener("click", () => pick(i));
    group.addEventListener("keydown", (event) => {
      const to = {ArrowRight: picture.edges.find((edge) => edge.from === i)?.to, ArrowLeft: picture.edges.find((edge) => edge.to === i)?.from}[event.key];
      if (event.key === "Enter" || event.key === " ") pick(i);
      else if (to !== undefined) groups[to].focus();
      else return;
      event.preventDefault();
    });
    return group;
  });
  drawing.append(...groups);

  const view = element("div", {class: "chart graph"}, drawing);
  let scale = 1;
  function resize(to) {
    scale = Math.min(2.5, Math.max(0.2, to));
    drawing.setAttribute("width", Math.ceil(width * scale));
    drawing.setAttribute("height", Math.ceil(height * scale));
  }
  const fit = () => resize(Math.min(kMostScale, Math.max(0.6, (view.clientWidth - 4) / width)));
  const button = (title, act) => element("button", {type: "button", onclick: act}, title);
  const place = element("div", {}, element("div", {class: "bar no-print"}, button("Larger", () => resize(scale * 1.25)),
                                           button("Smaller", () => resize(scale / 1.25)), button("Fit", fit)), view);
  function pick(index) {
    groups.forEach((group, i) => group.setAttribute("aria-pressed", String(i === index)));
    picked(index);
  }
  return {place, pick, start: () => {
    fit();
    new ResizeObserver(fit).observe(view);
  }};
}
