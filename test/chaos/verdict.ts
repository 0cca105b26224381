/** What must be true after a chaos run, by the database, by the chain's own books, and by what customers were told. */
// modules: private, webhooks
import { STATUS_EVENTS } from "../../machines/notice-events.ts";
import pRetry from "p-retry";
import type { Address } from "../../src/core/address.ts";
import { type Ledger, LedgerUnavailable } from "../../src/ledger/ledger.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import type { PaymentService } from "../../src/service/payment-service.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { brokenWhileWaiting } from "../kit/check-invariants.ts";
import { brokenMoney } from "../kit/check-money.ts";
import type { HttpsReceiver } from "../kit/https-receiver.ts";
import { brokenDeliveries, brokenStatuses } from "../simulation/payment-invariants.ts";
import type { Photograph } from "../payments/private/photograph.ts";
import { brokenBooks } from "./books.ts";
import type { Placed } from "./customers.ts";
import type { ChainReady } from "./processes/settings.ts";

/** What is judged: all processes have ended. */
export interface ChaosAtRest {
  readonly storage: PaymentStorage;
  readonly service: PaymentService;
  readonly receiver: HttpsReceiver;
  readonly placed: readonly Placed[];
  /** Whether the database has lost commits that were acknowledged: then its books tell less than the chain. */
  readonly hasLost: boolean;
  /** Orders that it may know less of, or nothing: nobody is paid twice for them, and no more is promised. */
  readonly mayBeLost: ReadonlySet<string>;
  readonly chain: ChainReady;
  /** The chain before the first order. */
  readonly before: Photograph;
}

const PAGE = 50;
const WITHOUT_MONEY: ReadonlySet<string> = new Set(["failed", "cancelled"]);
/** A private order waits for a deposit that nobody sends. */
const UNPAID: ReadonlySet<string> = new Set(["pending", "failed", "cancelled"]);

/** One sentence per broken promise; empty when all hold. */
export async function brokenPromises(at: ChaosAtRest): Promise<readonly string[]> {
  const { storage, service, placed, chain } = at;
  // It names no endpoint, so no fault is in its way.
  const ledger = solanaLedger({ endpoints: [chain.rpcUrl] });
  const ids = placed.map(({ transactionId }) => transactionId).filter((id) => !at.mayBeLost.has(id));
  const addresses = placed.flatMap(({ deposit }) => deposit?.address ?? []);
  const mints = [chain.mints.USDC, chain.mints.USDT] as Address[];
  try {
    return [
      ...(await brokenWhileWaiting({
        storage,
        workflows: service.workflows,
        instances: await allInstances(storage),
      })),
      ...(await storage.tasks({ order: "dead", limit: PAGE })).map(({ id }) => `G6: ${id} is a dead letter`),
      ...(await brokenStatuses(storage, service.workflows, ids)),
      ...(await brokenDeliveries(storage, ids)),
      ...(await brokenOrders(at)),
      ...(await brokenPayments(at, ledger)),
      ...(await brokenNews(at)),
      ...(at.hasLost
        ? []
        : [
            ...(await brokenMoney({ storage, ledger, mints }, addresses)),
            ...(await unexplained(at)),
            ...(await brokenBooks(at)),
          ]),
    ];
  } finally {
    await ledger.close();
  }
}

async function allInstances(storage: PaymentStorage): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let before: { readonly createdAt: number; readonly id: string } | null = null; ;) {
    const page = await storage.list({ order: "newest", after: before, limit: PAGE });
    ids.push(...page.map(({ id }) => id));
    before = page.at(-1) ?? null;
    if (before === null) return ids;
  }
}

/** I6, I8: what was acknowledged is there, once, and nothing else is. */
async function brokenOrders({ storage, placed, mayBeLost }: ChaosAtRest): Promise<readonly string[]> {
  const acknowledged = new Set(placed.map(({ transactionId }) => transactionId));
  const broken =
    acknowledged.size === placed.length ? [] : ["I8: two orders were answered with one transaction"];
  for (let after = ""; ;) {
    const page = await storage.transactionsAfter(after, PAGE);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.id;
    for (const { id, mode, status } of page) {
      if (acknowledged.delete(id)) continue;
      // An order that was taken while its client had gone away costs nothing as long as no money moves for it.
      const mayMove = mode === "wallet" ? !WITHOUT_MONEY.has(status) : !UNPAID.has(status);
      if (mayMove) broken.push(`I8: ${id} (${mode}) is ${status}, and nobody was told of it`);
    }
  }
  const gone = [...acknowledged].filter((id) => !mayBeLost.has(id));
  return [...broken, ...gone.map((id) => `I6: ${id} was acknowledged and is gone`)];
}

