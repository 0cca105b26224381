/** The API as one page to read: no script, no request to anywhere, everything out of the OpenAPI document. */
import { createHash } from "node:crypto";
import { Html, html } from "../../inspector/html.ts";
import type { Page } from "../contract/endpoint.ts";
import type { Json } from "../openapi/schemas.ts";
import { inline, paragraphs } from "./prose.ts";
import { showOperation } from "./show-operation.ts";
import { describedSchema } from "./show-schema.ts";
import type { ShownDocument, ShownOperation } from "./shown-document.ts";

const STYLE = `
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

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

// Its content has to be exactly what was hashed, spaces included.
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);

/** An operation and its title on the page. */
interface Titled {
  readonly title: string;
  readonly operation: ShownOperation;
}

/** The page of a document. */
export function docsPage(described: Json): Page {
  const document = described as unknown as ShownDocument;
  return { mediaType: "text/html; charset=utf-8", text: pageOf(document).text, headers: HEADERS };
}

function pageOf(document: ShownDocument): Html {
  const { info, components } = document;
  const operations = operationsOf(document);
  const webhooks = webhooksOf(document);
  const groups = document.tags.map(({ name, description }) => {
    const these = operations.filter(({ operation }) => operation.tags.includes(name));
    return html`<h2>${name}</h2>
      ${paragraphs(description)} ${sections(these, components)}`;
  });
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${info.title}</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        ${contents(document, [...operations, ...webhooks])}
        <main>
          <h1>${info.title}</h1>
          ${paragraphs(info.description)}
          <p>The same for programs: <a href="openapi.json">openapi.json</a></p>
          ${groups}
          <h2>What webhooks are sent</h2>
          ${sections(webhooks, components)}
          <h2>Schemas</h2>
          ${schemas(components)}
        </main>
      </body>
    </html> `;
}

function operationsOf({ paths }: ShownDocument): readonly Titled[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      title: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
}

function webhooksOf({ webhooks }: ShownDocument): readonly Titled[] {
  return Object.entries(webhooks).flatMap(([event, methods]) =>
    Object.values(methods).map((operation) => ({ title: event, operation })),
  );
}

function contents({ tags }: ShownDocument, all: readonly Titled[]): Html {
  const groups = tags.map(({ name }) => {
    const links = all
      .filter(({ operation }) => operation.tags.includes(name))
      .map(({ title, operation }) => html`<li><a href="#${operation.operationId}">${title}</a></li>`);
    return html`<div>
      <h2>${name}</h2>
      <ul>
        ${links}
      </ul>
    </div>`;
  });
  return html`<nav>${groups}</nav>`;
}

function sections(titled: readonly Titled[], components: ShownDocument["components"]): readonly Html[] {
  return titled.map(({ title, operation }) => showOperation(title, operation, components));
}

function schemas({ schemas: all }: ShownDocument["components"]): readonly Html[] {
  return Object.entries(all).map(
    ([name, schema]) =>
      html`<section id="schema-${name}">
        <h3>${inline(name)}</h3>
        ${describedSchema(schema)}
      </section>`,
  );
}
