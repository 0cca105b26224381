/** Entry `paystate/solana`: the ledger on a Solana cluster, or on the local chain, which answers like one. */
import { setMaxListeners } from "node:events";
import { z } from "zod";
import { checkOptions, runtimeOptions } from "../core/options.ts";
import type { Clock, Logger } from "../core/runtime.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { READS } from "../ledger/reads.ts";
import { associatedTokenAccount, isOnCurve, markerOf } from "./derived-addresses.ts";
import {
  endpointsOption,
  type CheckedEndpoint,
  type EndpointOptions,
  readLimitOf,
} from "./endpoint-options.ts";
import { type FeeOptions, feeOptions, feePolicy } from "./fee-policy.ts";
import { loadWithWeb3 } from "../core/load-web3.ts";
import { mostRecipients } from "./compute-budget.ts";
import type { AskingLedger } from "./ledger-of-nodes.ts";

export type { EndpointOptions, EndpointSettings } from "./endpoint-options.ts";
export type { FeeOptions } from "./fee-policy.ts";
export type { Fetch } from "./rpc/bounded-fetch.ts";
export type { EndpointRole, EndpointTrouble, TroubleKind } from "../ledger/ledger.ts";

/** Options of the ledger on Solana: endpoints, clock and logger among them. */
export interface SolanaLedgerOptions {
  /**
   * JSON-RPC endpoints of one cluster, the preferred one first. Reads go to the first that answers, broadcasts to all, each as
   * its `roles` say.
   * With two or more, what is final is believed only when two of them agree (`witnesses`), so each must be a node of its
   * own; and one that keeps failing, or is more than 50 slots behind the best, is asked after the others until it is well.
   */
  readonly endpoints: readonly EndpointOptions[];
  /**
   * How many endpoints must agree before a final fact is believed: a landing, a failure, or a deposit. 1 to the number
   * of endpoints with the role `witness`. Default: 2 with two or more of them, else 1. With 1, the operator of that endpoint decides what
   * this service believes.
   */
  readonly witnesses?: number;
  /**
   * The proof that a caller's transaction can never land. `statuses` (the default): enough endpoints, each with the
   * history of that time, are past the last valid block and know neither the signature nor a second signature of the
   * same message under the reference key. `blocks`: in addition, each endpoint shows an unbroken chain of all blocks
   * that could contain the transaction, and no block contains it: 150 to 900 blocks of a few megabytes for each
   * transaction that is given up. A block of more than 8 MiB of accounts counts as missing.
   */
  readonly deathProof?: "statuses" | "blocks";
  /** The bids of transactions that the service signs, for their place in a block. */
  readonly fees?: FeeOptions;
  /** For deadlines and pauses between tries. Default: the machine's clock. */
  readonly clock?: Clock;
  /**
   * Is told by an endpoint's name when it begins to fail or lag (warn), is well again (info), and of each failure
   * (debug). Silent when left out.
   */
  readonly logger?: Logger;
}

const optionsSchema = z
  .strictObject({
    witnesses: z.int().min(1).optional(),
    deathProof: z.enum(["statuses", "blocks"]).optional(),
    fees: feeOptions,
    endpoints: endpointsOption,
    clock: runtimeOptions.clock,
    logger: runtimeOptions.logger,
  })
  .superRefine(({ endpoints, witnesses = 1 }, context) => {
    const most = witnessesAmong(endpoints);
    // The logger hears nothing about endpoints.
    if (witnesses <= Math.max(most, 1)) return;
    const message = `expected at most the number of endpoints with the role \`witness\`, ${most}`;
    context.addIssue({ code: "custom", path: ["witnesses"], message });
  });

function witnessesAmong(endpoints: readonly CheckedEndpoint[]): number {
  return endpoints.filter(({ roles }) => roles.includes("witness")).length;
}

/**
 * The default number of witnesses: one endpoint may lie; two endpoints of different operators do not tell the same lie.
 */
const DEFAULT_WITNESSES = 2;

/**
 * A `Ledger` on Solana. Opens no connection and loads no Solana library until it is first asked. Throws
 * `InvalidOptions` listing every wrong option. Never repeats an endpoint's URL, which may carry an API key: errors and
 * readings name its host.
 *
 * @example
 * ```ts
 * import { systemClock } from "paystate/engine";
 * import { createLocalChain } from "paystate/local";
 * import { solanaLedger } from "paystate/solana";
 *
 * const chain = await createLocalChain({ clock: systemClock });
 * // Else URLs, two or more: ["https://rpc.example/?key=…", "https://rpc.other.example"]
 * const ledger = solanaLedger({ endpoints: [{ url: "http://local.invalid", fetch: chain.fetch }] });
 * console.log((await ledger.genesisHash()) === chain.genesisHash); // true
 *
 * await ledger.close();
 * await chain.close();
 * ```
 */
export function solanaLedger(options: SolanaLedgerOptions): Ledger {
  const checked = checkOptions("solanaLedger", optionsSchema, options);
  const { clock, logger, endpoints, deathProof = "statuses" } = checked;
  const { witnesses = Math.min(DEFAULT_WITNESSES, witnessesAmong(endpoints)) } = checked;
  const fees = feePolicy(options.fees);
  const closing = new AbortController();
  // One listener per call under way is no leak; Node warns from the eleventh.
  setMaxListeners(0, closing.signal);
  let loading: Promise<AskingLedger> | undefined;
  const loaded = (): Promise<AskingLedger> => {
    loading ??= loadWithWeb3(() => import("./ledger-of-nodes.ts")).then(({ ledgerOfNodes }) =>
      ledgerOfNodes({ endpoints, witnesses, deathProof, fees }, { clock, log: logger }, closing.signal),
    );
    return loading;
  };
  return {
    isOnCurve,
    mostRecipients,
    markerOf,
    tokenAccountOf: associatedTokenAccount,
    ...onceLoaded(loaded),
    // Nothing was asked before the first question, and a look at this must not load what questions need.
    disputes: async () => (loading === undefined ? [] : (await loading).disputes()),
    rateLimited: async () => (loading === undefined ? [] : (await loading).rateLimited()),
    time: async () => (loading === undefined ? null : (await loading).time()),
    readLimit: readLimitOf(endpoints),
    bidCeiling: fees.ceiling,
    bidFloor: fees.floor,
    close: async () => closing.abort(),
  };
}

/** The methods that need nodes or web3.js. */
const ASKED = {
  ...READS,
  sizeOf: null,
  explainOrder: null,
  takeSendPlace: null,
  restricted: null,
} satisfies Readonly<Record<keyof AskingLedger, unknown>>;

/** The first call of a method loads nodes and web3.js. */
function onceLoaded(loaded: () => Promise<AskingLedger>): AskingLedger {
  const methods = Object.keys(ASKED).map((name) => [
    name,
    async (...given: unknown[]): Promise<unknown> => {
      const method = Reflect.get(await loaded(), name) as (...asked: unknown[]) => unknown;
      return method(...given);
    },
  ]);
  return Object.fromEntries(methods) as AskingLedger;
}
