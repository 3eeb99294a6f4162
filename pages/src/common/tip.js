// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One box for what the pointer, or the keyboard, is at. It stays within the window, and readers of screens are told.
import {element} from "./page.js";

const box = element("div", {class: "tip", role: "status", "aria-live": "polite", hidden: true});
document.addEventListener("DOMContentLoaded", () => document.body.append(box));
if (document.body) document.body.append(box);

// Shows lines near a place of the window. A line is a text, or [name, value].
export function showTip(x, y, title, lines) {
  box.replaceChildren(element("strong", {}, title));
  const list = element("dl");
  for (const line of lines) {
    if (Array.isArray(line)) list.append(element("dt", {}, line[0]), element("dd", {}, line[1]));
    else list.append(element("dd", {class: "whole"}, line));
  }
  box.append(list);
  box.hidden = false;
  const gap = 14, {width, height} = box.getBoundingClientRect();
  const right = document.documentElement.clientWidth, bottom = window.innerHeight;
  box.style.left = `${Math.max(4, x + gap + width > right ? x - gap - width : x + gap)}px`;
  box.style.top = `${Math.max(4, y + gap + height > bottom ? y - gap - height : y + gap)}px`;
}

export function hideTip() {
  box.hidden = true;
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
});
