/** Styles of special page parts: states as a list, money, buttons, the slider. */

export const PARTS_STYLE = `
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
.confirm { display: grid; grid-template-columns: minmax(0, 1fr); gap: 10px; justify-items: start; margin-top: 16px; } .confirm label, #what-if label { max-width: 100%; } .confirm p { margin: 0; } .acts { align-items: center; } .confirm label { display: flex; flex-direction: column; align-items: start; gap: 2px; } .check { display: inline-flex; gap: 6px; align-items: center; }
.money { margin: 8px 0; padding: 12px; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; overflow-x: auto; }
.money figcaption { color: var(--soft); text-align: center; } .money ul { list-style: none; margin: 0 0 8px; padding: 0; } .flow { display: block; max-width: 100%; height: auto; margin: 0 auto 6px; font: 13px system-ui, "DejaVu Sans", sans-serif; }
.flow text { fill: var(--ink); } .flow .symbol { text-anchor: middle; font-weight: 600; } .flow .vault { fill: var(--card); stroke: var(--go); stroke-width: 2; }
.flow .band { fill: var(--fill); stroke: var(--go); stroke-width: .8; } .flow .band.held { stroke-dasharray: 4 3; fill: none; }
progress { accent-color: var(--go); vertical-align: middle; max-width: 100%; }
.travel + details, #what-if { margin-top: 10px; } #what-if form { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: end; padding: 12px; margin-top: 8px; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; } #what-if label { display: grid; gap: 2px; }
.related { padding-left: 18px; } .related li { margin: 4px 0; overflow-wrap: anywhere; } small { color: var(--soft); } .pill small { color: inherit; }
.ladder { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 2px 16px 10px; margin-top: 14px; } .ladder h2 { margin: 10px 0 0; } .ladder .facts { margin: 6px 0; } .ladder ol { padding-left: 22px; margin: 8px 0; } .ladder li pre { border: 0; border-left: 3px solid var(--rule); border-radius: 0; background: none; padding: 0 10px; margin: 2px 0 8px; color: var(--soft); }
`;
