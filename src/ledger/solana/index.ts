/** Entry `paystate/solana`: the ledger on a Solana cluster, or on the local chain, which answers like one. */
import { setMaxListeners } from "node:events";
import { z } from "zod";
import { checkOptions, functionOption, runtimeOptions } from "../../options.ts";
import type { Clock } from "../../runtime.ts";
import type { Ledger } from "../ledger.ts";
import type { Fetch } from "./bounded-fetch.ts";
import type { EndpointOption } from "./endpoint.ts";
import { isOnCurve } from "./is-on-curve.ts";
import type { AskingLedger } from "./ledger-of-nodes.ts";

export type { EndpointOption } from "./endpoint.ts";
export type { Fetch } from "./bounded-fetch.ts";

/** Where the nodes are, and by whose clock to wait for them. */
export interface SolanaLedgerOptions {
  /**
   * JSON-RPC endpoints of one cluster, the preferred one first. Reads go to the first that answers, broadcasts to all.
   * With two or more, a transaction is pronounced dead only when two of them agree.
   */
  readonly endpoints: readonly EndpointOption[];
  /** For deadlines and pauses between tries. The machine's clock when left out. */
  readonly clock?: Clock;
}

const url = z.string().refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
  error: "expected an http(s) URL",
});
const optionsSchema = z.strictObject({
  endpoints: z
    .array(
      z.preprocess(
        (option) => (typeof option === "string" ? { url: option } : option),
        z.strictObject({
          url,
          fetch: functionOption<Fetch>().optional(),
          requestsPerSecond: z.number().positive().optional(),
        }),
      ),
    )
    .min(1, { error: "expected at least one endpoint" }),
  clock: runtimeOptions.clock,
});

/**
 * A `Ledger` on Solana. Opens no connection and loads no Solana library until it is first asked. Throws
 * `InvalidOptions` listing every wrong option. Never repeats an endpoint's URL, which may carry an API key: errors and
 * readings name its host.
 */
export function solanaLedger(options: SolanaLedgerOptions): Ledger {
  const { clock } = checkOptions("solanaLedger", optionsSchema, options);
  const { endpoints } = options;
  const closing = new AbortController();
  // One listener per call under way is no leak; Node warns from the eleventh.
  setMaxListeners(0, closing.signal);
  let loading: Promise<AskingLedger> | undefined;
  const loaded = (): Promise<AskingLedger> => {
    loading ??= import("./ledger-of-nodes.ts").then(({ ledgerOfNodes }) =>
      ledgerOfNodes(endpoints, clock, closing.signal),
    );
    return loading;
  };
  return {
    isOnCurve,
    genesisHash: async () => (await loaded()).genesisHash(),
    position: async () => (await loaded()).position(),
    balances: async (owner) => (await loaded()).balances(owner),
    accountKinds: async (addresses) => (await loaded()).accountKinds(addresses),
    paymentCost: async (mint, recipients) => (await loaded()).paymentCost(mint, recipients),
    buildPayment: async (payment, reference) => (await loaded()).buildPayment(payment, reference),
    verifyPayment: async (putativeTransaction, payment) =>
      (await loaded()).verifyPayment(putativeTransaction, payment),
    simulatePayment: async (verified, payment) => (await loaded()).simulatePayment(verified, payment),
    broadcast: async (bytes) => (await loaded()).broadcast(bytes),
    statuses: async (signatures) => (await loaded()).statuses(signatures),
    receipts: async (signatures) => (await loaded()).receipts(signatures),
    fates: async (attempts) => (await loaded()).fates(attempts),
    close: async () => closing.abort(),
  };
}
