/** Schemas as OpenAPI 3.1 has them: named schemas are in the components, all others where they are used. */
import { z } from "zod";
import { ERRORS } from "../../errors/error-table.ts";
import type { ErrorCode } from "../../errors/errors.ts";
import { namedSchemas, nameOf } from "../../payments/frame/body-schemas.ts";

/** JSON of a part of the document. */
export type Json = Readonly<Record<string, unknown>>;

// Answers are described as they are taken in: open to fields that a later version adds.
const AS_TAKEN = { io: "input" } as const;

/** A reference to a component. */
export function reference(
  kind: "schemas" | "headers" | "parameters" | "responses" | "examples",
  name: string,
): Json {
  return { $ref: `#/components/${kind}/${name}` };
}

/** The schema, or a reference to it when it has a name. */
export function schemaOf(schema: z.ZodType): Json {
  const name = nameOf(schema);
  return name === undefined ? plain(z.toJSONSchema(schema, AS_TAKEN)) : reference("schemas", name);
}

/** The name of a code's schema, such as `CannotCancelError`. */
export function errorName(code: ErrorCode): string {
  const words = code
    .replace(/_ERROR$/, "")
    .toLowerCase()
    .split("_");
  return `${words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join("")}Error`;
}

/** All named schemas, and an error schema for each of these codes. */
export function schemaComponents(codes: readonly ErrorCode[]): Json {
  const registry = z.registry<{ readonly id: string }>();
  for (const [schema, id] of namedSchemas()) registry.add(schema, { id });
  for (const code of codes) registry.add(errorSchema(code), { id: errorName(code) });
  const { schemas } = z.toJSONSchema(registry, {
    ...AS_TAKEN,
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => {
      tellDefault(jsonSchema);
    },
  });
  // By name: which module declares a schema, and is loaded first, is no matter of the document.
  const byName = Object.entries(schemas).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(byName.map(([name, schema]) => [name, plain(schema)]));
}

function errorSchema(code: ErrorCode): z.ZodType {
  const details: z.ZodObject = ERRORS[code].details;
  return z
    .object({
      error: z.object({
        code: z.literal(code),
        message: z.string().describe("For people."),
        details: details.extend({
          requestId: z.string().describe("The same as X-Request-Id."),
          docUrl: z.string().describe("The section about this code, relative to the service."),
        }),
      }),
    })
    .describe(ERRORS[code].message);
}

/** Says the default in words: where a body declares one, generators of clients have each request name the field. */
function tellDefault(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.default === undefined) return;
  const told = `Default \`${JSON.stringify(schema.default)}\`.`;
  schema.description = [schema.description, told].filter((part) => part !== undefined).join(" ");
  delete schema.default;
}

/** OpenAPI 3.1 has the dialect of JSON Schema by itself, and components have their names. */
function plain(schema: object): Json {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$schema" && key !== "$id"));
}
