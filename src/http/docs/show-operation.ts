/** Renders operations, schemas and the words of descriptions as HTML. */
import { html, type Html } from "../../inspector/html.ts";
import {
  referredName,
  type ShownContent,
  type ShownDocument,
  type ShownOperation,
  type ShownParameter,
  type ShownResponse,
  type ShownSchema,
} from "./shown-document.ts";

type Components = ShownDocument["components"];

/** `title` is the method and the path, or the event. */
export function showOperation(title: string, operation: ShownOperation, components: Components): Html {
  const { operationId, summary, description, parameters = [], requestBody } = operation;
  const answers = Object.entries(operation.responses).map(([status, response]) =>
    showResponse(status, resolvedResponse(response, components)),
  );
  return html`<section id="${operationId}">
    <h3><code>${title}</code></h3>
    <p><b>${inline(summary)}</b></p>
    ${paragraphs(description)} ${access(operation)}
    ${showParameters(parameters.map((parameter) => resolvedParameter(parameter, components)))}
    ${
      requestBody === undefined
        ? null
        : html`<h4>Body</h4>
            ${showContent(requestBody.content)}`
    }
    <h4>Answers</h4>
    ${answers}
  </section>`;
}

function access(operation: ShownOperation): Html | null {
  const { "x-scope": scope, "x-limit": limit } = operation;
  if (scope === undefined || limit === undefined) return null;
  const key = scope === "none" ? html`No key` : html`Scope <code>${scope}</code>`;
  return html`<p class="access">${key}, limit <code>${limit}</code></p>`;
}

function showParameters(parameters: readonly ShownParameter[]): Html | null {
  if (parameters.length === 0) return null;
  const rows = parameters.map(
    (parameter) =>
      html`<tr>
        <td><code>${parameter.name}</code></td>
        <td>${parameter.in}${parameter.required ? null : html` <small>optional</small>`}</td>
        <td>${typeWords(parameter.schema)}. ${inline(parameter.description ?? "")}</td>
      </tr>`,
  );
  return html`<h4>Parameters</h4>
    <table>
      <tbody>
        ${rows}
      </tbody>
    </table>`;
}

function showResponse(status: string, { description, content = {} }: ShownResponse): Html {
  return html`<details>
    <summary><b>${status}</b></summary>
    ${paragraphs(description)} ${showContent(content)}
  </details>`;
}

function showContent(content: ShownContent): readonly Html[] {
  return Object.entries(content).map(([mediaType, { schema, examples = {} }]) => {
    const shown = Object.entries(examples).map(
      ([name, { value }]) =>
        html`<figure>
          <figcaption>${name}</figcaption>
          <pre>${JSON.stringify(value, null, 2)}</pre>
        </figure>`,
    );
    return html`<p><small>${mediaType}</small> ${typeWords(schema)}</p>
      ${shown}`;
  });
}

function resolvedParameter(parameter: ShownParameter, { parameters }: Components): ShownParameter {
  return parameter.$ref === undefined ? parameter : (parameters[referredName(parameter.$ref)] ?? parameter);
}

function resolvedResponse(response: ShownResponse, { responses }: Components): ShownResponse {
  return response.$ref === undefined ? response : (responses[referredName(response.$ref)] ?? response);
}

/** Text between backticks becomes code. */
export function inline(text: string): readonly Html[] {
  // Every second piece stands between two backticks.
  return text
    .split("`")
    .map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`));
}

/** A blank line begins a paragraph. */
export function paragraphs(text: string | undefined): readonly Html[] {
  return (text ?? "")
    .split("\n\n")
    .filter((paragraph) => paragraph !== "")
    .map((paragraph) => html`<p>${inline(paragraph)}</p>`);
}

/** A schema with its fields. */
function showSchema(schema: ShownSchema): Html {
  const { properties } = schema;
  if (properties === undefined) return html`<p>${typeWords(schema)}</p>`;
  const rows = Object.entries(properties).map(([name, field]) =>
    row(name, field, schema.required?.includes(name) === true),
  );
  return html`<table>
    <thead>
      <tr>
        <th>field</th>
        <th>type</th>
        <th></th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

/** The type of a value in words, such as "text or null". */
function typeWords(schema: ShownSchema): Html {
  if (schema.$ref !== undefined) {
    const name = referredName(schema.$ref);
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  if (schema.anyOf !== undefined) return html`${joined(schema.anyOf.map(typeWords), " or ")}`;
  if (schema.enum !== undefined) return html`${joined(schema.enum.map(asCode), " or ")}`;
  if (schema.const !== undefined) return asCode(schema.const);
  if (schema.items !== undefined) return html`list of ${typeWords(schema.items)}${bounds(schema)}`;
  return html`${schema.type ?? "anything"}${bounds(schema)}`;
}

function row(name: string, field: ShownSchema, required: boolean): Html {
  const inner = field.properties === undefined ? null : showSchema(field);
  const fallback = field.default === undefined ? null : html` Default ${asCode(field.default)}.`;
  return html`<tr>
    <td><code>${name}</code></td>
    <td>${typeWords(field)}${required ? null : html` <small>optional</small>`}</td>
    <td>${inline(field.description ?? "")}${fallback}${inner}</td>
  </tr>`;
}

/** A schema with its description. */
export function describedSchema(schema: ShownSchema): readonly Html[] {
  return [...paragraphs(schema.description), showSchema(schema)];
}

function bounds(schema: ShownSchema): string {
  const least = schema.minimum ?? schema.minLength ?? schema.minItems;
  const most = schema.maximum ?? schema.maxLength ?? schema.maxItems;
  // JSON Schema's own bounds of whole numbers say nothing.
  const isTold = (bound: number | undefined): bound is number =>
    bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
  const unit = { string: " characters", array: " entries" }[schema.type ?? ""] ?? "";
  if (isTold(least) && isTold(most)) return `, ${least} to ${most}${unit}`;
  if (isTold(least)) return `, ${least}${unit} or more`;
  return isTold(most) ? `, ${most}${unit} or fewer` : "";
}

function asCode(plain: unknown): Html {
  return html`<code>${JSON.stringify(plain)}</code>`;
}

function joined(parts: readonly Html[], between: string): readonly (Html | string)[] {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [between, part]));
}
