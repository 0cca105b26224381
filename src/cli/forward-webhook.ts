/**
 * Forwards a webhook through `paystate listen`: reads and verifies it, forwards it unchanged, and returns the target's
 * answer.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { request as ask } from "undici";
import { bytesWithin } from "../core/bytes-within.ts";
import { DELIVERY_DEADLINE_MS } from "../payments/webhooks/sending/attempt.ts";
import { verifyWebhook, WebhookRefused, type WebhookNotice } from "../receiver/index.ts";
import type { Clock } from "../core/runtime.ts";
import type { Print } from "./command.ts";

/** The target of forwarded webhooks, and the secrets that prove them genuine. */
interface ForwardingParts {
  readonly target: URL;
  readonly secret: string;
  readonly clock: Clock;
  readonly print: Print;
}

// A notice of 500 recipients takes about 50 KiB.
const MAX_BODY_BYTES = 1024 * 1024;
// The service is to hear of a target that does not answer before it gives up waiting itself.
const MAX_TARGET_MS = DELIVERY_DEADLINE_MS - 1_000;

// They belong to one connection. The rest is passed on, the signatures among them.
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

export class ForwardHandler {
  readonly #parts: ForwardingParts;

  constructor(parts: ForwardingParts) {
    this.#parts = parts;
  }

  /** Answers one request. Never rejects: a sender that leaves in the middle is none of our errors. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      // At registration the service looks whether anything answers here.
      if (request.method === "HEAD") response.writeHead(200).end();
      else if (request.method === "POST") await this.#receive(request, response);
      else response.writeHead(405, { allow: "HEAD, POST" }).end();
    } catch {
      response.destroy();
    }
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { secret } = this.#parts;
    const body = await bytesWithin(request, MAX_BODY_BYTES);
    if (body === null) {
      this.#refuse(response, 413, `it is longer than ${MAX_BODY_BYTES} bytes`);
      return;
    }
    const notice = await verifyWebhook(body, request.headers, secret).catch((error: unknown) => {
      if (error instanceof WebhookRefused) return error;
      throw error;
    });
    if (notice instanceof WebhookRefused) this.#refuse(response, 400, notice.message);
    else await this.#forward({ notice, body, headers: request.headers }, response);
  }

  async #forward({ notice, body, headers }: Genuine, response: ServerResponse): Promise<void> {
    const { target } = this.#parts;
    const signal = AbortSignal.timeout(MAX_TARGET_MS);
    const answer = await ask(target, {
      method: "POST",
      headers: passedOn(headers),
      body,
      signal,
    }).catch((error: unknown) => {
      const sentence = `${target.origin} did not answer (${whyNot(error)})`;
      response.writeHead(502, { "content-type": "text/plain" }).end(sentence);
      this.#tell(notice, `502, ${sentence}`);
      return null;
    });
    if (answer === null) return;
    const { statusCode } = answer;
    this.#tell(notice, statusCode === 200 ? "200" : `${statusCode}, 200 is expected: it will come again`);
    response.writeHead(statusCode, passedOn(answer.headers));
    await pipeline(answer.body, response, { signal });
  }

  #refuse(response: ServerResponse, status: number, why: string): void {
    response.writeHead(status, { "content-type": "text/plain", connection: "close" }).end(why);
    this.#parts.print(`${this.#time()}  refused and not forwarded: ${why}`);
  }

  #tell({ event, transactionId }: WebhookNotice, answered: string): void {
    this.#parts.print(`${this.#time()}  ${event.padEnd(21)}  ${transactionId}  ${answered}`);
  }

  #time(): string {
    return new Date(this.#parts.clock.now()).toTimeString().slice(0, 8);
  }
}

/** A webhook whose signature was verified. */
interface Genuine {
  readonly notice: WebhookNotice;
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

function passedOn(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const kept = Object.entries(headers).filter(
    (header): header is [string, string | string[]] =>
      header[1] !== undefined && !OF_THE_CONNECTION.has(header[0]),
  );
  return Object.fromEntries(kept);
}

function whyNot(error: unknown): string {
  const { name, code } = error as NodeJS.ErrnoException;
  return name === "TimeoutError" ? `for ${MAX_TARGET_MS / 1_000} seconds` : (code ?? name);
}
