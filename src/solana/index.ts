/** Entry `paystate/solana`: the ledger on a Solana cluster, or on the local chain, which answers like one. */
import { setMaxListeners } from "node:events";
import { z } from "zod";
import { checkOptions, runtimeOptions } from "../options.ts";
import type { Clock, Logger } from "../runtime.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { associatedTokenAccount, isOnCurve, markerAddress } from "./associated-token-account.ts";
import {
  endpointsOption,
  type CheckedEndpoint,
  type EndpointOptions,
  readLimitOf,
} from "./endpoint-options.ts";
import { type FeeOptions, feeOptions, feePolicy } from "./fee-policy.ts";
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
   * transaction that is given up.
   */
  readonly deathProof?: "statuses" | "blocks";
  /** What transactions that the service signs bid for their place in a block. */
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
    // None at all is told of the endpoints.
    if (witnesses <= Math.max(most, 1)) return;
    const message = `expected at most the number of endpoints with the role \`witness\`, ${most}`;
    context.addIssue({ code: "custom", path: ["witnesses"], message });
  });

function witnessesAmong(endpoints: readonly CheckedEndpoint[]): number {
  return endpoints.filter(({ roles }) => roles.includes("witness")).length;
}

function tipAmongst(endpoints: readonly CheckedEndpoint[]): Pick<Ledger, "tip"> {
  const tip = endpoints.find((endpoint) => endpoint.tip !== undefined)?.tip;
  return tip === undefined ? {} : { tip: tip.lamports };
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
    loading ??= import("./ledger-of-nodes.ts").then(({ ledgerOfNodes }) =>
      ledgerOfNodes({ endpoints, witnesses, deathProof, fees }, { clock, log: logger }, closing.signal),
    );
    return loading;
  };
  return {
    isOnCurve,
    mostRecipients,
    markerAddress,
    tokenAccountOf: (owner, mint) => associatedTokenAccount(owner, mint),
    ...onceLoaded(loaded),
    // Nothing was asked before the first question, and a look at this must not load what questions need.
    disputes: async () => (loading === undefined ? [] : (await loading).disputes()),
    rateLimited: async () => (loading === undefined ? [] : (await loading).rateLimited()),
    time: async () => (loading === undefined ? null : (await loading).time()),
    readLimit: readLimitOf(endpoints),
    bidCeiling: fees.ceiling,
    bidFloor: fees.floor,
    ...tipAmongst(endpoints),
    close: async () => closing.abort(),
  };
}

/** The methods that need nodes or web3.js. The first call loads both. */
function onceLoaded(
  loaded: () => Promise<AskingLedger>,
): Omit<AskingLedger, "disputes" | "rateLimited" | "time"> {
  return {
    genesisHash: async () => (await loaded()).genesisHash(),
    takesVersion1: async () => (await loaded()).takesVersion1(),
    position: async () => (await loaded()).position(),
    balances: async (owner, among) => (await loaded()).balances(owner, among),
    accountKinds: async (addresses) => (await loaded()).accountKinds(addresses),
    mints: async (addresses) => (await loaded()).mints(addresses),
    tokenAccountStates: async (accounts) => (await loaded()).tokenAccountStates(accounts),
    paymentCost: async (mint, recipients) => (await loaded()).paymentCost(mint, recipients),
    buildPayment: async (payment, reference) => (await loaded()).buildPayment(payment, reference),
    verifyPayment: async (putativeTransaction, payment, tip) =>
      (await loaded()).verifyPayment(putativeTransaction, payment, tip),
    landingWindow: async (blockhash) => (await loaded()).landingWindow(blockhash),
    simulatePayment: async (verified, payment) => (await loaded()).simulatePayment(verified, payment),
    broadcast: async (bytes) => (await loaded()).broadcast(bytes),
    takeSendPlace: async (kind) => (await loaded()).takeSendPlace(kind),
    statuses: async (signatures) => (await loaded()).statuses(signatures),
    confirmed: async (signatures) => (await loaded()).confirmed(signatures),
    landedErrors: async (signatures) => (await loaded()).landedErrors(signatures),
    receipts: async (signatures) => (await loaded()).receipts(signatures),
    fates: async (attempts) => (await loaded()).fates(attempts),
    landings: async (attempts) => (await loaded()).landings(attempts),
    namedLanding: async (attempt, signature) => (await loaded()).namedLanding(attempt, signature),
    witnesses: async () => (await loaded()).witnesses(),
    endpoints: async () => (await loaded()).endpoints(),
    funds: async (addresses, mints, commitment) => (await loaded()).funds(addresses, mints, commitment),
    seenFunds: async (addresses, mints) => (await loaded()).seenFunds(addresses, mints),
    amountsIn: async (accounts, commitment) => (await loaded()).amountsIn(accounts, commitment),
    fundsOfOwner: async (owner, mints, commitment) => (await loaded()).fundsOfOwner(owner, mints, commitment),
    haveTokenAccounts: async (owners, mint) => (await loaded()).haveTokenAccounts(owners, mint),
    rentMinimum: async (bytes) => (await loaded()).rentMinimum(bytes),
    markers: async (base, seeds) => (await loaded()).markers(base, seeds),
    heights: async (commitment) => (await loaded()).heights(commitment),
    sizeOf: async (plan) => (await loaded()).sizeOf(plan),
    feeOf: async (plan, from) => (await loaded()).feeOf(plan, from),
    buildTransaction: async (plan, bid) => (await loaded()).buildTransaction(plan, bid),
    tryTransaction: async (plan, unsigned) => (await loaded()).tryTransaction(plan, unsigned),
    checkForeignSwap: async (putativeTransaction, swap) =>
      (await loaded()).checkForeignSwap(putativeTransaction, swap),
    explainError: async (plan, error) => (await loaded()).explainError(plan, error),
    signedBy: async (address) => (await loaded()).signedBy(address),
    listedUnder: async (key) => (await loaded()).listedUnder(key),
    changesOf: async (signature, holders) => (await loaded()).changesOf(signature, holders),
    signedWithin: async (address, period) => (await loaded()).signedWithin(address, period),
    markedBy: async (base, seed) => (await loaded()).markedBy(base, seed),
    strayAccounts: async (owner, mints, commitment) =>
      (await loaded()).strayAccounts(owner, mints, commitment),
    payersOf: async (owner, mints, search) => (await loaded()).payersOf(owner, mints, search),
    restricted: async (restriction) => (await loaded()).restricted(restriction),
  };
}
