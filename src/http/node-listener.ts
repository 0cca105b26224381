/** The handler as a listener of `node:http`, alone or inside a framework that may have read the body already. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { getRequestListener, RequestError, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type PaymentError, fieldError } from "../errors/errors.ts";
import { bodyTakenFromNode } from "./body-taken.ts";
import { responseOf, type WholeAnswer } from "./error-answer.ts";

export interface Connection {
  /** The address of the other end of the socket, null when there is no socket. */
  readonly peer: string | null;
  /** The HTTP version, such as "1.1"; null without a socket. */
  readonly httpVersion: string | null;
  /** The part of the path that a framework cut off before us, such as "/payments" under Express's `app.use`. */
  readonly mountedAt: string;
  /** Gives the body when it was read before us; null when it is still to be read. Throws `VALIDATION_ERROR`, `BodyTaken`. */
  readonly readBefore: (() => Uint8Array) | null;
  /** Sends an answer; returns the response, or a stand-in when the answer is already on its way. */
  readonly send: (answer: WholeAnswer) => Response;
}

/** A request that came without a connection, by `fetch`. */
export const NO_CONNECTION: Connection = {
  peer: null,
  httpVersion: null,
  mountedAt: "",
  readBefore: null,
  send: responseOf,
};

// A copy is of the platform's own class. Where a host's server has replaced the global one by a lighter class before this
// module was loaded, the original is of that, and would be written a second time.
const ALREADY_SENT = RESPONSE_ALREADY_SENT.clone();

/** Makes the listener. `fail` answers what could not be made a request of, such as a broken path or Host header. */
export function nodeListener(
  fetch: (request: Request, connection: Connection) => Promise<Response>,
  fail: (thrown: unknown) => Response,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const answer = async (request: Request, bindings: HttpBindings): Promise<Response> => {
    const response = await fetch(request, connectionOf(bindings));
    // To HEAD the router answers with a response of its own, by a class that a host may have replaced.
    return bindings.outgoing.headersSent ? ALREADY_SENT : response;
  };
  return getRequestListener((request, bindings) => answer(request, bindings as HttpBindings), {
    // A library does not replace the process's own Request and Response.
    overrideGlobalObjects: false,
    // HTTP/1.0 knows no Host header, and nothing here depends on it.
    hostname: "localhost",
    errorHandler: (thrown) =>
      fail(thrown instanceof RequestError ? invalid("the path or the Host header cannot be read") : thrown),
  });
}

/** Fields that body parsers and frameworks leave on a request. */
interface Parsed {
  readonly rawBody?: unknown;
  readonly body?: unknown;
  readonly baseUrl?: unknown;
}

function connectionOf({ incoming, outgoing }: HttpBindings): Connection {
  const { rawBody, body, baseUrl } = incoming as IncomingMessage & Parsed;
  return {
    peer: incoming.socket.remoteAddress ?? null,
    httpVersion: incoming.httpVersion,
    mountedAt: typeof baseUrl === "string" ? baseUrl : "",
    // Bytes that were not read yet are the truth: Express 4 sets `body` to {} even where it read nothing.
    readBefore: incoming.readableDidRead ? () => leftOf(incoming, rawBody ?? body) : null,
    send: (answer) => sendTo(outgoing, answer),
  };
}

/** Writes the answer at once: making a Response of it, and reading that again, takes longer than most answers. */
function sendTo(outgoing: HttpBindings["outgoing"], { status, headers, text }: WholeAnswer): Response {
  // The framework around us has lost its patience, and answered in our place.
  if (outgoing.headersSent) return ALREADY_SENT;
  const isWhole = text === null || typeof text === "string";
  const length = typeof text === "string" ? { "content-length": Buffer.byteLength(text) } : {};
  outgoing.writeHead(status, { ...Object.fromEntries(headers), ...length });
  if (isWhole) outgoing.end(text ?? "");
  // Whichever side fails ends the other: the text was logged by then.
  else pipeline(text, outgoing).catch(() => {});
  return ALREADY_SENT;
}

/** The rest of a body that was read: bytes, or a parser's result, which may be null. */
function leftOf(incoming: IncomingMessage, left: unknown): Uint8Array {
  return left === undefined ? nothingOf(incoming) : bytesOf(left);
}

/** A request without a body has none that could be missing. */
function nothingOf({ headers }: IncomingMessage): Uint8Array {
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  if (hasBody) throw bodyTakenFromNode();
  return new Uint8Array();
}

/** The bytes of a raw body; for a parsed body its JSON, which may differ in bytes but not in meaning. */
function bytesOf(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body;
  if (typeof body === "string") return Buffer.from(body);
  try {
    return Buffer.from(JSON.stringify(body) ?? "");
  } catch (thrown) {
    // Parsers take 64 KiB of brackets, and JSON.stringify runs out of stack on them.
    if (thrown instanceof RangeError) throw invalid("the body is nested too deeply");
    throw thrown;
  }
}

function invalid(message: string): PaymentError {
  return fieldError("", message);
}
