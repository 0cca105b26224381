/** Schemas that have a name in the OpenAPI document: they are written once, and generated clients make a type of each. */
import type { z } from "zod";

const NAMES = new Map<z.ZodType, string>();

/** Gives a schema its name. */
export function named<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  NAMES.set(schema, name);
  return schema;
}

/** The name of a schema, undefined when it has none. */
export function nameOf(schema: z.ZodType): string | undefined {
  return NAMES.get(schema);
}

/** Every schema that has a name. */
export function namedSchemas(): ReadonlyMap<z.ZodType, string> {
  return NAMES;
}
