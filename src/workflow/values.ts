/**
 * Values as JSON text: plain JSON stays plain; other values (Date, Map, Set, bigint, undefined, NaN, Error, URL, bytes,
 * shared and circular references) is written by devalue, and everything else is refused with its path.
 */
import type { EventObject } from "xstate";
import { DevalueError, parse, stringify } from "devalue";
import { thrownText } from "../core/thrown.ts";
import { ActorAddress, isActorLike, revivedActor, storedActor, type ActorPlace } from "./actor-address.ts";
import { ChartFault } from "./chart-fault.ts";

/** NUL, and half of a pair of code units: a database refuses them, or gives another text back. */
export const NOT_KEPT = /[\0\p{Surrogate}]/u;

/** A value that cannot be stored, with the path that leads to it, such as `context.connection`. */
export class UnstorableValue extends ChartFault {
  override readonly name = "UnstorableValue";
  /** The path of the value. */
  readonly path: string;
  readonly #why: string;

  constructor(path: string, why: string, step?: string) {
    super(`${path} cannot be stored: ${why}`, step);
    this.path = path;
    this.#why = why;
  }

  override in(step: string): UnstorableValue {
    return this.step === undefined ? new UnstorableValue(this.path, this.#why, step) : this;
  }
}

// An object with this key alone holds devalue's own array. A plain value that has the key is written by devalue too.
const MARK = "$values";

interface StoredError {
  readonly name: string;
  readonly message: string;
  readonly cause: unknown;
  readonly hasCause: boolean;
  /** The errors of an AggregateError. */
  readonly errors?: readonly unknown[];
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

/** Stands for a value that devalue would change: it refuses this one with the path. */
class Changed {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

// Asked in this order. A buffer may lie in memory that it shares with others: of that only its own bytes are stored.
const reducers = {
  Actor: (value: unknown) => value instanceof ActorAddress && value.fault === undefined && storedActor(value),
  Error: (value: unknown) => value instanceof Error && storedError(value),
  Buffer: (value: unknown) => Buffer.isBuffer(value) && new Uint8Array(value),
  Changed: (value: unknown) => changed(value),
};
type Revivers = NonNullable<Parameters<typeof parse>[1]>;

const givenRevivers: Revivers = {
  Error: (stored: StoredError) => revivedError(stored),
  Buffer: (bytes: Uint8Array) => Buffer.from(bytes),
};
const revivers: Revivers = { ...givenRevivers, Actor: (place: ActorPlace) => revivedActor(place) };

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

export function fromJson(json: unknown, known: Revivers = revivers): unknown {
  if (typeof json !== "object" || json === null || !Object.hasOwn(json, MARK)) return json;
  return parse(JSON.stringify((json as Record<string, unknown>)[MARK]), known);
}

/** Like `toJson`, field by field, so that fields with plain values stay plain. */
export function fieldsToJson(fields: object, name: string): unknown {
  if (isPlain(fields, MAX_PLAIN_DEPTH)) return fields;
  // A value that is no plain object is taken or refused as a whole.
  if (Object.getPrototypeOf(fields) !== Object.prototype || hasOddKeys(fields)) return toJson(fields, name);
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, toJson(value, `${name}.${key}`)]),
  );
}

export function fieldsFromJson(json: unknown, known: Revivers = revivers): unknown {
  const whole = fromJson(json, known);
  if (whole !== json || typeof json !== "object" || json === null || Array.isArray(json)) return whole;
  const fields = json as Record<string, unknown>;
  for (const [key, value] of Object.entries(fields)) {
    if (typeof value === "object") fields[key] = fromJson(value, known);
  }
  return fields;
}

/** Undefined fields are left out: a chart finds undefined there anyway. @throws UnstorableValue naming the field and the path. */
export function eventToText(event: object): string {
  return JSON.stringify(eventToJson(event));
}

/** An event as something that `JSON.stringify` keeps; see `eventToText`. */
export function eventToJson(event: object): unknown {
  return fieldsToJson(definedFields(event), "event");
}

