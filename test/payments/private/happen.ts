/** What happens in a random life is made to happen. */
import type { Address } from "../../../src/address.ts";
import { PaymentError } from "../../../src/errors.ts";
import { OperatorRefused } from "../../../src/payments/operator/act.ts";
import { depositKeys } from "../../../src/payments/secrets/deposit-keys.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import type { SwapFixture } from "../../kit/swap-fixture.ts";
import { LAMPORTS_PER_BYTE, type Living } from "./begin-life.ts";
import { rememberWords } from "./come-to-rest.ts";
import { decide } from "./hasty-operators.ts";
import { keepCopies } from "./kept-copies.ts";
import { payIn, type LivedOrder } from "./lived-order.ts";
import { postSend } from "./lived-send.ts";
import { photograph, possession } from "./photograph.ts";
import type { OperatorAct } from "./random-acts.ts";
import type { Asset, Happening } from "./random-life.ts";

const SLOTS_PER_MINUTE = 150;
/** More than signed bytes live. */
const MAX_SLOTS = 300;

/** Makes it happen. */
export async function happen(happening: Happening, living: Living): Promise<void> {
  const { processes, nodes, past, world, people, sends, caller } = living;
  const order = "order" in happening ? living.orders[happening.order] : undefined;
  switch (happening.does) {
    case "lie":
      nodes.tell(happening.lies);
      return;
    case "prune":
      past.wasPruned = true;
      nodes.forget(happening.slots);
      return;
    case "deposit":
      // What a swap gets back must not look like what it was promised.
      if (order === undefined) return;
      return payIn(people, order, order.swap === null ? happening : { ...happening, asset: 0 });
    case "send": {
      const send = sends.find(({ words }) => words === happening.words);
      if (send === undefined) return;
      return attempt(living, (service) => postSend(service, { caller, ledger: world.ledger }, send));
    }
    case "cancel":
      return attempt(living, (service) => service.cancelTransaction(caller, order?.id ?? ""));
    case "pass":
      await processes.slots(Math.min(Math.ceil(happening.minutes * SLOTS_PER_MINUTE), MAX_SLOTS));
      return processes.pass(happening.minutes);
    case "slots":
      return processes.slots(happening.count);
    case "die":
      processes.dieAt(happening);
      return;
    case "restore":
      return restore(happening, living);
    case "rent":
      changeRent(happening, living);
      return;
    case "stranger": {
      const met = living.orders[happening.act.order];
      if (met === undefined) return;
      await rememberWords(processes.storage(), [met]);
      return living.someone.act(met, happening.act, markersOf(living, met));
    }
    case "operator":
      return operate(happening.act, living);
  }
}

/** Whatever the service refuses is not done. */
async function attempt(
  { processes, turning }: Pick<Living, "processes" | "turning">,
  deed: (service: PaymentService) => Promise<unknown>,
): Promise<void> {
  await processes.during((service) => turning.await(deed(service)).catch(ignoreRefusal));
}

/** What a service may answer whose nodes tell nothing that it could go by. */
const OF_NODES: ReadonlySet<string> = new Set(["LedgerUnavailable", "EndpointsDifferError"]);

function ignoreRefusal(error: unknown): void {
  const isExpected =
    error instanceof PaymentError ||
    error instanceof OperatorRefused ||
    (error instanceof Error && OF_NODES.has(error.name));
  if (!isExpected) throw error;
}

async function restore(
  { commitsAgo, isReconciledFirst }: Extract<Happening, { does: "restore" }>,
  living: Living,
): Promise<void> {
  const { copies, processes, orders, past } = living;
  const all = copies.kept?.copies ?? [];
  const copy = all[Math.max(copies.oldest, all.length - commitsAgo)];
  if (copy === undefined) return;
  past.wasRestored = true;
  await rememberWords(processes.storage(), orders);
  copies.kept = await keepCopies(copy);
  copies.oldest = 0;
  await processes.goOnWith(copies.kept.storage);
  if (isReconciledFirst) await attempt(living, (service) => service.reconcile());
}

function changeRent({ quarters }: Extract<Happening, { does: "rent" }>, { world, past }: Living): void {
  const byte = (LAMPORTS_PER_BYTE * BigInt(quarters)) / 4n;
  if (byte > past.dearestByte) past.dearestByte = byte;
  world.chain.setRent(byte);
}

function markersOf({ world }: Pick<Living, "world">, order: LivedOrder): readonly Address[] {
  const keys = depositKeys([TEST_MASTER_SECRET], () => world.chain.genesisHash);
  return [...order.markerWords].map((words) => {
    const seed = keys.seed({ masterVersion: 1, transactionId: order.id }, words);
    return world.ledger.markerAddress(order.address as Address, seed);
  });
}

/** What an operator decides, and what follows from it for those who judge. */
async function operate(act: OperatorAct, living: Living): Promise<void> {
  const { world, nodes, orders, sends, someone, life, past } = living;
  const order = "order" in act ? orders[act.order] : undefined;
  await attempt(living, async (service) => {
    const there = order === undefined ? null : await heldBy(world, order.address);
    await decide(service, act, {
      orders,
      sends,
      nodes,
      foreignMint: someone.mint,
      approvals: life.approvals,
    });
    if (act.does === "refundTo" && order !== undefined && there !== null) {
      const had = order.redirected ?? { SOL: 0n, USDC: 0n, USDT: 0n };
      order.redirected = {
        SOL: had.SOL + there.SOL,
        USDC: had.USDC + there.USDC,
        USDT: had.USDT + there.USDT,
      };
    }
    if (life.liars === "nobody") return;
    if (act.does === "lower witnesses") past.wasDeceived = true;
    if (act.does === "suspend") nodes.suspended.add(nodes.names[act.endpoint] ?? "");
    if (nodes.honest.every((name) => nodes.suspended.has(name))) past.wasDeceived = true;
  });
}

/** What is at an address by the chain, finalized or not. */
async function heldBy({ chain, mints }: SwapFixture, address: string): Promise<Record<Asset, bigint>> {
  const now = await photograph(chain);
  const of = (mint: string | null): bigint => possession(now, address, mint);
  return { SOL: of(null), USDC: of(mints.USDC), USDT: of(mints.USDT) };
}
