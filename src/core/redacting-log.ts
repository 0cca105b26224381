/**
 * Wraps the host's logger so that no secret reaches it. Callers need not care: each logger is wrapped once, where it is
 * handed over, and each line passes through here.
 */
import { types } from "node:util";
import { silentLogger, type Logger } from "./runtime.ts";

/** Stands where a secret stood. */
const GONE = "***";

// Enough for any message or stack that a person reads; an endless one must not fill the host's disk.
const MAX_TEXT = 16_384;
// A text longer than any error of ours is not searched, and so not logged either.
const MAX_SEARCHED = 64 * 1024;
const MAX_DEPTH = 6;
const MAX_ENTRIES = 100;

/** Fields with such a name hold a secret, whatever their value looks like. */
const SECRET_NAME =
  /api[-_]?key|access[-_]?key|private[-_]?key|secret|password|passwd|passphrase|authorization|cookie|credential|mnemonic|signed[-_]?transaction|auth[-_]?token|access[-_]?token|refresh[-_]?token|^token$/i;

/** Whether a field of this name holds a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/**
 * The shapes of secrets inside a text, and their replacements. No pattern backtracks: every repetition is bounded or
 * possessive, so that the cost of a log line is proportional to its length.
 */
const SHAPES: readonly (readonly [RegExp, string | ((found: string) => string)])[] = [
  [/-----BEGIN [^-]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [^-]{0,40}-----|$)/g, GONE],
  [/[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"<>`]+/gi, hostOnly],
  [/(psk?)_(live|test)_([0-9a-f]{1,32})[0-9a-f_]*/gi, `$1_$2_$3_${GONE}`],
  [/whsec_[A-Za-z0-9+/=_-]+/gi, `whsec_${GONE}`],
  [/((?:set-)?cookie["']?\s{0,8}[=:]\s{0,8})[^\r\n]+/gi, `$1${GONE}`],
  [/(bearer|basic)(\s{1,8}|%20)[^\s"',;]+/gi, `$1 ${GONE}`],
  // A name with its value, as in a query, a header, a line of an .env file or JSON.
  [
    /((?:api[-_]?key|access[-_]?key|private[-_]?key|secret|token|password|passwd|passphrase|authorization|credential|mnemonic)[\w-]{0,32}\\?["']?\s{0,8}[=:]\s{0,8})(?:\\?"(?:[^"\\]|\\[^"])*\\?"?|'[^']*'?|[^\s"'&;,]+)/gi,
    `$1${GONE}`,
  ],
  // Keys and signed bytes as they are printed: `[12,250,…]`, `<Buffer 0c fa …>`, 32 bytes or more in hexadecimal (our
  // ids have 16), base64 too long to be a signature.
  [/[0-9a-f]{64,}/gi, GONE],
  [/(?:\d{1,3}\s{0,8},\s{0,8}){31,}\d{1,3}/g, GONE],
  [/<Buffer[0-9a-f\s]+[^>]{0,40}>/g, `<Buffer ${GONE}>`],
  [/[A-Za-z0-9+/_-]{200,}={0,2}/g, GONE],
];

/** Reduces a URL to scheme and host: providers and receivers put keys into paths, queries and credentials alike. */
function hostOnly(url: string): string {
  const [, scheme = "", host = "", rest = ""] = /^([^:]*:\/\/)([^/?#]*)([\s\S]*)$/.exec(url) ?? [];
  // The frames of a stack are file URLs, and say nothing that a stack does not.
  if (scheme.toLowerCase() === "file://") return url;
  // A password may hold a slash; behind an @ nothing is sure to be the host.
  if (url.includes("@")) return `${scheme}${GONE}`;
  return rest === "" || rest === "/" ? url : `${scheme}${host}/${GONE}`;
}

/** A text without what looks like a secret. Ids, signatures and addresses stay: they are public. */
function redactText(text: string): string {
  if (text.length > MAX_SEARCHED) return `${GONE} (${text.length} characters)`;
  const left = SHAPES.reduce(
    // Two overloads of `replace`, one call each.
    (rest, [shape, by]) => (typeof by === "string" ? rest.replace(shape, by) : rest.replace(shape, by)),
    text,
  );
  const more = left.length - MAX_TEXT;
  return more <= 0 ? left : `${left.slice(0, MAX_TEXT)}… (${more} more characters)`;
}

/**
 * The host's logger behind the redaction. The logger gets copies: plain values and errors whose class, message, stack, code
 * and causes can still be read, so that pino's `err` serializer has everything it looks for. `secrets` are taken out in
 * hexadecimal, base64 and as text wherever they turn up. A logger that throws, or whose promise rejects, does no harm.
 */
export function redactingLogger(host: Logger, secrets: readonly Uint8Array[] = []): Logger {
  // Handed on from one factory to the next it is wrapped already.
  if (secrets.length === 0 && (host === silentLogger || REDACTIONS.has(host))) return host;
  const spellings = secrets.flatMap(spellingsOf);
  const clean = (text: string): string =>
    redactText(spellings.reduce((left, spelling) => left.replaceAll(spelling, GONE), text));
  const tell = (level: keyof Logger): Logger[typeof level] => {
    if (host === silentLogger) return host[level];
    return (fields, message) => {
      try {
        const write: (fields: object, message: string) => unknown = host[level].bind(host);
        const answer = write(redacted(fields, clean, 0) as object, clean(message));
        if (answer instanceof Promise) answer.catch(() => {});
      } catch {
        // The logger itself failed, so nothing can report the failure.
      }
    };
  };
  const log = { debug: tell("debug"), info: tell("info"), warn: tell("warn"), error: tell("error") };
  REDACTIONS.set(log, clean);
  return log;
}

/** The redaction of each wrapped logger. */
const REDACTIONS = new WeakMap<Logger, Clean>();

/** The redaction that stands before this logger, for what is kept elsewhere and read like a log. */
export function redactionOf(log: Logger): (text: string) => string {
  return REDACTIONS.get(log) ?? redactText;
}

// A shorter one would be found in innocent places.
const MIN_SECRET = 8;

function spellingsOf(secret: Uint8Array): string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  const base64 = bytes.toString("base64").replace(/=+$/, "");
  return [hex, hex.toUpperCase(), base64, bytes.toString("base64url"), bytes.toString("utf8")].filter(
    (spelling) => spelling.length >= MIN_SECRET,
  );
}

type Clean = (text: string) => string;

function redacted(value: unknown, clean: Clean, depth: number): unknown {
  switch (typeof value) {
    case "string":
      return clean(value);
    case "bigint":
      // JSON has no such number, and most loggers write JSON.
      return value.toString();
    case "function":
    case "symbol":
      return `[${typeof value}]`;
    case "object":
      break;
    default:
      return value;
  }
  if (value === null) return null;
  // Also what ends a circle.
  if (depth > MAX_DEPTH) return "[deeper]";
  try {
    if (types.isNativeError(value) || value instanceof Error) return redactedError(value, clean, depth);
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (value instanceof URL) return clean(value.href);
    if (value instanceof Date) return value.toJSON();
    if (Array.isArray(value)) {
      return value.slice(0, MAX_ENTRIES).map((each) => redacted(each, clean, depth + 1));
    }
    return Object.fromEntries(redactedFields(value, clean, depth));
  } catch {
    return "[unreadable]";
  }
}

function redactedFields(of: object, clean: Clean, depth: number): [string, unknown][] {
  const names = Object.keys(of).slice(0, MAX_ENTRIES);
  return names.map((name) => {
    try {
      const value = (of as Record<string, unknown>)[name];
      const hidden = isSecretName(name) && (typeof value === "string" || typeof value === "object");
      return [clean(name), hidden && value !== null ? GONE : redacted(value, clean, depth + 1)];
    } catch {
      return [clean(name), "[unreadable]"];
    }
  });
}

/** An error of the same class name that can be read and serialised like the first, and none of its methods. */
function redactedError(error: Error, clean: Clean, depth: number): Error {
  // An error's fields may be of any type, not only text.
  const of = error as unknown as Readonly<Record<string, unknown>>;
  const text = (key: string): string => clean(String(of[key]));
  const copy = new Error(text("message"));
  const hidden = (key: string, value: unknown): void => {
    Object.defineProperty(copy, key, { value, enumerable: false, writable: true, configurable: true });
  };
  hidden("name", text("name"));
  // pino takes the type of an error from here.
  hidden("constructor", error.constructor);
  hidden("stack", of["stack"] === undefined ? undefined : text("stack"));
  for (const key of ["cause", "errors"]) {
    if (key in error) hidden(key, redacted(of[key], clean, depth + 1));
  }
  const own = redactedFields(error, clean, depth).filter(([key]) => !TAKEN.has(key));
  return Object.assign(copy, Object.fromEntries(own));
}

const TAKEN: ReadonlySet<string> = new Set(["message", "stack", "name", "constructor", "cause", "errors"]);
