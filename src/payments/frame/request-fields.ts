/** Fields that many requests have, and how a request is read. */
import { z } from "zod";
import { PaymentError } from "../../errors/errors.ts";

// Enough for any id or symbol of ours; a longer text is no id, and is not echoed back at length.
export const MAX_NAME = 128;
// A body of 64 KiB has room for ten thousand mistakes; a list of them all helps no caller.
const MAX_PROBLEMS = 20;

export const name = z
  .string()
  .min(1)
  .max(MAX_NAME)
  // PostgreSQL cannot even be asked for such a text.
  .refine((text) => !text.includes("\0"), { error: "expected no NUL character" });

/** A time in UTC. */
export const time = z.iso.datetime({ error: 'expected a time in UTC such as "2027-01-31T12:00:00Z"' });
/** The fields of a page, to be spread into an object. */
export const page = {
  limit: z.number().int().min(1).max(100).default(20).describe("Most elements of the page."),
  startingAfter: name
    .optional()
    .describe("The last id of the page before, or the `nextAfter` that it tells."),
};

/** A page of a list that has no filter. */
export const pageQuery = z.strictObject(page);

/** A request as the caller sends it, before its checks. @interface */
export type PageQuery = z.input<typeof pageQuery>;

/** Reads a body or throws `VALIDATION_ERROR` naming the fields, at most 20 of them; a body with an unknown field is refused. */
export function parseRequest<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body, { error: sentence });
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => ({ path: pathText([...issue.path, key]), message: "unknown field" }))
      : [{ path: pathText(issue.path), message: issue.message }],
  );
  throw new PaymentError("VALIDATION_ERROR", { fields: fields.slice(0, MAX_PROBLEMS) });
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string, such as "1"',
  number: "a number",
  int: "a whole number",
  array: "a list",
  object: "an object",
};

/**
 * A sentence about an issue, in the contract's own words; a schema's own message comes first; zod's message is the last
 * resort.
 */
function sentence(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "is missing";
      return `expected ${KINDS[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `expected ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}`;
    case "too_small":
      return issue.origin !== "number" && issue.minimum === 1
        ? "is empty"
        : `expected ${issue.minimum}${unitOf(issue.origin)} or more`;
    case "too_big":
      return `expected ${issue.maximum}${unitOf(issue.origin)} or fewer`;
    default:
      return undefined;
  }
}

function unitOf(origin: string): string {
  if (origin === "string") return " characters";
  return origin === "array" ? " entries" : "";
}

/** A field's path; an invented name is not repeated at length. */
function pathText(path: readonly PropertyKey[]): string {
  return path.map((part) => String(part).slice(0, MAX_NAME)).join(".");
}
