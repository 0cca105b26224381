/** Options are checked once, at the door, and all problems are said at once. */
import type { z } from "zod";

/** Thrown by every factory for wrong options; `problems` has one sentence per option, beginning with its path. */
export class InvalidOptions extends TypeError {
  override readonly name = "InvalidOptions";
  readonly problems: readonly string[];

  constructor(factory: string, problems: readonly string[]) {
    super(`${factory} was given options it cannot work with:\n- ${problems.join("\n- ")}`);
    this.problems = problems;
  }
}

/** Returns the options with defaults filled in, or throws `InvalidOptions` with every problem and its path. */
export function checkOptions<Schema extends z.ZodType>(
  factory: string,
  schema: Schema,
  options: unknown,
): Readonly<z.output<Schema>> {
  const checked = schema.safeParse(options);
  if (!checked.success) throw new InvalidOptions(factory, checked.error.issues.map(sentence));
  return checked.data;
}

function sentence({ path, message }: z.core.$ZodIssue): string {
  return `${path.length === 0 ? "options" : path.join(".")}: ${message}`;
}
