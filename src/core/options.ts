/** Options are checked once, at the door, and all problems are said at once. */
import { z } from "zod";
import { redactingLogger } from "./redacting-log.ts";
import { systemClock, systemRandom, type Clock, type Logger, type Random } from "./runtime.ts";
import { stderrLogger } from "./stderr-logger.ts";

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

/**
 * An object of these options and no others. Declarations keep the comments of the options, which those of
 * `z.strictObject` lose.
 */
export function optionsWith<Shape extends z.core.$ZodShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape);
}

/** An option that is the caller's object and has at least these methods; `expected` says what it should be. */
export function objectWith<T>(methods: readonly string[], expected: string): z.ZodType<T, T> {
  const fits = (value: unknown): boolean =>
    typeof value === "object" &&
    value !== null &&
    methods.every((name) => typeof (value as Record<string, unknown>)[name] === "function");
  return z.custom<T>(fits, { error: `expected ${expected}` });
}

/** An option that is a function. */
export function functionOption<T>(): z.ZodType<T, T> {
  return z.custom<T>((value) => typeof value === "function", { error: "expected a function" });
}

/** The options that every factory takes: clock, random source and logger, with the real ones as defaults. */
export const runtimeOptions = {
  clock: objectWith<Clock>(["now", "sleep"], "a clock: { now, sleep }").default(systemClock),
  random: objectWith<Random>(["bytes"], "a random source: { bytes }").default(systemRandom),
  logger: objectWith<Logger>(["debug", "info", "warn", "error"], "a logger such as pino's")
    .default(stderrLogger(false))
    .transform((logger) => redactingLogger(logger)),
};

function sentence({ path, message }: z.core.$ZodIssue): string {
  return `${path.length === 0 ? "options" : path.join(".")}: ${message}`;
}
