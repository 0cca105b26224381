/** The Solana ledger put together. Imports web3.js, so it is itself imported only when a node is first asked. */
import type { Clock } from "../../runtime.ts";
import type { Ledger, Reading } from "../ledger.ts";
import { accountKinds } from "./account-kinds.ts";
import { ask, type Nodes, type Question } from "./ask.ts";
import { balances } from "./balances.ts";
import { broadcast } from "./broadcast.ts";
import { buildPayment } from "./build-payment.ts";
import { openEndpoint, type EndpointOption } from "./endpoint.ts";
import { fates } from "./fates.ts";
import { genesisHash } from "./genesis-hash.ts";
import { paymentCost } from "./payment-cost.ts";
import { simulatePayment } from "./simulate-payment.ts";
import { receipts, statuses } from "./statuses.ts";
import { verifyPayment } from "./verify-payment.ts";

const positionOf: Question<Reading> = async (connection, { name }) => ({
  slot: await connection.getSlot("finalized"),
  endpoint: name,
});

/** Every method that asks a node. */
export type AskingLedger = Omit<Ledger, "isOnCurve" | "close">;

/** Binds each method to the endpoints. `closed` ends what is under way. */
export function ledgerOfNodes(
  options: readonly EndpointOption[],
  clock: Clock,
  closed: AbortSignal,
): AskingLedger {
  const nodes: Nodes = {
    endpoints: options.map((option) => openEndpoint(option, clock, closed)),
    clock,
    closed,
  };
  return {
    genesisHash: () => genesisHash(nodes),
    position: () => ask(nodes, positionOf),
    balances: (owner) => balances(nodes, owner),
    accountKinds: (addresses) => accountKinds(nodes, addresses),
    paymentCost: (mint, recipients) => paymentCost(nodes, mint, recipients),
    buildPayment: (payment, reference) => buildPayment(nodes, payment, reference),
    verifyPayment: (putativeTransaction, payment) => verifyPayment(nodes, putativeTransaction, payment),
    simulatePayment: (verified, payment) => simulatePayment(nodes, verified, payment),
    broadcast: (bytes) => broadcast(nodes, bytes),
    statuses: (signatures) => statuses(nodes, signatures),
    receipts: (signatures) => receipts(nodes, signatures),
    fates: (attempts) => fates(nodes, attempts),
  };
}