/** I7, I9, I14: who was paid, as the chain has it, against how each order ended. */
async function brokenPayments(at: ChaosAtRest, ledger: Ledger): Promise<readonly string[]> {
  const broken: string[] = [];
  const { mayBeLost } = at;
  for (const order of at.placed) {
    const { transactionId } = order;
    const transaction = (await at.storage.orderedTransaction(transactionId))?.transaction ?? null;
    const status = transaction?.status ?? "gone";
    const say = (invariant: string, text: string): void =>
      void broken.push(`${invariant}: ${text}: ${transactionId} is ${status} (${transaction?.reason ?? ""})`);
    const owners = order.recipients.map(({ address }) => address as Address);
    const { funds } = await ledger.funds(owners, [at.chain.mints.USDC as Address], "finalized");
    for (const [index, { address, units }] of order.recipients.entries()) {
      const got = funds[index]?.tokens[0] ?? 0n;
      const due = status === "completed" ? units : 0n;
      const isRight = mayBeLost.has(transactionId) ? got === 0n || got === units : got === due;
      if (!isRight) say("I9", `${address} got ${got} and not ${due}`);
    }
    if (mayBeLost.has(transactionId)) continue;
    if (order.isCancelled && status !== "cancelled") say("I7", "its customer was told that it is cancelled");
    if (order.signature !== null) {
      const [landed = null] = await ledger.statuses([order.signature]);
      const isThere = landed !== null;
      if (isThere !== (status === "completed")) say("I9", `it landed: ${isThere}`);
    }
    const sent = order.deposit?.sent ?? 0n;
    const came = await deposited(at, order);
    const all = sent + (order.deposit?.late ?? 0n);
    if (came !== all) say("I14", `${all} were sent, and on record are ${came}`);
    if (sent > 0n && status !== "completed") say("I6", "it was paid for");
  }
  return broken;
}

/** What came in for an order, on record. */
async function deposited({ storage, chain }: ChaosAtRest, { transactionId }: Placed): Promise<bigint> {
  const view = await storage.orderedTransaction(transactionId);
  return view?.order?.levels.find(({ mint }) => mint === chain.mints.USDC)?.received ?? 0n;
}

const OF_STATUS: ReadonlySet<string> = new Set(
  STATUS_EVENTS.map((event) => event.replace("transaction.", "")),
);

const ofStatus = (events: readonly string[]): readonly string[] =>
  events.filter((event) => OF_STATUS.has(event));

/** I2, I11: each notice of each transaction arrived under one id, with the same bytes however often. */
async function brokenNews({ storage, placed, mayBeLost, receiver }: ChaosAtRest): Promise<readonly string[]> {
  const broken: string[] = [];
  const bodies = new Map<string, string>();
  const told = new Map<string, string[]>();
  for (const { method, headers, body } of receiver.requests) {
    if (method !== "POST") continue;
    const id = String(headers["webhook-id"]);
    const text = body.toString("utf8");
    const { event, transactionId } = JSON.parse(text) as { event: string; transactionId: string };
    if (mayBeLost.has(transactionId)) continue;
    const before = bodies.get(id);
    if (before !== undefined && before !== text) broken.push(`I11: ${id} came with other bytes`);
    if (before !== undefined) continue;
    bodies.set(id, text);
    told.set(transactionId, [...(told.get(transactionId) ?? []), event]);
  }
  for (const { transactionId } of placed.filter((order) => !mayBeLost.has(order.transactionId))) {
    const status = (await storage.orderedTransaction(transactionId))?.transaction.status;
    const due = (await storage.notices(transactionId)).map(({ event }) => event.replace("transaction.", ""));
    const came = (told.get(transactionId) ?? []).map((event) => event.replace("transaction.", ""));
    // Only those of the status come in an order.
    const isSame =
      came.toSorted().join() === due.toSorted().join() && ofStatus(came).join() === ofStatus(due).join();
    if (!isSame) {
      broken.push(
        `I2: of ${transactionId} (${String(status)}) came ${came.join()}, and on record are ${due.join()}`,
      );
    }
    const isWhole = status !== "completed" || ofStatus(due).join() === "pending,confirmed,completed";
    if (!isWhole) broken.push(`I2: ${transactionId} is completed and was told as ${due.join()}`);
  }
  return broken;
}

const NAMED = /\b(tx_[0-9a-f]{32})\b/g;
const MOST_SHOWN = 3;

/** What is stored of the orders that findings name: state, history and work, and the same of their transfers. */
export async function storedOf(
  { storage, placed }: ChaosAtRest,
  findings: readonly string[],
): Promise<string> {
  const text = findings.join();
  const named = new Set([...text.matchAll(NAMED)].map(([id]) => id));
  const meant = placed.filter(
    ({ transactionId, deposit }) =>
      named.has(transactionId) || (deposit !== null && text.includes(deposit.address)),
  );
  const shown = meant.slice(0, MOST_SHOWN).map(async ({ transactionId }) => {
    const view = await storage.orderedTransaction(transactionId);
    const ids = [transactionId, ...(view?.order?.transfers ?? []).map(({ id }) => id)];
    const instances = ids.map(async (id) => ({
      instance: await storage.load(id),
      history: await storage.history(id, { after: 0, limit: PAGE }),
      pending: await storage.tasks({ order: "instance", instance: id, limit: PAGE }),
    }));
    return JSON.stringify(
      { view, instances: await Promise.all(instances) },
      (_, value: unknown) => (typeof value === "bigint" ? String(value) : value),
      1,
    );
  });
  return (await Promise.all(shown)).join("\n");
}

/** The database against the chain, as an operator asks for it. */
async function unexplained({ service }: ChaosAtRest): Promise<readonly string[]> {
  // Until a block is final that came after the start of the service, nobody can know all of the time before.
  const { isExplained, findings, wallet, purses } = await pRetry(() => service.reconcile(), {
    retries: 20,
    factor: 1,
    minTimeout: 500,
    shouldRetry: ({ error }) => error instanceof LedgerUnavailable,
  });
  const broken = findings.map((each) => `reconcile: ${JSON.stringify(each)}`);
  if (!isExplained) broken.push(`reconcile: ${JSON.stringify({ wallet: wallet.findings, purses })}`);
  return broken;
}
