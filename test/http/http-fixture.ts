/** The handler over a payment service on a real chain, with clients that hold keys. */
import { type HttpHandlerOptions, createHttpHandler } from "../../src/http/create-http-handler.ts";
import { StoredApiKeys } from "../../src/payments/frame/accounts/api-keys.ts";
import type { Caller, Scope } from "../../src/payments/frame/accounts/caller.ts";
import type { PaymentServiceOptions } from "../../src/service/payment-service-options.ts";
import { serviceFixture, type PreparedSend, type ServiceFixture } from "../kit/service-fixture.ts";
import type { OpenWay, Way } from "./ways.ts";
import { silentLogger, systemRandom } from "../../src/core/runtime.ts";

/** An error body. */
export interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details: Record<string, unknown>;
  };
}

/** An answer with its text already read. */
export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; a test knows what it expects in it. */
  readonly body: Record<string, unknown>;
  /** The error code, "" when it is no error. */
  readonly code: string;
  readonly details: Record<string, unknown>;
}

/** Somebody with a key. */
export interface Client {
  readonly caller: Caller;
  readonly key: string;
  get(path: string, headers?: Record<string, string>): Promise<Told>;
  delete(path: string): Promise<Told>;
  /** Sends an object as JSON, a string as it is. */
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Told>;
  put(path: string, body: unknown): Promise<Told>;
  request(path: string, init: RequestInit): Promise<Told>;
  /** A signed send of 1 USDC, quoted and ready to be posted. */
  prepareSend(): Promise<PreparedSend>;
}

/** What a test of the handler works with. */
export interface HttpFixture extends ServiceFixture, OpenWay {
  readonly way: Way;
  /** A client on a new account, or on that of `caller`. */
  client(who?: {
    readonly tier?: Caller["tier"];
    readonly caller?: Caller;
    readonly scopes?: readonly Scope[];
    /** Its key was issued before keys had a checksum that tells made-up ones. */
    readonly isIssuedBefore?: boolean;
  }): Promise<Client>;
  /** Sends without a key. */
  stranger(path: string, init?: RequestInit): Promise<Told>;
}

/** Opens one way into a handler over a new service. */
export async function httpFixture(
  way: Way,
  {
    service: serviceOptions = {},
    handler: handlerOptions = {},
  }: {
    readonly service?: Partial<PaymentServiceOptions>;
    readonly handler?: Partial<HttpHandlerOptions>;
  } = {},
): Promise<HttpFixture> {
  const fixture = await serviceFixture(serviceOptions);
  const { service, clock } = fixture;
  const handler = createHttpHandler({
    service,
    clock,
    basePath: way.basePath,
    logger: silentLogger,
    ...handlerOptions,
  });
  const opened = await way.open(handler);
  const keysBefore = new StoredApiKeys({
    storage: fixture.storage,
    clock,
    random: systemRandom,
    log: silentLogger,
    environment: () => Promise.resolve(null),
    checksums: null,
  });
  const sender = fixture.wallet("sender", { lamports: 10_000_000_000n, usdc: 1_000_000_000n });
  const recipient = fixture.wallet("recipient");

  const stranger: HttpFixture["stranger"] = async (path, init) => told(await opened.ask(path, init));
  return {
    ...fixture,
    ...opened,
    way,
    stranger,
    async client({ tier = "free", caller: known, scopes, isIssuedBefore = false } = {}) {
      const caller = known ?? (await fixture.caller(tier));
      const { accountId } = caller;
      const issuing = isIssuedBefore ? keysBefore : service;
      const { key } = await issuing.issueKey({ accountId, environment: "test", ...(scopes && { scopes }) });
      const authorization = `Bearer ${key}`;
      const request: Client["request"] = (path, init) => {
        const headers = new Headers(init.headers);
        headers.set("authorization", authorization);
        return stranger(path, { ...init, headers });
      };
      return {
        caller,
        key,
        request,
        get: (path, headers = {}) => request(path, { headers }),
        delete: (path) => request(path, { method: "DELETE" }),
        post: (path, body, headers = {}) =>
          request(path, {
            method: "POST",
            headers: { "content-type": "application/json", ...headers },
            ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
          }),
        put: (path, body) =>
          request(path, {
            method: "PUT",
            headers: { "content-type": "application/json" },
            body: typeof body === "string" ? body : JSON.stringify(body),
          }),
        prepareSend: () => {
          // A new blockhash: the same payment twice under one would be the same bytes.
          fixture.chain.advance(2);
          return fixture.prepareSend(caller, { from: sender, to: recipient.address, amount: "1" });
        },
      };
    },
    async close() {
      await opened.close();
      await fixture.close();
    },
  };
}

/** Reads an answer to its end. */
export async function told(response: Response): Promise<Told> {
  const text = await response.text();
  const body = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown> & Partial<ErrorBody>;
  const { code = "", details = {} } = body.error ?? {};
  return { status: response.status, headers: response.headers, text, body, code, details };
}
