/** The API's description as a page for browsers: OpenAPI Explorer over the OpenAPI document, with nothing from elsewhere. */
import type { Page } from "../contract/endpoint.ts";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { requireBeside } from "../../core/require-beside.ts";
import { ERRORS, type ErrorCode } from "../../errors/error-table.ts";
import { remediesOf } from "../../errors/remedies.ts";

const STYLE = `
html, body { height: 100%; margin: 0; }
body { font: 16px/1.5 system-ui, sans-serif; }
openapi-explorer { --primary-btn-text-color: #fff; height: 100vh; box-sizing: border-box; }
main { max-width: 50rem; margin: 0 auto; padding: 1rem; }
h2 { font-size: 1rem; overflow-wrap: anywhere; }
/* The renderer scrolls to itself once it is there: an address that names an error shows the errors alone. */
body:has(section:target) openapi-explorer { display: none; }
section { scroll-margin-top: 1rem; }
section:target { outline: 2px solid #1f5fbf; outline-offset: 0.5rem; }
dd { margin: 0 0 0.5rem 1rem; }
noscript, openapi-explorer:not(:defined) { display: block; padding: 2rem; }
`;

/** Only this host is asked, and only its own script runs. The renderer writes styles of its own into the page. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** A section for each code, which `docUrl` of an error leads to. */
function errorSections(): string {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return codes.map(errorSection).join("\n");
}

function errorSection(code: ErrorCode): string {
  const { status, message } = ERRORS[code];
  const rows = remediesOf(code).map(({ reason, remedy }) =>
    reason === null
      ? `<p>${marked(remedy)}</p>`
      : `<dt><code>${reason}</code></dt><dd>${marked(remedy)}</dd>`,
  );
  const isList = rows[0]?.startsWith("<dt>") === true;
  const remedies = isList ? `<dl>${rows.join("")}</dl>` : rows.join("");
  return `<section id="${code}"><h2>${code}</h2><p>${status}. ${marked(message)}</p>${remedies}</section>`;
}

/** Words of code as HTML. */
function marked(text: string): string {
  const plain = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return plain.replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

/** Where the script stands, seen from the page. */
const SCRIPT = "docs/explorer.js";

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>paystate payments: the API</title>
    <style>${STYLE}</style>
    <script type="module" src="${SCRIPT}"></script>
  </head>
  <body>
    <noscript>This page is drawn by a script. The same for programs: <a href="openapi.json">openapi.json</a></noscript>
    <openapi-explorer
      spec-url="openapi.json"
      collapse="false"
      hide-server-selection="true"
      default-schema-tab="body"
      schema-expand-level="2"
      use-path-in-nav-bar="true"
      bg-color="#ffffff"
      text-color="#1b2330"
      primary-color="#1f5fbf"
      secondary-color="#1f5fbf"
      nav-bg-color="#f5f7fa"
      nav-text-color="#1b2330"
      nav-hover-bg-color="#e6ecf5"
      nav-hover-text-color="#1b2330"
    >
      <p>The same for programs: <a href="openapi.json">openapi.json</a></p>
    </openapi-explorer>
    <main>
      <h1>Errors</h1>
      <p><a href="docs">All endpoints</a></p>
${errorSections()}
    </main>
  </body>
</html>
`;

/** The page: the same for every API, since what the page shows comes from `openapi.json` beside it. */
export const DOCS_PAGE: Page = {
  mediaType: "text/html; charset=utf-8",
  text: PAGE,
  headers: {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  },
};

/** A renderer of this version stays the same for as long as a browser keeps a page open. */
const A_DAY = "public, max-age=86400";

/** A key is no text that browsers should offer again to the next reader. */
const NO_MEMORY = `
document.addEventListener("input", (event) => {
  const [field] = event.composedPath();
  if (field.name === "api-key") field.autocomplete = "off";
});
`;

/** Methods in one line, and on a phone the table of the key in one column. The list of endpoints is the menu there. */
const LAYOUT = `
.method, .method > span { white-space: nowrap; word-break: normal; }
.method { width: 4.25rem; }
@media (max-width: 767.98px) {
  #auth .m-table, #auth .m-table tbody, #auth .m-table tr, #auth .m-table td { display: block; max-width: none; }
}
`;

/** The renderer draws in a shadow that the page's own styles do not reach. */
const LAYING_OUT = `
const sheet = new CSSStyleSheet();
sheet.replaceSync(${JSON.stringify(LAYOUT)});
const { shadowRoot } = document.querySelector("openapi-explorer");
if (shadowRoot !== null) shadowRoot.adoptedStyleSheets = [...shadowRoot.adoptedStyleSheets, sheet];
`;

/** Says on the page itself what is missing, where a host has bundled this library and left its folder behind. */
const MISSING = `document.querySelector("openapi-explorer").textContent =
  "The renderer of this page lies in the package paystate, which was not found beside the server. See openapi.json.";
`;

let script: Page | null = null;

/** The script, read when it is first asked for. */
export function docsScript(): Page {
  if (script !== null) return script;
  const renderer = readRenderer();
  script = {
    mediaType: "text/javascript; charset=utf-8",
    text: renderer === null ? MISSING : `${renderer}${NO_MEMORY}${LAYING_OUT}`,
    headers: { "cache-control": A_DAY, "x-content-type-options": "nosniff" },
  };
  return script;
}

/** Beside this file in the repository; in the package in `dist`, which a bundle of a host's own finds by the package's name. */
function readRenderer(): string | null {
  const inPackage = (): string => dirname(requireBeside().resolve("paystate/package.json"));
  const places = [
    () => join(dirname(fileURLToPath(import.meta.url)), "renderer"),
    () => join(inPackage(), "dist", "renderer"),
  ];
  for (const place of places) {
    const text = readIfThere(place);
    if (text !== null) return text;
  }
  return null;
}

function readIfThere(folder: () => string): string | null {
  try {
    return readFileSync(join(folder(), "openapi-explorer.min.js"), "utf8");
  } catch {
    return null;
  }
}
