/**
 * Values as JSON text: plain JSON stays plain, what JSON would lose (Date, Map, Set, bigint, undefined, NaN, Error, URL,
 * bytes, shared and circular references) is written by devalue, and everything else is refused with its path.
 */
import type { EventObject } from "xstate";
import { DevalueError, parse, stringify } from "devalue";
import { thrownText } from "../thrown.ts";

/** NUL, and half of a pair of code units: a database refuses them, or gives another text back. */
export const NOT_KEPT = /[\0\p{Surrogate}]/u;

/** A value that cannot be stored, with the path that leads to it, such as `context.connection`. */
export class UnstorableValue extends TypeError {
  override readonly name = "UnstorableValue";
  /** The path of the value. */
  readonly path: string;
  /** The chart, the instance and the state whose step it is of, where these are known. */
  readonly step: string | undefined;
  readonly #reason: string;

  constructor(path: string, reason: string, step?: string) {
    super(`${step === undefined ? "" : `${step}: `}${path} cannot be stored: ${reason}`);
    this.path = path;
    this.step = step;
    this.#reason = reason;
  }

  /** The error with this step, unless the step is known already. */
  in(step: string): UnstorableValue {
    return this.step === undefined ? new UnstorableValue(this.path, this.#reason, step) : this;
  }
}

/** Runs `act`; the error for a value that cannot be stored is given the step that holds it. */
export function withStep<A>(step: () => string, act: () => A): A {
  try {
    return act();
  } catch (error) {
    throw error instanceof UnstorableValue ? error.in(step()) : error;
  }
}

// An object with this key alone holds devalue's own array. A plain value that has the key is written by devalue too.
const MARK = "$values";

interface StoredError {
  readonly name: string;
  readonly message: string;
  readonly cause: unknown;
  readonly hasCause: boolean;
  readonly fields: Readonly<Record<string, unknown>>;
}

const ERROR_CLASSES: Readonly<Record<string, new (message: string) => Error>> = {
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};

const reducers = { Error: (value: unknown) => value instanceof Error && storedError(value) };
const revivers = { Error: (stored: StoredError) => revivedError(stored) };

/**
 * The value as something that `JSON.stringify` keeps: itself where it is plain JSON, an object of devalue's otherwise.
 * Errors keep their name, message, cause and own fields; their stack and a class of their own are not kept.
 * @throws UnstorableValue naming the path, which begins with `name`.
 */
export function toJson(value: unknown, name: string): unknown {
  if (isPlain(value, MAX_PLAIN_DEPTH)) return value;
  try {
    return { [MARK]: JSON.parse(stringify(value, reducers)) as unknown };
  } catch (error) {
    if (error instanceof DevalueError) throw new UnstorableValue(`${name}${error.path}`, reasonOf(error));
    throw error;
  }
}

/** Returns a thrown value that can be stored; otherwise an error with its text. */
export function storableThrown(thrown: unknown): unknown {
  try {
    toJson(thrown, "error");
    return thrown;
  } catch {
    return new Error(thrownText(thrown));
  }
}

export function fromJson(json: unknown): unknown {
  if (typeof json !== "object" || json === null || !Object.hasOwn(json, MARK)) return json;
  return parse(JSON.stringify((json as Record<string, unknown>)[MARK]), revivers);
}

/** Like `toJson`, field by field, so that fields with plain values stay plain. */
export function fieldsToJson(fields: object, name: string): unknown {
  if (isPlain(fields, MAX_PLAIN_DEPTH)) return fields;
  // What is no plain object is taken or refused whole.
  if (Object.getPrototypeOf(fields) !== Object.prototype || hasOddKeys(fields)) return toJson(fields, name);
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, toJson(value, `${name}.${key}`)]),
  );
}

export function fieldsFromJson(json: unknown): unknown {
  const whole = fromJson(json);
  if (whole !== json || typeof json !== "object" || json === null || Array.isArray(json)) return whole;
  const fields = json as Record<string, unknown>;
  for (const [key, value] of Object.entries(fields)) {
    if (typeof value === "object") fields[key] = fromJson(value);
  }
  return fields;
}

/** Undefined fields are left out: a chart finds undefined there anyway. @throws UnstorableValue naming the field and the path. */
export function eventToText(event: object): string {
  return JSON.stringify(eventToJson(event));
}

/** An event as something that `JSON.stringify` keeps; see `eventToText`. */
export function eventToJson(event: object): unknown {
  const defined = Object.entries(event).filter(([, value]) => value !== undefined);
  return fieldsToJson(Object.fromEntries(defined), "event");
}

export function eventFromText(text: string): EventObject {
  return eventFromJson(JSON.parse(text));
}

export function eventFromJson(json: unknown): EventObject {
  return fieldsFromJson(json) as EventObject;
}

// Deeper values, circular ones among them, are left to devalue, which knows circles.
const MAX_PLAIN_DEPTH = 100;

function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0);
    case "object":
      return value === null || (depth > 0 && isPlainObject(value, depth - 1));
    default:
      return false;
  }
}

function isPlainObject(value: object, depth: number): boolean {
  if (Array.isArray(value)) {
    // `every` skips the holes of a sparse array, which JSON fills with null.
    if (Object.keys(value).length !== value.length) return false;
    return value.every((item) => isPlain(item, depth));
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  if (hasOddKeys(value) || "toJSON" in value) return false;
  for (const key in value) if (!isPlain((value as Record<string, unknown>)[key], depth)) return false;
  return true;
}

/** Whether keys get lost in JSON, change on reading, or look like devalue's marker. */
function hasOddKeys(value: object): boolean {
  return (
    Object.getOwnPropertySymbols(value).length > 0 ||
    Object.hasOwn(value, MARK) ||
    Object.hasOwn(value, "__proto__")
  );
}

function storedError(error: Error): StoredError {
  const { cause } = error;
  // Neither has to be a text.
  const name = typeof error.name === "string" ? error.name : "Error";
  const message = thrownText(error);
  const fields = Object.fromEntries(
    Object.entries(error).filter(([key]) => !["name", "message", "stack", "cause"].includes(key)),
  );
  return { name, message, cause, hasCause: Object.hasOwn(error, "cause"), fields };
}

function revivedError({ name, message, cause, hasCause, fields }: StoredError): Error {
  const error = new (ERROR_CLASSES[name] ?? Error)(message);
  const hidden = (key: string, value: unknown): void => {
    Object.defineProperty(error, key, { value, configurable: true, writable: true, enumerable: false });
  };
  if (error.name !== name) hidden("name", name);
  if (hasCause) hidden("cause", cause);
  // The stack of this moment would point into the storage code, and is another one at every load.
  hidden("stack", `${name}: ${message}`);
  return Object.assign(error, fields);
}

function reasonOf({ message, value }: DevalueError): string {
  const advice = "store plain data, or an id that finds the thing again";
  if (typeof value === "function") return `it is a function; ${advice}`;
  if (typeof value === "symbol") return `it is a symbol; ${advice}`;
  const name = (value as object | null | undefined)?.constructor?.name;
  return name === undefined || name === "Object" ? message : `it is an instance of ${name}; ${advice}`;
}
