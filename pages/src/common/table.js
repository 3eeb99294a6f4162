// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A table that sorts and searches. TanStack Table orders the rows; what it gives becomes a plain table of the page, so
// that keyboards, readers of screens and printers take it as one.
import {createTable, getCoreRowModel, getFilteredRowModel, getSortedRowModel} from "@tanstack/table-core";
import {count, element, plural} from "./page.js";

const kFirst = 100;  // rows that are shown at once, and more for each click

// columns: {id, title, of(row) → text or number, show?(value, row) → text or element, number?: bool}.
// options: sort: {id, desc}; picked?(row or null): makes rows choosable; found?(rows or null, text): after a search; noun: what a row is ("call").
export function makeTable(columns, rows, options = {}) {
  let shown = kFirst, picked = null;
  const state = {sorting: options.sort ? [options.sort] : [], globalFilter: "", columnFilters: [], columnVisibility: {},
                 columnPinning: {left: [], right: []}, columnOrder: [], grouping: [], expanded: {}, rowSelection: {},
                 pagination: {pageIndex: 0, pageSize: 0}};
  const table = createTable({
    data: rows, state,
    columns: columns.map((column) => ({id: column.id, accessorFn: column.of, header: column.title,
                                       sortingFn: column.number ? "basic" : "alphanumeric",
                                       sortDescFirst: Boolean(column.number), enableGlobalFilter: true})),
    getCoreRowModel: getCoreRowModel(), getSortedRowModel: getSortedRowModel(), getFilteredRowModel: getFilteredRowModel(),
    getColumnCanGlobalFilter: () => true, renderFallbackValue: "",
    globalFilterFn: (row, id, words) => words.every((word) => searched(row).includes(word)),
    onStateChange: (update) => {
      const next = typeof update === "function" ? update(table.getState()) : update;
      table.setOptions((all) => ({...all, state: next}));
      draw();
    },
  });
  const texts = new WeakMap();
  function searched(row) {
    let text = texts.get(row);
    if (text === undefined) {
      text = columns.filter((column) => !column.number).map((column) => String(column.of(row.original) ?? ""))
          .join("\n").toLowerCase();
      texts.set(row, text);
    }
    return text;
  }

  const head = element("tr"), body = element("tbody"), said = element("span", {class: "faint", role: "status"});
  const more = element("button", {type: "button", onclick: () => {
    shown += 5 * kFirst;
    draw();
  }});
  const search = element("input", {type: "search", placeholder: "Search", "aria-label": `Search ${options.noun ?? "row"}s`,
                                   oninput: () => find(search.value)});
  for (const column of columns) {
    const sort = element("button", {type: "button", onclick: () => {
      shown = kFirst;
      table.getColumn(column.id).toggleSorting();
    }}, column.title);
    head.append(element("th", {scope: "col", class: column.number ? "number" : null, "data-column": column.id}, sort));
  }

  function find(text) {
    if (search.value !== text) search.value = text;
    shown = kFirst;
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    table.setGlobalFilter(words.length ? words : undefined);
    options.found?.(words.length ? table.getRowModel().rows.map((row) => row.original) : null, text);
  }
  function pick(row) {
    picked = picked === row ? null : row;
    draw();
    options.picked(picked);
  }
  // Tab stops at one row of all; the arrow keys go from row to row.
  function go(line) {
    if (!line) return;
    for (const other of body.querySelectorAll("[tabindex='0']")) other.tabIndex = -1;
    line.tabIndex = 0;
    line.focus();
  }
  function draw() {
    const all = table.getRowModel().rows;
    const cells = all.slice(0, shown).map((row) => {
      const line = element("tr", options.picked ? {
        tabindex: -1, "aria-selected": String(picked === row.original), class: "choosable", onclick: () => pick(row.original),
        onkeydown: (event) => {
          if (event.key === "Enter" || event.key === " ") {
            event.preventDefault();
            const place = [...body.children].indexOf(line);
            pick(row.original);
            go(body.children[place]);
          } else if (event.key === "ArrowDown") {
            event.preventDefault();
            go(line.nextElementSibling);
          } else if (event.key === "ArrowUp") {
            event.preventDefault();
            go(line.previousElementSibling);
          }
        },
      } : {});
      for (const column of columns) {
        const value = column.of(row.original);
        const text = column.show ? column.show(value, row.original) : column.number ? (value ? count(value) : "") : value;
        line.append(element("td", {class: column.number ? "number" : null, "data-column": column.id}, text ?? ""));
      }
      return line;
    });
    body.replaceChildren(...cells);
    const stop = options.picked && (body.querySelector("[aria-selected=true]") ?? body.firstElementChild);
    if (stop) stop.tabIndex = 0;
    for (const cell of head.children) {
      const way = table.getColumn(cell.dataset.column).getIsSorted();
      cell.setAttribute("aria-sort", way === "asc" ? "ascending" : way === "desc" ? "descending" : "none");
      cell.firstChild.textContent =
          columns.find((column) => column.id === cell.dataset.column).title + (way === "asc" ? " ▲" : way === "desc" ? " ▼" : "");
    }
    more.hidden = all.length <= shown;
    more.textContent = `Show ${count(Math.min(5 * kFirst, all.length - shown))} more`;
    const noun = options.noun ?? "row";
    said.textContent = all.length === rows.length ? plural(rows.length, noun)
                                                  : `${count(all.length)} of ${plural(rows.length, noun)}`;
  }
  draw();
  const top = element("div", {class: "bar"}, rows.length > 8 ? search : null, said);
  const place = element("div", {}, top,
                        element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": options.label ?? "table"},
                                element("table", {}, element("thead", {}, head), body)),
                        element("div", {class: "bar"}, more));
  return {
    place, find,
    // Chooses none, and forgets the search, without telling anyone.
    clear: () => {
      picked = null;
      search.value = "";
      table.setGlobalFilter(undefined);
      draw();
    },
    // Shows other rows.
    setRows: (others) => {
      rows = others;
      shown = kFirst;
      table.setOptions((all) => ({...all, data: rows}));
      draw();
    },
  };
}
