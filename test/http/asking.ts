/** How a test of the contract asks: requests made of the document's examples, and what refuses them. */
import type { Endpoint } from "../../src/http/contract/endpoint.ts";
import { parameterNames } from "../../src/http/contract/path-parameters.ts";
import type { HttpHandler } from "../../src/http/create-http-handler.ts";
import type { QuoteBody } from "../../src/payments/frame/quotes/quote-body.ts";
import type { Wallet } from "../kit/chain-fixture.ts";
import type { JudgedAnswer } from "./answer-judge.ts";
import type { ContractWorld, Tenant } from "./contract-world.ts";
import { CASES, validRequest, type Draft } from "./mutations.ts";
import { agreed } from "../../src/ledger/agreed.ts";

/** An endpoint, and somebody who asks it. */
export interface Asking {
  readonly world: ContractWorld;
  readonly tenant: Tenant;
  readonly endpoint: Endpoint;
}

/** Makes the request, after what it takes to have it refused; answers what came. */
export type ErrorCase = (asking: Asking) => Promise<JudgedAnswer>;

/** Cases by the reasons of one code: TypeScript refuses one too few and one too many. */
export type ByReason<Reason extends string> = Readonly<Record<Reason, ErrorCase>>;

export const SAME_ASSET = { inputAsset: "USDC", outputAsset: "USDC" } as const;

/** The request of the document's example, changed. `example` is its name, where an endpoint has several. */
export function draftOf({ endpoint, tenant }: Asking, change: Partial<Draft> = {}, example?: string): Draft {
  const found = CASES.find(
    (each) => each.endpoint === endpoint && (example === undefined || each.example === example),
  );
  if (found === undefined) throw new Error(`${endpoint.operationId} has no example ${example ?? ""}`);
  return { ...validRequest(found, tenant.belongings, tenant.authorization), ...change };
}

export async function send({ world }: Asking, draft: Draft, handler?: HttpHandler): Promise<JudgedAnswer> {
  const answer = await world.ask(draft, handler);
  if (answer === null) throw new Error(`no request can be made of ${JSON.stringify(draft)}`);
  return answer;
}

export const withHeader = (draft: Draft, name: string, value: string): Draft => ({
  ...draft,
  headers: [...draft.headers.filter(([each]) => each !== name), [name, value]],
});

/** The example with other fields. */
export function fields(asking: Asking, change: object, example?: string): Draft {
  const draft = draftOf(asking, {}, example);
  return { ...draft, body: JSON.stringify({ ...(draft.json as object), ...change }) };
}

/** The last variable part of the path is this, or that of the given name. */
export function lastId(asking: Asking, id: string, name?: string): Draft {
  const { endpoint, tenant } = asking;
  const changed = name ?? parameterNames(endpoint.path).at(-1);
  const owned = tenant.belongings(false);
  const target = endpoint.path.replaceAll(/\{\w+\}/g, (part) =>
    part === `{${changed}}` ? id : (owned.get(part) ?? ""),
  );
  return { ...draftOf(asking), target };
}

/** Asks while no node answers; time passes, because a ledger tries again before it gives up. */
export async function withoutNodes(
  { payments: { chain, clock } }: ContractWorld,
  asking: () => Promise<JudgedAnswer>,
): Promise<JudgedAnswer> {
  const lift = chain.faults.add(() => ({ kind: "refuse", status: 503 }));
  try {
    let done = false;
    const answer = asking().finally(() => (done = true));
    while (!done) {
      clock.advance(100);
      await new Promise(setImmediate);
    }
    return await answer;
  } finally {
    lift();
    // An endpoint that has failed rests for a while: who asks it meanwhile would wait on a clock that stands still.
    for (let second = 0; second < 60; second += 1) {
      clock.advance(1_000);
      await new Promise(setImmediate);
    }
  }
}

/** A quote that was made over HTTP for the tenant. */
export async function quoted({ world, tenant }: Asking, body: object): Promise<QuoteBody> {
  const answer = await world.ask(plain(tenant, "POST", "/v1/quotes", body));
  return JSON.parse(answer?.text ?? "") as QuoteBody;
}

export function plain(
  { authorization }: Tenant,
  method: string,
  target: string,
  body: object | null = null,
): Draft {
  const headers = [
    ["authorization", authorization],
    ["content-type", "application/json"],
  ] as const;
  return { method, target, headers, json: body, body: body === null ? null : JSON.stringify(body) };
}

export const refreshOf = (asking: Asking, quoteId: string): Draft =>
  plain(asking.tenant, "POST", `/v1/quotes/${quoteId}/refresh`);

export const cancelOf = ({ tenant }: Asking, transactionId: string): Draft =>
  plain(tenant, "DELETE", `/v1/transactions/${transactionId}`);

/** A send of the same amount as in the example, quoted for and signed by this wallet. */
export async function signedBy({ world, tenant }: Asking, wallet: Wallet): Promise<Draft> {
  const { payments, recipient } = world;
  const payment = { from: wallet, to: recipient.address, amount: "25" };
  const { body } = await payments.prepareSend(tenant.caller, payment);
  return plain(tenant, "POST", "/v1/transactions", body);
}

/** A handler whose database does not say what becomes of commits. */
export function withoutAnswers({ world: { payments, handlerWith } }: Asking): HttpHandler {
  const lost = { ok: false, conflict: "unknown", error: new Error("the connection was lost") } as const;
  const storage = {
    ...payments.storage,
    commit: async (items: readonly unknown[]) => items.map(() => lost),
  };
  return handlerWith({ service: payments.another({ storage }) });
}

/** The send of the example over a quote that was made for something else. */
export async function over(asking: Asking, wish: object, change: object = {}): Promise<JudgedAnswer> {
  const { quoteId } = await quoted(asking, wish);
  return send(asking, fields(asking, { quoteId, ...change }));
}

/** On a chain whose time is an hour ahead of the service's clock. */
export async function hourBehind(asking: Asking, draft: Draft): Promise<JudgedAnswer> {
  const { payments, handlerWith } = asking.world;
  const time = async () => agreed(payments.clock.now() + 3_600_000);
  const service = payments.another({ ledger: { ...payments.ledger, time } });
  return send(asking, draft, handlerWith({ service }));
}
