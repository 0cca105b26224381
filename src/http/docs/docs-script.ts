/** The script of the docs page: OpenAPI Explorer's own bundle, which the package carries. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { requireBeside } from "../../require-beside.ts";
import type { Page } from "../contract/endpoint.ts";

const FILE = "openapi-explorer.min.js";

/** A renderer of this version stays the same for as long as a browser keeps a page open. */
const A_DAY = "public, max-age=86400";

/** A key is no text that browsers should offer again to the next reader. */
const NO_MEMORY = `
document.addEventListener("input", (event) => {
  const [field] = event.composedPath();
  if (field.name === "api-key") field.autocomplete = "off";
});
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
    text: renderer === null ? MISSING : `${renderer}${NO_MEMORY}`,
    headers: { "cache-control": A_DAY, "x-content-type-options": "nosniff" },
  };
  return script;
}

/** In the package the file lies in `dist`; in this repository, where it may not be built, in the renderer's own package. */
function readRenderer(): string | null {
  const require = requireBeside();
  const places = [
    () => join(dirname(require.resolve("paystate/package.json")), "dist", "docs", FILE),
    () => require.resolve(`openapi-explorer/dist/browser/${FILE}`),
  ];
  for (const place of places) {
    const text = readIfThere(place);
    if (text !== null) return text;
  }
  return null;
}

function readIfThere(place: () => string): string | null {
  try {
    return readFileSync(place(), "utf8");
  } catch {
    return null;
  }
}
