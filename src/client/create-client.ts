/** A client of the API: one typed method for each endpoint, and waiting for a status. */
import { checkClientOptions, type ClientOptions } from "./client-options.ts";
import { HttpClient, type ServiceRequest } from "./http-client.ts";
import type { CallOptions, EndpointClient, PostOptions } from "./methods.ts";
import { wholeLines } from "./whole-lines.ts";
import { OPERATIONS, type Operation } from "./operations.ts";
import { Pages } from "./pages.ts";
import { waitForStatus, type Transaction, type WantedStatus } from "./wait-for-status.ts";

/**
 * The methods of the client. Each takes the ids of the path, then the body or the query, then options. They reject with
 * `ApiError` when the service refuses, and with `NoAnswer` when the outcome is unknown.
 */
export interface PaymentClient extends EndpointClient {
  /**
   * Resolves with the transaction once it has this status or has passed it, or with "final" once it is completed, failed
   * or cancelled. Rejects with `StatusNotReached` when it has ended in another status, and with the reason of `signal`.
   *
   * @example
   * ```ts
   * import { createClient } from "paystate/client";
   *
   * const client = createClient({ baseUrl: "https://pay.example", apiKey: process.env["API_KEY"] ?? "" });
   * const signal = AbortSignal.timeout(120_000);
   * const { signature } = await client.waitFor("tx_019abc0f8a3c4c1f9d02f4be9a17c3e5", "completed", { signal });
   * ```
   */
  waitFor(transactionId: string, wanted: WantedStatus, options?: CallOptions): Promise<Transaction>;
}

/** A query as it is given; undefined fields are not sent. */
type Query = Readonly<Record<string, string | number | undefined>>;

/**
 * Makes a client. It needs nothing of Node and runs in browsers and workers; keep the key out of pages, though.
 *
 * Every POST carries an idempotency key. A request that fails on its way, or is answered with 429, 502, 503 or 504, is sent
 * again under the same key. `Retry-After` is kept; where it asks for more patience than `maxWaitMs`, the call rejects at
 * once. Throws a `TypeError` that names the option when one cannot be used.
 *
 * @example
 * ```ts no-run: there is no service at this address
 * import { createClient } from "paystate/client";
 *
 * const client = createClient({ baseUrl: "https://pay.example", apiKey: process.env["API_KEY"] ?? "" });
 * for await (const { transactionId, status } of client.listTransactions({ status: "failed" })) {
 *   console.log(transactionId, status);
 * }
 * ```
 */
export function createClient(options: ClientOptions): PaymentClient {
  const exchange = new HttpClient(checkClientOptions(options));
  const methods = Object.fromEntries(
    Object.entries<Operation>(OPERATIONS).map(([name, operation]) => [
      name,
      (...args: readonly unknown[]) => call(exchange, { name, operation }, args),
    ]),
  ) as unknown as EndpointClient;
  const source = { ask: methods.getTransaction, clock: exchange.clock };
  return {
    ...methods,
    waitFor: (transactionId, wanted, given = {}) => waitForStatus(source, { transactionId, wanted }, given),
  };
}

interface NamedOperation {
  readonly name: string;
  readonly operation: Operation;
}

/** Asks at once, or as often as a list is read. */
function call(exchange: HttpClient, named: NamedOperation, args: readonly unknown[]): unknown {
  const { reads, id } = named.operation;
  const ask = async (more: Query): Promise<unknown> => {
    const question = questionOf(named, args, more);
    return reads === "text" ? exchange.text(question) : exchange.object(question);
  };
  if (reads === "lines") return wholeLines(exchange.parts(questionOf(named, args, {})));
  if (id === undefined) return ask({});
  // An undefined one would take the place of the query's own.
  return new Pages((startingAfter) => ask(startingAfter === undefined ? {} : { startingAfter }), id);
}

/** Reads the arguments as the method's type has them: the ids of the path, the fields, the options. */
function questionOf(named: NamedOperation, args: readonly unknown[], more: Query): ServiceRequest {
  const { operation } = named;
  const { ids, path } = pathWith(named, args);
  const [fields, options] = operation.sends === "nothing" ? [undefined, args[ids]] : args.slice(ids);
  const { signal, idempotencyKey } = (options ?? {}) as PostOptions;
  const query = operation.sends === "query" ? { ...(fields as Query | undefined), ...more } : {};
  return {
    operation,
    signal,
    idempotencyKey,
    target: `${path}${queryText(query)}`,
    body: operation.sends === "body" ? JSON.stringify(fields) : undefined,
  };
}

/** The path with its ids, and how many they are. Throws for what is no id: another path would be asked. */
function pathWith(
  { name, operation }: NamedOperation,
  args: readonly unknown[],
): { readonly ids: number; readonly path: string } {
  let ids = 0;
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => {
    const id = args[ids];
    ids += 1;
    if (typeof id !== "string" || /^\.{0,2}$/.test(id)) {
      throw new TypeError(`${name}: expected the ${parameter} as argument ${ids}, a text that is not empty`);
    }
    return encodeURIComponent(id);
  });
  return { ids, path };
}

function queryText(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size === 0 ? "" : `?${parameters.toString()}`;
}
