/** The script of the docs page: OpenAPI Explorer's own bundle, `renderer/openapi-explorer.min.js`, which the package carries. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { requireBeside } from "../../require-beside.ts";
import type { Page } from "../contract/endpoint.ts";

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
