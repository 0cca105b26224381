/** The schemas that answers are made of, and the names that they have in the OpenAPI document. */
import { z } from "zod";

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

export function namedSchemas(): ReadonlyMap<z.ZodType, string> {
  return NAMES;
}

/** A text, with what it says. */
export function text(description: string): z.ZodString {
  return z.string().describe(description);
}

/** A decimal string such as "12.5". */
export function amount(description: string): z.ZodString {
  return z
    .string()
    .regex(/^[0-9]+(\.[0-9]+)?$/)
    .describe(description);
}

/** A time in ISO 8601, UTC. */
export function time(description: string): z.ZodISODateTime {
  return z.iso.datetime().describe(description);
}

type PageSchema<Element extends z.ZodType> = z.ZodObject<{
  data: z.ZodArray<Element>;
  hasMore: z.ZodBoolean;
}>;

export function pageOf<Element extends z.ZodType>(element: Element): PageSchema<Element> {
  return z.object({
    data: z.array(element),
    hasMore: z
      .boolean()
      .describe(
        "Whether another page follows: `startingAfter` the last id of this one. A page may be shorter than `limit`.",
      ),
  });
}
