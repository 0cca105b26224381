/** Binds the ledger's methods to its nodes. Imports web3.js, so it is loaded only when a node is first asked. */
import {
  ENDPOINT_ROLES,
  type Ledger,
  type LedgerReads,
  type Reading,
  type WitnessRules,
} from "../ledger/ledger.ts";
import { accountKinds, mints, amountsIn, tokenAccountStates } from "./accounts.ts";
import { unasked } from "./agree.ts";
import {
  ask,
  type NodeContext,
  type EndpointCall,
  type DeathProof,
  broadcast,
  takeSendPlace,
} from "./ask.ts";
import { balances } from "./balances.ts";
import { landingWindow, heights } from "./blockhash-window.ts";
import { chainTime, surveyOf } from "./survey.ts";
import { buildPayment } from "./build-payment.ts";
import { openEndpoints, withRole } from "./endpoint.ts";
import type { CheckedEndpoint } from "./endpoint-options.ts";
import { DisputeList } from "../ledger/disputes.ts";
import { checkForeignSwap } from "./foreign-swap/check-foreign-swap.ts";
import type { FeePolicy } from "./fee-policy.ts";
import { genesisHash, takesVersion1 } from "./genesis-hash.ts";
import { endpointStatuses, rateLimited, witnessCount } from "./endpoint-statuses.ts";
import type { HealthWatch } from "./health.ts";
import { landings, namedLanding } from "./landings.ts";
import { look } from "./look.ts";
import { rentMinimum, paymentCost } from "./payment-cost.ts";
import { buildTransaction, feeOfPlan, sizeOf } from "./routing/build-transaction.ts";
import { holdingsOf } from "./routing/holdings-of.ts";
import { funds } from "./routing/funds.ts";
import { signedBy } from "./routing/signed-by.ts";
import { changesOfOrder } from "./routing/order-history.ts";
import { readOrder } from "./routing/read-order.ts";
import { explainOrder, tryOrder } from "./routing/try-order.ts";
import { simulatePayment } from "./simulate-payment.ts";
import { rememberAnswers } from "./answer-cache.ts";
import { sightings, statuses } from "./statuses.ts";
import { verifyPayment } from "./verify-payment.ts";

const positionOf: EndpointCall<Reading> = async ({ rpc, name }) => ({
  slot: await rpc.getSlot("finalized"),
  endpoint: name,
});

/** Every method that asks a node, or needs web3.js for its answer. */
export type AskingLedger = LedgerReads &
  Pick<Ledger, "sizeOf" | "explainOrder" | "takeSendPlace" | "restricted">;

/** The nodes, and the number of nodes that must agree. */
interface NodeOptions {
  readonly endpoints: readonly CheckedEndpoint[];
  readonly witnesses: number;
  readonly deathProof: DeathProof;
  readonly fees: FeePolicy;
}

/** Binds each method to the endpoints. `closed` ends what is under way. */
export function ledgerOfNodes(options: NodeOptions, watch: HealthWatch, closed: AbortSignal): AskingLedger {
  const nodes = openNodes(options, watch, closed);
  const survey = surveyOf(nodes);
  const askingOf =
    (asked: NodeContext): Surveyed =>
    (method) =>
    (...args) => {
      survey();
      return method(asked, ...args);
    };
  const all = askingOf(nodes);
  return {
    ...readsOf(all),
    sizeOf: async (plan) => sizeOf(plan),
    explainOrder: async (plan, error) => explainOrder(plan, error),
    takeSendPlace: async (kind) => takeSendPlace(nodes, kind),
    restricted: async (restriction) => readsOf(askingOf(restrict(nodes, restriction))),
  };
}

/** The endpoints in service, with as many witnesses as are enough for now. */
function restrict(nodes: NodeContext, { witnesses, without }: WitnessRules): NodeContext {
  if (witnesses !== null && (!Number.isInteger(witnesses) || witnesses < 1)) {
    throw new RangeError(`expected a whole number of witnesses from 1, not ${witnesses}`);
  }
  const endpoints = nodes.endpoints.filter(({ name }) => !without.includes(name));
  for (const role of ENDPOINT_ROLES) {
    if (withRole(endpoints, role).length > 0) continue;
    throw new RangeError(`expected at least one endpoint in service with the role ${role}`);
  }
  const inService = withRole(endpoints, "witness").length;
  const enough = Math.min(witnesses ?? nodes.witnesses, nodes.witnesses, inService);
  return { ...nodes, endpoints, witnesses: enough };
}

/** Binds a method to nodes, which are compared with one another from time to time. */
type Surveyed = <A extends unknown[], T>(
  method: (asked: NodeContext, ...args: A) => Promise<T>,
) => (...args: A) => Promise<T>;

/** The questions to the nodes. */
function readsOf(surveyed: Surveyed): LedgerReads {
  const read = {
    funds: surveyed(funds),
    holdingsOf: surveyed(holdingsOf),
    verifyPayment: surveyed(verifyPayment),
  };
  return {
    look: surveyed(look),
    genesisHash: surveyed(genesisHash),
    takesVersion1: surveyed(takesVersion1),
    position: surveyed((asked) => ask(asked, positionOf)),
    balances: surveyed(balances),
    accountKinds: surveyed(accountKinds),
    mints: surveyed(mints),
    tokenAccountStates: surveyed(tokenAccountStates),
    paymentCost: surveyed(paymentCost),
    buildPayment: surveyed(buildPayment),
    verifyPayment: (text, payment) => read.verifyPayment(text, payment),
    landingWindow: surveyed(landingWindow),
    simulatePayment: surveyed(simulatePayment),
    broadcast: surveyed(broadcast),
    statuses: surveyed(statuses),
    sightings: surveyed(sightings),
    landings: surveyed(landings),
    namedLanding: surveyed(namedLanding),
    witnesses: surveyed(witnessCount),
    endpoints: surveyed(endpointStatuses),
    rateLimited: surveyed(rateLimited),
    time: surveyed(async (asked) => chainTime(asked)),
    disputes: surveyed(async ({ disputes }) => unasked(disputes.standing())),
    amountsIn: surveyed(amountsIn),
    rentMinimum: surveyed(rentMinimum),
    feeOf: surveyed(feeOfPlan),
    buildTransaction: surveyed(buildTransaction),
    tryOrder: surveyed(tryOrder),
    checkForeignSwap: surveyed(checkForeignSwap),
    signedBy: surveyed(signedBy),
    readOrder: surveyed(readOrder),
    changesOfOrder: surveyed(changesOfOrder),
    heights: surveyed(heights),
    funds: (addresses, of, commitment) => read.funds({ addresses, mints: of, commitment }),
    holdingsOf: (owner, of, commitment) => read.holdingsOf({ owner, mints: of, commitment }),
  };
}

function openNodes(
  { endpoints, witnesses, deathProof, fees }: NodeOptions,
  { clock, log }: HealthWatch,
  closed: AbortSignal,
): NodeContext {
  return {
    endpoints: openEndpoints(endpoints, { clock, closed }),
    witnesses,
    ownWitnesses: witnesses,
    deathProof,
    fees,
    walks: new Map(),
    chain: { genesisHash: null },
    clock,
    log,
    closed,
    remembered: rememberAnswers(clock, closed),
    handedOut: new Map(),
    deadBlockhashes: new Set(),
    disputes: new DisputeList(clock),
    signers: new Map(),
  };
}
