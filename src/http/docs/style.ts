/** The style of the page. Its hash stands in the page's Content-Security-Policy. */

export const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; }
main, nav { max-width: 60rem; margin: 0 auto; padding: 1rem 1.25rem; }
nav { columns: 18rem; border-bottom: 1px solid var(--line); font-size: 0.9rem; }
nav h2 { font-size: 1rem; margin: 0 0 0.25rem; }
nav div { break-inside: avoid; margin-bottom: 1rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
h1 { margin: 0; }
section { padding: 1rem 0; border-bottom: 1px solid var(--line); }
h3 { margin: 0; overflow-wrap: anywhere; }
h4 { margin: 1.25rem 0 0.25rem; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.75rem 0.3rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
td:first-child code { white-space: nowrap; }
code, pre { font: 0.9em/1.45 ui-monospace, monospace; }
pre { overflow-x: auto; padding: 0.75rem; background: var(--soft); border-radius: 4px; margin: 0; }
figure { margin: 0.5rem 0; }
figcaption, small, .access { opacity: 0.75; }
details { margin: 0.25rem 0; }
summary { cursor: pointer; }
`;
