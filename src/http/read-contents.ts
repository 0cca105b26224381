/** Reads the contents of a request: body, query, and the headers about repetition. */
import { z } from "zod";
import type { RequestOptions } from "../payments/frame/accounts/answer-once.ts";
import { sha256Hex } from "../payments/frame/ids.ts";
import { bodyUse, type KeyedEndpoint } from "./contract/endpoint.ts";
import type { Connection } from "./node-listener.ts";
import { PaymentError, fieldError } from "../errors/errors.ts";
import { bodyTakenFromFetch } from "./body-taken.ts";

export interface RequestContent {
  /** Undefined where no body is parsed. */
  readonly body: unknown;
  readonly query: Readonly<Record<string, unknown>>;
  readonly options: Pick<RequestOptions, "fingerprint" | "idempotencyKey">;
}

/** A request that nothing is read of. */
export const NOTHING_READ: RequestContent = { body: undefined, query: {}, options: {} };

/** Reads as much as the endpoint takes. Throws `VALIDATION_ERROR`, `PAYLOAD_TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`. */
export async function readContents(
  request: Request,
  endpoint: KeyedEndpoint,
  { readBefore }: Connection,
): Promise<RequestContent> {
  const query = endpoint.query === undefined ? {} : readQuery(request.url, endpoint.query);
  const use = bodyUse(endpoint);
  if (use === "unread") return { ...NOTHING_READ, query };
  if (use === "json") requireJson(request.headers);
  const bytes = readBefore === null ? await readBody(request) : checkLength(readBefore());
  const idempotencyKey = request.headers.get("idempotency-key");
  const options = {
    fingerprint: sha256Hex(bytes),
    ...(idempotencyKey === null ? {} : { idempotencyKey }),
  };
  return { body: use === "json" ? parseJson(bytes) : undefined, query, options };
}

/**
 * The parameters by name: digits are a number where the schema wants one, and text everywhere else. Throws
 * `VALIDATION_ERROR` for a parameter that is there twice: which of them is meant is not known.
 */
function readQuery(url: string, schema: z.ZodObject): Readonly<Record<string, unknown>> {
  const { searchParams } = new URL(url);
  const names = [...searchParams.keys()];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw givenTwice(twice);
  return Object.fromEntries(
    [...searchParams].map(([name, text]) => {
      const wanted: unknown = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
      return [name, isNumber(wanted) && /^[0-9]{1,9}$/.test(text) ? Number(text) : text];
    }),
  );
}

function isNumber(schema: unknown): boolean {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) return isNumber(schema.unwrap());
  return schema instanceof z.ZodNumber;
}

// A payroll of 500 recipients takes about 40 KiB.
const MAX_BODY_BYTES = 64 * 1024;
// An honest client was seen to send 5,021. Each costs as much time as hundreds of bytes, also an empty one.
const MAX_BODY_CHUNKS = 8_192;
// Then others have their turn: the chunks of a body that is there already come without a pause.
const CHUNKS_A_TURN = 512;
// An invented name is not repeated at length.
const MAX_FIELD = 128;

/** Throws `UNSUPPORTED_MEDIA_TYPE` for anything but plain, UTF-8 `application/json`. */
function requireJson(headers: Headers): void {
  const [type = "", ...parameters] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith("charset="));
  const utf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  if (type.trim() !== "application/json" || !utf8) {
    throw new PaymentError("UNSUPPORTED_MEDIA_TYPE", { expected: "application/json" });
  }
}

/**
 * The raw bytes, counted while they arrive, as their chunks are: `Content-Length` may lie, and is believed only when it says
 * too much.
 * Throws `PAYLOAD_TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE` for a compressed body, `VALIDATION_ERROR` for one that breaks off;
 * `BodyTaken` for one that was read before.
 */
export async function readBody(request: Request): Promise<Uint8Array> {
  const { headers } = request;
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity") {
    throw new PaymentError("UNSUPPORTED_MEDIA_TYPE", { expected: "application/json" });
  }
  if (Number(headers.get("content-length")) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Looked at only now: a body that was not opened is drained by the server, and its connection lives on.
  if (request.bodyUsed || request.body?.locked === true) throw bodyTakenFromFetch();
  for await (const chunk of whole(request.body)) {
    length += chunk.length;
    chunks.push(chunk);
    if (length > MAX_BODY_BYTES || chunks.length > MAX_BODY_CHUNKS) throw tooLarge();
    if (chunks.length % CHUNKS_A_TURN === 0) await new Promise(setImmediate);
  }
  return Buffer.concat(chunks, length);
}

/** Bytes that were read before us; the limit holds for them too. */
function checkLength(bytes: Uint8Array): Uint8Array {
  if (bytes.length > MAX_BODY_BYTES) throw tooLarge();
  return bytes;
}

/**
 * Parses the bytes or throws `VALIDATION_ERROR`; what the parser says about them is not repeated to anybody. A field that
 * is there twice is refused: which of two amounts is meant is not known.
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw malformed("the body is empty; expected JSON");
  const { text, value } = decoded(bytes);
  const twice = duplicateField(text);
  if (twice !== null) throw givenTwice(twice);
  return value;
}

function decoded(bytes: Uint8Array): { readonly text: string; readonly value: unknown } {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { text, value: JSON.parse(text) };
  } catch {
    throw malformed("the body is not valid JSON in UTF-8");
  }
}

async function* whole(body: Request["body"]): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  try {
    for await (const chunk of body) yield chunk as Uint8Array;
  } catch {
    throw malformed("the body broke off");
  }
}

function tooLarge(): PaymentError {
  return new PaymentError("PAYLOAD_TOO_LARGE", { limitBytes: MAX_BODY_BYTES });
}

function givenTwice(name: string): PaymentError {
  return fieldError(name.slice(0, MAX_FIELD), "is given twice");
}

function malformed(message: string): PaymentError {
  return fieldError("", message);
}

/** An object or a list that the scan is inside of. */
interface Level {
  /** The names so far; null in a list. */
  readonly names: Set<string> | null;
  /** The name of the field, or the index of the element, that is being read. */
  at: string | number;
  /** Whether the next text is a name. */
  isName: boolean;
}

/**
 * The path of the first duplicate field, such as `recipients.0.amount`, or null. JSON.parse would silently keep the last value.
 * Names are compared without their escapes. `json` must be text that JSON.parse takes. Reads it once.
 */
export function duplicateField(json: string): string | null {
  const levels: Level[] = [];
  for (let index = 0; index < json.length; index++) {
    const level = levels.at(-1);
    switch (json[index]) {
      case '"': {
        const end = endOfText(json, index);
        if (level?.isName === true && level.names !== null) {
          const name = JSON.parse(json.slice(index, end + 1)) as string;
          level.at = name;
          level.isName = false;
          if (level.names.has(name)) return levels.map(({ at }) => at).join(".");
          level.names.add(name);
        }
        index = end;
        break;
      }
      case "{":
        levels.push({ names: new Set(), at: "", isName: true });
        break;
      case "[":
        levels.push({ names: null, at: 0, isName: false });
        break;
      case "}":
      case "]":
        levels.pop();
        break;
      case ",":
        if (level !== undefined) goOn(level);
        break;
      default:
    }
  }
  return null;
}

function goOn(level: Level): void {
  if (typeof level.at === "number") level.at += 1;
  level.isName = level.names !== null;
}

/** The index of the quote that ends the text which begins at `start`. */
function endOfText(json: string, start: number): number {
  let index = start + 1;
  while (index < json.length && json[index] !== '"') index += json[index] === "\\" ? 2 : 1;
  return index;
}
