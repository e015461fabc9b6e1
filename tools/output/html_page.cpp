#include "tools/output/html_page.hpp"

#include <fmt/format.h>

#include "tools/output/svg_text.hpp"

namespace weft {
namespace {

// Colours have a contrast of at least 4.5 to their ground (WCAG 2.1 AA), marks of at least 3.
constexpr std::string_view style = R"css(
:root { color-scheme: light dark; --ground: #ffffff; --ink: #1f2328; --quiet: #59616a; --line: #d0d7de;
  --stripe: #f6f8fa; --blue: #0a58ca; --orange: #b3480a; --good: #116329; --bad: #b3261e; --band: #0a58ca22; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14171a; --ink: #e6e9ec; --quiet: #a4adb6; --line: #3d444b; --stripe: #1c2024; --blue: #6ea8fe;
    --orange: #ff9d5c; --good: #6bd08a; --bad: #ff8a80; --band: #6ea8fe2b; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 24px; }
h1 { font-size: 26px; } h2 { font-size: 20px; margin-top: 40px; } h3 { font-size: 16px; margin-bottom: 4px; }
a { color: var(--blue); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--quiet); padding-bottom: 6px; }
th, td { padding: 4px 10px; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid var(--quiet); white-space: nowrap; }
tbody th { font-weight: 600; }
tbody tr:nth-child(even) { background: var(--stripe); }
.number { text-align: right; white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; } .quiet { color: var(--quiet); }
th button { all: unset; cursor: pointer; font-weight: 600; }
th button:focus-visible, input:focus-visible, select:focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; }
th button::after { content: ' \2195'; color: var(--quiet); }
th[aria-sort=ascending] button::after { content: ' \2191'; color: var(--ink); }
th[aria-sort=descending] button::after { content: ' \2193'; color: var(--ink); }
.controls { display: flex; flex-wrap: wrap; gap: 16px; margin-bottom: 12px; }
input, select { font: inherit; color: var(--ink); background: var(--ground); border: 1px solid var(--quiet); border-radius: 4px; padding: 4px 8px; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(340px, 1fr)); gap: 24px; }
figure { margin: 0; break-inside: avoid; } figcaption { font-weight: 600; }
svg { width: 100%; height: auto; } svg text { font-size: 12px; fill: var(--quiet); }
.frame { fill: none; stroke: var(--quiet); } .grid { fill: none; stroke: var(--line); } .band { fill: var(--band); }
.identity { stroke: var(--quiet); stroke-dasharray: 4 3; fill: none; }
.predict { fill: var(--blue); fill-opacity: .8; } .fit { fill: none; stroke: var(--orange); stroke-width: 1.5; }
@media print {
  :root { color-scheme: light; --ground: #fff; --ink: #000; --quiet: #444; --line: #bbb; --stripe: #fff; --blue: #0a58ca;
    --orange: #b3480a; --good: #116329; --bad: #b3261e; --band: #0a58ca22; }
  .controls { display: none; } main { max-width: none; padding: 0; } thead { display: table-header-group; }
  tr { break-inside: avoid; } th button::after { content: ''; } .figures { grid-template-columns: 1fr 1fr; }
}
)css";

constexpr std::string_view script = R"js(
'use strict';
const key = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent;
for (const table of document.querySelectorAll('table.sortable')) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => heading.querySelector('button')?.addEventListener('click', () => {
    const up = heading.getAttribute('aria-sort') !== 'ascending';
    for (const other of headings) other.removeAttribute('aria-sort');
    heading.setAttribute('aria-sort', up ? 'ascending' : 'descending');
    const numeric = heading.classList.contains('number');
    const compare = (a, b) => numeric ? key(a, column) - key(b, column) : key(a, column).localeCompare(key(b, column));
    const body = table.tBodies[0];
    body.append(...[...body.rows].sort((a, b) => up ? compare(a, b) : compare(b, a)));
  }));
}
const controls = [...document.querySelectorAll('[data-filter]')];
const shows = (control, row) => control.dataset.column === undefined
  ? row.textContent.toLowerCase().includes(control.value.toLowerCase())
  : control.value === '' || key(row, Number(control.dataset.column)) === control.value;
for (const control of controls) control.addEventListener('input', () => {
  const id = control.dataset.filter;
  const own = controls.filter(other => other.dataset.filter === id);
  let shown = 0;
  for (const row of document.getElementById(id).tBodies[0].rows) {
    row.hidden = !own.every(other => shows(other, row));
    if (!row.hidden) ++shown;
  }
  document.querySelector(`[data-count="${id}"]`).textContent = shown;
});
)js";

}  // namespace

std::string html_page(std::string_view title, std::string_view body) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
        "<link rel=\"icon\" href=\"data:,\">\n<style>{1}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n{2}</main>\n"
        "<script>{3}</script>\n</body>\n</html>\n",
        xml_escaped(title), style, body, script);
}

}  // namespace weft
