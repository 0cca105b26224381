/** Binds the ledger's methods to its nodes. Imports web3.js, so it is loaded only when a node is first asked. */
import type { Ledger, Reading, WitnessedReads } from "../ledger/ledger.ts";
import { accountKinds } from "./account-kinds.ts";
import { ask, type Nodes, type Question } from "./ask.ts";
import { balances } from "./balances.ts";
import { broadcast } from "./broadcast.ts";
import { buildPayment } from "./build-payment.ts";
import { openEndpoints, type EndpointOption } from "./endpoint.ts";
import { fates } from "./fates.ts";
import { genesisHash } from "./genesis-hash.ts";
import { endpointStandings } from "./endpoint-standings.ts";
import type { HealthWatch } from "./health.ts";
import type { DeathProof } from "./landing-window.ts";
import { landings } from "./landings.ts";
import { namedLanding } from "./named-landing.ts";
import { mints } from "./mints.ts";
import { paymentCost, rentMinimum } from "./payment-cost.ts";
import { amountsIn } from "./routing/amounts-in.ts";
import { buildTransaction, feeOfPlan, sizeOf } from "./routing/build-transaction.ts";
import { explainError } from "./routing/explain-error.ts";
import { fundsOfOwner } from "./routing/funds-of-owner.ts";
import { funds } from "./routing/funds.ts";
import { haveTokenAccounts } from "./routing/have-token-accounts.ts";
import { heights } from "./routing/heights.ts";
import { markers } from "./routing/markers.ts";
import { payersOf } from "./routing/payers-of.ts";
import { markedBy, signedBy } from "./routing/signed-by.ts";
import { strayAccounts } from "./routing/stray-accounts.ts";
import { tryTransaction } from "./routing/try-transaction.ts";
import type { SharedUse } from "./rpc/shared-use.ts";
import { simulatePayment } from "./simulate-payment.ts";
import { rememberAnswers } from "./remembered.ts";
import { receipts, statuses } from "./statuses.ts";
import { surveyOf } from "./survey.ts";
import { tokenAccountStates } from "./token-account-states.ts";
import { verifyPayment } from "./verify-payment.ts";
import { witnessCount } from "./witnesses.ts";

const positionOf: Question<Reading> = async ({ rpc, name }) => ({
  slot: await rpc.getSlot("finalized"),
  endpoint: name,
});

/** Every method that asks a node, or needs web3.js for its answer. */
export type AskingLedger = Omit<
  Ledger,
  "isOnCurve" | "markerAddress" | "tokenAccountOf" | "shareUse" | "close"
>;

/** Which nodes there are, and how many of them must agree. */
export interface NodeOptions {
  readonly endpoints: readonly EndpointOption[];
  readonly witnesses: number;
  readonly deathProof: DeathProof;
  /** What the other processes are told of the endpoints, and tell. */
  readonly use: SharedUse;
}

/** Binds each method to the endpoints. `closed` ends what is under way. */
export function ledgerOfNodes(options: NodeOptions, watch: HealthWatch, closed: AbortSignal): AskingLedger {
  const nodes = openNodes(options, watch, closed);
  const survey = surveyOf(nodes);
  const askingOf =
    (asked: Nodes): Surveyed =>
    (method) =>
    (...args) => {
      survey();
      return method(asked, ...args);
    };
  const surveyed = askingOf(nodes);
  return {
    genesisHash: surveyed(genesisHash),
    position: surveyed((asked) => ask(asked, positionOf)),
    balances: surveyed(balances),
    accountKinds: surveyed(accountKinds),
    mints: surveyed(mints),
    tokenAccountStates: surveyed(tokenAccountStates),
    paymentCost: surveyed(paymentCost),
    buildPayment: surveyed(buildPayment),
    verifyPayment: surveyed(verifyPayment),
    simulatePayment: surveyed(simulatePayment),
    broadcast: surveyed(broadcast),
    statuses: surveyed(statuses),
    receipts: surveyed(receipts),
    fates: surveyed(fates),
    namedLanding: surveyed(namedLanding),
    endpoints: surveyed(endpointStandings),
    amountsIn: surveyed(amountsIn),
    haveTokenAccounts: surveyed(haveTokenAccounts),
    rentMinimum: surveyed(rentMinimum),
    sizeOf: async (plan) => sizeOf(plan),
    feeOf: surveyed(feeOfPlan),
    buildTransaction: surveyed(buildTransaction),
    tryTransaction: surveyed(tryTransaction),
    explainError: async (plan, error) => explainError(plan, error),
    signedBy: surveyed(signedBy),
    markedBy: surveyed(markedBy),
    payersOf: (owner, of, accounts) => surveyed(payersOf)({ owner, mints: of, accounts }),
    ...witnessedReads(surveyed),
    withWitnesses: async (witnesses) => witnessedReads(askingOf(withFewer(nodes, witnesses))),
  };
}

function withFewer(nodes: Nodes, witnesses: number): Nodes {
  if (!Number.isInteger(witnesses) || witnesses < 1) {
    throw new RangeError(`expected a whole number of witnesses from 1, not ${witnesses}`);
  }
  return { ...nodes, witnesses: Math.min(witnesses, nodes.witnesses) };
}

/** Binds a method to nodes, which are compared with one another from time to time. */
type Surveyed = <A extends unknown[], T>(
  method: (asked: Nodes, ...args: A) => Promise<T>,
) => (...args: A) => Promise<T>;

function witnessedReads(surveyed: Surveyed): WitnessedReads {
  const read = {
    funds: surveyed(funds),
    fundsOfOwner: surveyed(fundsOfOwner),
    strayAccounts: surveyed(strayAccounts),
  };
  return {
    landings: surveyed(landings),
    witnesses: surveyed(witnessCount),
    funds: (addresses, of, commitment) => read.funds({ addresses, mints: of, commitment }),
    fundsOfOwner: (owner, of, commitment) => read.fundsOfOwner({ owner, mints: of, commitment }),
    markers: surveyed(markers),
    heights: surveyed(heights),
    strayAccounts: (owner, of, commitment) => read.strayAccounts({ owner, mints: of, commitment }),
  };
}

function openNodes(
  { endpoints, witnesses, deathProof, use }: NodeOptions,
  { clock, log }: HealthWatch,
  closed: AbortSignal,
): Nodes {
  return {
    endpoints: openEndpoints(endpoints, { clock, closed, use }),
    witnesses,
    deathProof,
    walks: new Map(),
    chain: { genesisHash: null },
    clock,
    log,
    closed,
    remembered: rememberAnswers(clock, closed),
    handedOut: new Map(),
    signers: new Map(),
  };
}
