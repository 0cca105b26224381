/** Schemas as HTML: the fields of objects as a table, everything else as a few words. */
import { html, type Html } from "../../inspector/html.ts";
import { inline, paragraphs } from "./prose.ts";
import { referredName, type ShownSchema } from "./shown-document.ts";

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
export function typeWords(schema: ShownSchema): Html {
  if (schema.$ref !== undefined) {
    const name = referredName(schema.$ref);
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  if (schema.anyOf !== undefined) return html`${joined(schema.anyOf.map(typeWords), " or ")}`;
  if (schema.enum !== undefined) return html`${joined(schema.enum.map(value), " or ")}`;
  if (schema.const !== undefined) return value(schema.const);
  if (schema.items !== undefined) return html`list of ${typeWords(schema.items)}${bounds(schema)}`;
  return html`${schema.type ?? "anything"}${bounds(schema)}`;
}

function row(name: string, field: ShownSchema, required: boolean): Html {
  const inner = field.properties === undefined ? null : showSchema(field);
  const fallback = field.default === undefined ? null : html` Default ${value(field.default)}.`;
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

function value(plain: unknown): Html {
  return html`<code>${JSON.stringify(plain)}</code>`;
}

function joined(parts: readonly Html[], between: string): readonly (Html | string)[] {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [between, part]));
}
