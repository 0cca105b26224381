/** The two calls of Jupiter's Swap API, version 2: an order, and its execution. */
import { z } from "zod";
import { readForeignJson } from "../../../core/foreign-json.ts";
import type { AskPart } from "../../frame/host-parts.ts";
import type { WantedSwap } from "../../frame/exchange/swap-provider.ts";

/** Where the API is, and how it is called. */
interface ApiAccess {
  readonly apiKey: string;
  readonly url: string;
  readonly fetch: typeof globalThis.fetch;
  readonly ask: AskPart;
}

/** Jupiter's offer, unchecked except for its form. */
export interface JupiterOrder {
  /** Base units; 0 when Jupiter offers nothing. */
  readonly leastAmount: bigint;
  /** In percent. */
  readonly priceImpact: number;
  readonly requestId: string;
  /** Base64, unsigned; null when Jupiter has no transaction for this taker. */
  readonly transaction: string | null;
}

const PART = "Jupiter";
/** Routers whose transactions another than the taker pays or signs, or whose programs are not on the ledger's list. */
const EXCLUDED_ROUTERS = "jupiterz,dflow,okx";
/** An order is some kilobytes. */
const MAX_ANSWER_BYTES = 262_144;
const HTTP_BAD_REQUEST = 400;

const baseUnits = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt);

const orderShape = z.object({
  inputMint: z.string(),
  outputMint: z.string(),
  inAmount: baseUnits,
  otherAmountThreshold: baseUnits,
  priceImpactPct: z.coerce.number().default(0),
  requestId: z.string().min(1),
  transaction: z.string().nullish(),
});

const NO_ORDER: JupiterOrder = { leastAmount: 0n, priceImpact: 0, requestId: "", transaction: null };

/** Calls with a deadline. Rejects where Jupiter does not answer, or answers with something else than its API says. */
export class JupiterClient {
  readonly #access: ApiAccess;

  constructor(access: ApiAccess) {
    this.#access = access;
  }

  async order({ give, get, amount, taker, slippageBps }: WantedSwap): Promise<JupiterOrder> {
    const query = new URLSearchParams({
      inputMint: give.mint,
      outputMint: get.mint,
      amount: String(amount),
      excludeRouters: EXCLUDED_ROUTERS,
      ...(slippageBps === undefined ? {} : { slippageBps: String(slippageBps) }),
      ...(taker === undefined ? {} : { taker }),
    });
    const { status, body } = await this.#call(`order?${query.toString()}`, {});
    // No route, an amount that no market takes: the request itself has the form of the API.
    if (status === HTTP_BAD_REQUEST) return NO_ORDER;
    const order = orderShape.parse(body);
    if (order.inputMint !== give.mint || order.outputMint !== get.mint || order.inAmount !== amount) {
      throw new Error("Jupiter answered with an order of other mints or another amount");
    }
    const { otherAmountThreshold: leastAmount, requestId, transaction, priceImpactPct } = order;
    // A fraction, below zero where the taker loses by it.
    const priceImpact = Math.abs(priceImpactPct) * 100;
    return {
      leastAmount,
      priceImpact,
      requestId,
      transaction: transaction === "" ? null : (transaction ?? null),
    };
  }

  /** Jupiter's answer about the end of the swap proves nothing and is not read. */
  async execute(signed: Uint8Array, requestId: string): Promise<void> {
    const signedTransaction = Buffer.from(signed).toString("base64");
    const { status } = await this.#call("execute", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ signedTransaction, requestId }),
    });
    if (status === HTTP_BAD_REQUEST) throw new Error("Jupiter refused a signed swap");
  }

  async #call(
    path: string,
    { headers = {}, ...init }: { method?: string; headers?: Record<string, string>; body?: string },
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    const { apiKey, url, fetch, ask } = this.#access;
    return await ask(PART, async (signal) => {
      const response = await fetch(`${url.replace(/\/$/, "")}/${path}`, {
        ...init,
        headers: { ...headers, "x-api-key": apiKey },
        redirect: "error",
        signal,
      });
      const { status, ok } = response;
      if (ok) return { status, body: await readForeignJson(response, MAX_ANSWER_BYTES) };
      // The rest of an error's body is not read, since the body could be endless.
      void response.body?.cancel().catch(() => undefined);
      if (status !== HTTP_BAD_REQUEST) throw new Error(`Jupiter answered with status ${status}`);
      return { status, body: null };
    });
  }
}
