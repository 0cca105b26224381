/** Styles of the pages: light and dark, narrow and wide, and without motion. */
import { CHART_STYLE } from "../chart/draw-svg.ts";

const PARTS_STYLE = `
.narrow { display: none; }
@media (max-width: 900px) { .wide { display: none; } .narrow { display: block; } }
.states, .states ul { list-style: none; padding-left: 16px; border-left: 2px solid var(--rule); margin: 2px 0 6px; }
.states { border: 0; padding: 0; } .states li { margin: 5px 0; } .states .note { display: block; color: var(--soft); } .states .on::before { content: "● "; color: var(--go); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 8px; align-items: center; }
.legend > span { display: inline-flex; gap: 7px; align-items: center; margin-right: 12px; } .key { display: inline-block; width: 22px; height: 12px; border-radius: 4px; }
.key.filled { background: var(--fill); border: 2px solid var(--go); } .key.dashed { height: 0; border-top: 2px dashed var(--go); border-radius: 0; }
.key.badge { width: 18px; height: 18px; border-radius: 9px; background: var(--go); color: var(--page); font-size: 11px; font-weight: 700; line-height: 18px; text-align: center; }
.search { display: flex; gap: 6px; flex: 0 1 340px; } .search input { min-width: 0; flex: 1; }
.acts { display: flex; flex-wrap: wrap; gap: 8px; }
.button { border: 1px solid var(--soft); border-radius: 6px; padding: 3px 12px; color: var(--ink); background: var(--card); text-decoration: none; }
.button:hover, button:hover { border-color: var(--go); }
.travel { display: flex; flex-wrap: wrap; gap: 8px 14px; align-items: center; } .travel input[type=range] { flex: 1 1 200px; padding: 0; accent-color: var(--go); min-height: 24px; }
.past { border-left-style: dashed; } tr.looked-at { background: var(--fill); } tr.delivery { color: var(--soft); }
.confirm { display: grid; grid-template-columns: minmax(0, 1fr); gap: 10px; justify-items: start; margin-top: 16px; } .confirm label { max-width: 100%; } .confirm p { margin: 0; } .acts { align-items: center; } .confirm label { display: flex; flex-direction: column; align-items: start; gap: 2px; } .check { display: inline-flex; gap: 6px; align-items: center; }
.money { margin: 8px 0; padding: 12px; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; overflow-x: auto; }
.money figcaption { color: var(--soft); text-align: center; } .money ul { list-style: none; margin: 0 0 8px; padding: 0; } .flow { display: block; max-width: 100%; height: auto; margin: 0 auto 6px; font: 13px system-ui, "DejaVu Sans", sans-serif; }
.flow text { fill: var(--ink); } .flow .symbol { text-anchor: middle; font-weight: 600; } .flow .vault { fill: var(--card); stroke: var(--go); stroke-width: 2; }
.flow .band { fill: var(--fill); stroke: var(--go); stroke-width: .8; } .flow .band.held { stroke-dasharray: 4 3; fill: none; }
progress { accent-color: var(--go); vertical-align: middle; max-width: 100%; }
.travel + details { margin-top: 10px; }
.related { padding-left: 18px; } .related li { margin: 4px 0; overflow-wrap: anywhere; } .tree, .tree ul { list-style: none; padding-left: 16px; } .tree ul { border-left: 2px solid var(--rule); } .tree [aria-current] { font-weight: 700; color: var(--ink); text-decoration: none; } small { color: var(--soft); } .pill small { color: inherit; }
.ladder { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 2px 16px 10px; margin-top: 14px; } .ladder h2 { margin: 10px 0 0; } .ladder .facts { margin: 6px 0; } .ladder ol { padding-left: 22px; margin: 8px 0; } .ladder li pre { border: 0; border-left: 3px solid var(--rule); border-radius: 0; background: none; padding: 0 10px; margin: 2px 0 8px; color: var(--soft); }
`;