/** An event as it comes back from storage. A value that cannot be stored stays as it is: the step refuses it with its place. */
export function keptEvent(event: object): object {
  const fields = definedFields(event);
  if (isPlain(fields, MAX_PLAIN_DEPTH)) return fields;
  try {
    return eventFromText(eventToText(fields));
  } catch {
    return fields;
  }
}

function definedFields(event: object): object {
  const fields: Record<string, unknown> = { ...event };
  for (const key of Object.keys(fields)) if (fields[key] === undefined) delete fields[key];
  return fields;
}

export function eventFromText(text: string): EventObject {
  return eventFromJson(JSON.parse(text));
}

/** An event that a person has written in the form in which events are stored. @throws Error for one that holds an actor. */
export function typedEvent(text: string): unknown {
  return fieldsFromJson(JSON.parse(text), givenRevivers);
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
    // A hole is read as undefined, which is not plain; so there are as many keys as items, and more are fields beside them.
    for (let at = 0; at < value.length; at++) if (!isPlain(value[at], depth)) return false;
    return Object.getPrototypeOf(value) === Array.prototype && Object.keys(value).length === value.length;
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

/** A value that devalue would silently change; null for what it keeps, or refuses itself. */
function changed(value: unknown): Changed | null {
  if (typeof value !== "object" || value === null) return null;
  if (value instanceof ActorAddress) return new Changed(value.fault ?? ofClass(value));
  if (isActorLike(value)) return new Changed(FOREIGN_ACTOR);
  // Values that devalue itself refuses, except plain objects, which it keeps.
  if (Object.prototype.toString.call(value) === "[object Object]") return null;
  // Built-in objects have two prototypes; lists of bytes and of numbers have one between them.
  const isView = ArrayBuffer.isView(value);
  if (prototypesOf(value) > (isView ? 3 : 2)) return new Changed(ofClass(value));
  if (value instanceof RegExp && value.lastIndex !== 0) return new Changed("its lastIndex is not 0");
  if (isView) return null;
  // Faults of items come first.
  const field = Object.keys(value).at(-1);
  const isItem = field === undefined || /^\d+$/.test(field);
  return isItem ? null : new Changed(`it has a field "${field}" beside what it holds`);
}

function prototypesOf(value: object): number {
  const next = Object.getPrototypeOf(value) as object | null;
  return next === null ? 0 : 1 + prototypesOf(next);
}

function storedError(error: Error): StoredError {
  const { cause } = error;
  // Neither has to be a text.
  const name = typeof error.name === "string" ? error.name : "Error";
  const message = thrownText(error);
  const fields = Object.fromEntries(
    Object.entries(error).filter(([key]) => !["name", "message", "stack", "cause"].includes(key)),
  );
  const isSeveral = error instanceof AggregateError && Array.isArray(error.errors);
  const several = isSeveral ? { errors: error.errors as readonly unknown[] } : {};
  return { name, message, cause, hasCause: Object.hasOwn(error, "cause"), ...several, fields };
}

function revivedError({ name, message, cause, hasCause, errors, fields }: StoredError): Error {
  const error =
    errors === undefined ? new (ERROR_CLASSES[name] ?? Error)(message) : new AggregateError(errors, message);
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
  if (value instanceof Changed) return value.reason;
  if (typeof value === "function") return `it is a function; ${ADVICE}`;
  if (typeof value === "symbol") return `it is a symbol; ${ADVICE}`;
  const name = (value as object | null | undefined)?.constructor?.name;
  return name === undefined || name === "Object" ? message : ofClass(value as object);
}

const FOREIGN_ACTOR =
  "it is an actor that the engine has not made; begin it in the chart with spawn, and keep what that returns";

const ADVICE = "store plain data, or an id that finds the thing again";

const ofClass = ({ constructor }: object): string => `it is an instance of ${constructor.name}; ${ADVICE}`;