/** The one style sheet. */
export const STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#1d2433, #e6e9f0); --soft: light-dark(#566076, #9aa4b8);
  --page: light-dark(#fbfcfe, #10141d); --card: light-dark(#fff, #171c28); --rule: light-dark(#dfe4ec, #2a3244);
  --go: light-dark(#0b6e4f, #4fd1a1); --fill: light-dark(#d5f2e6, #12473a); --warn: light-dark(#9a3412, #fdba74);
  --link: light-dark(#1a56b0, #8ab8ff); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
header { display: flex; flex-wrap: wrap; gap: 4px 24px; align-items: baseline; padding: 12px 20px; border-bottom: 1px solid var(--rule); background: var(--card); }
header nav { display: flex; flex-wrap: wrap; gap: 4px; margin: 0 -8px; }
header nav a { padding: 2px 8px; border-radius: 6px; color: var(--soft); text-decoration: none; } header nav a:hover { color: var(--ink); }
header nav a[aria-current] { color: var(--ink); font-weight: 600; background: var(--fill); }
.brand { color: var(--ink); text-decoration: none; }
#live { margin-left: auto; color: var(--soft); font-size: 13px; }
#live.lost { color: var(--warn); font-weight: 600; }
main { max-width: 1320px; margin: 0 auto; padding: 8px 20px 60px; }
main:focus { outline: none; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -999px; } .skip:focus { left: 8px; top: 8px; background: var(--card); padding: 6px; }
h1 { font-size: 22px; overflow-wrap: anywhere; margin: 16px 0 8px; } h1 code { font-size: 20px; } h2 { font-size: 16px; margin: 28px 0 8px; }
code, pre { font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
pre { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 12px; white-space: pre-wrap; }
.scroll { overflow-x: auto; } .drawing { border-radius: 10px; }
.drawing svg { max-width: 100%; height: auto; display: block; margin: 0 auto; }
table { border-collapse: separate; border-spacing: 0; width: 100%; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; }
tbody tr:last-child > * { border-bottom: 0; } tbody tr:hover { background: var(--page); }
th, td { text-align: left; vertical-align: top; padding: 7px 12px; border-bottom: 1px solid var(--rule); }
th { font-size: 12px; color: var(--soft); font-weight: 600; } tbody th { font-size: 14px; width: 16em; } td time, .brief { white-space: nowrap; } td time small { display: block; }
td { font-size: 14px; } td code, td .pill, td strong { overflow-wrap: break-word; } td small a, td div a { overflow-wrap: anywhere; } td strong.trouble { font-weight: 500; overflow-wrap: anywhere; } .named { display: none; }
time small { color: var(--soft); }
.pill { display: inline-block; color: var(--ink); border: 1px solid var(--rule); border-radius: 99px; padding: 0 10px; font-size: 13px; max-width: 60ch; }
.pill.active { background: var(--fill); border-color: var(--go); }
.trouble, .warn { color: var(--warn); }
.facts, .legend { color: var(--soft); } h1 + .facts { margin-top: 4px; } .legend { font-size: 13px; margin: 0 0 8px; }
.why { background: var(--card); border: 1px solid var(--rule); border-left: 5px solid var(--go); border-radius: 8px; padding: 2px 18px 10px; margin-top: 16px; }
.why h2 { margin: 10px 0 4px; } .why p { margin: 4px 0; } .why p:first-of-type { font-size: 17px; }
.empty { color: var(--soft); border: 1px dashed var(--rule); border-radius: 8px; padding: 14px; }
.forms { display: flex; flex-wrap: wrap; gap: 10px 28px; } .forms form { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }
input, select, button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--soft); border-radius: 6px; padding: 3px 8px; max-width: 100%; }
button { cursor: pointer; } button.main { background: var(--go); border-color: var(--go); color: var(--page); font-weight: 600; padding: 5px 16px; }
details { margin: 8px 0; } td details { margin: 0; } td details pre { margin: 6px 0; } .charts span { color: var(--soft); } summary { cursor: pointer; }
@media (max-width: 640px) { header nav { gap: 0; margin: 0 -6px; } header nav a { padding: 2px 6px; } main { padding: 4px 12px 40px; } th, td { padding: 6px 8px; } header { padding: 10px 12px; } }
@media (max-width: 640px) { thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody, tr, td { display: block; } tr { padding: 8px 0; border-bottom: 1px solid var(--rule); } tr:last-child { border: 0; } th, td, tr:last-child > td { border: 0; padding: 2px 12px; } tbody th { display: block; width: auto; }
  td time small, .named { display: inline; }
  td:empty { display: none; } td:first-child { font-weight: 600; } pre { padding: 8px; } }
@media (prefers-reduced-motion: no-preference) { .pill { transition: background-color .25s; } }
${PARTS_STYLE}${CHART_STYLE}`;

/** The sign of the pages in a browser's tab. */
export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect x="1" y="4" width="6" height="8" rx="2" fill="#0b6e4f"/><rect x="10" y="4" width="5" height="8" rx="2" fill="none" stroke="#0b6e4f" stroke-width="1.5"/></svg>';
