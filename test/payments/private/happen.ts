/** What happens in a random life is made to happen. */
// modules: private
import { createFreezeAccountInstruction, createThawAccountInstruction } from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import { land } from "../../solana/signed-transaction.ts";
import { units } from "../../kit/money.ts";
import { PaymentError } from "../../../src/errors/errors.ts";
import { OperatorRefused } from "../../../src/payments/frame/acts/act.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { LAMPORTS_PER_BYTE, type Living } from "./begin-life.ts";
import { decide } from "./hasty-operators.ts";
import { keepCopies, restore } from "./kept-copies.ts";
import { decimalsOf, payIn } from "./lived-order.ts";
import { postSend } from "./lived-send.ts";
import type { OperatorAct } from "./random-acts.ts";
import { ASSETS, type Happening } from "./random-life.ts";

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
    case "freeze":
    case "thaw":
      return setFrozen(happening, living);
    case "pass":
      await processes.slots(Math.min(Math.ceil(happening.minutes * SLOTS_PER_MINUTE), MAX_SLOTS));
      return processes.pass(happening.minutes);
    case "slots":
      return processes.slots(happening.count);
    case "die":
      processes.dieAt(happening);
      return;
    case "restore":
      return goBack(happening, living);
    case "copy":
    case "set aside":
    case "resume":
    case "end copies":
      return double(happening, living);
    case "clock":
      processes.turnClock(happening.minutes);
      return;
    case "rent":
      changeRent(happening, living);
      return;
    case "stranger": {
      const met = living.orders[happening.act.order];
      if (met === undefined) return;
      met.refundable += 1;
      if (happening.act.does === "give wrapped SOL") {
        met.wrapped += BigInt(happening.act.lamports);
        met.cameBeside = true;
      }
      return living.someone.act(met, happening.act);
    }
    case "theft": {
      const robbed = living.orders[happening.act.order];
      if (robbed === undefined) return;
      robbed.refundable += 1;
      return living.thief.act(robbed, happening.act);
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

/** The issuer's word about the account of a payee or of the sender, in the order's stablecoin. */
async function setFrozen(
  { does, order: index, payee }: Extract<Happening, { does: "freeze" | "thaw" }>,
  { world, orders }: Living,
): Promise<void> {
  const order = orders[index];
  if (order === undefined || order.words.asset === "SOL") return;
  const wallet: Wallet | undefined = payee === "sender" ? order.sender : order.payees[payee]?.wallet;
  if (wallet === undefined) return;
  const { asset } = order.words;
  const { faucet } = world.chain;
  const keys = [world.tokenAccountOf(wallet, asset), world.mints[asset], faucet.address] as const;
  const [account, mint, issuer] = keys.map((each) => new PublicKey(each)) as [
    PublicKey,
    PublicKey,
    PublicKey,
  ];
  const make = does === "freeze" ? createFreezeAccountInstruction : createThawAccountInstruction;
  // An account that is not there, or is as it is to be, stays as it is.
  await land(world, { signers: [faucet], instructions: [make(account, mint, issuer)] }).catch(
    () => undefined,
  );
  if (payee === "sender" && does === "freeze") order.wasSenderFrozen = true;
}

/** The bytes of the database as they were so many commits ago. */
function copyOf({ copies }: Living, commitsAgo: number): Uint8Array | undefined {
  const all = copies.kept?.copies ?? [];
  return all[Math.max(copies.oldest, all.length - commitsAgo)];
}

async function goBack(
  { commitsAgo, isReconciledFirst }: Extract<Happening, { does: "restore" }>,
  living: Living,
): Promise<void> {
  const { copies, processes, past } = living;
  const copy = copyOf(living, commitsAgo);
  if (copy === undefined) return;
  past.wasRestored = true;
  copies.kept = await keepCopies(copy);
  copies.oldest = 0;
  await processes.goOnWith(copies.kept.storage);
  if (isReconciledFirst) await attempt(living, (service) => service.reconcile());
}

async function double(
  happening: Extract<Happening, { does: "copy" | "set aside" | "resume" | "end copies" }>,
  living: Living,
): Promise<void> {
  const { processes, past, copies } = living;
  if (happening.does === "end copies") {
    processes.endBeside();
    return;
  }
  if (happening.does === "set aside") {
    copies.setAside = copyOf(living, 1);
    processes.standStill();
    return;
  }
  const copy = happening.does === "copy" ? copyOf(living, happening.commitsAgo) : copies.setAside;
  if (copy === undefined) return;
  const storage = await restore(copy);
  if (happening.does === "resume" && !processes.goOn(storage)) return storage.close();
  past.hadCopies = true;
  if (happening.does === "copy") await processes.begin(storage);
}

function changeRent({ quarters }: Extract<Happening, { does: "rent" }>, { world, past }: Living): void {
  const byte = (LAMPORTS_PER_BYTE * BigInt(quarters)) / 4n;
  if (byte > past.dearestByte) past.dearestByte = byte;
  world.chain.setRent(byte);
}

/** What an operator decides, and what follows from it for those who judge. */
async function operate(act: OperatorAct, living: Living): Promise<void> {
  const { nodes, orders, sends, someone, life, past } = living;
  await attempt(living, async (service) => {
    const result = await decide(service, act, { orders, sends, nodes, foreignMint: someone.mint });
    const order = "order" in act ? orders[act.order] : undefined;
    if (act.does === "refundTo" && order !== undefined) approve(order, result);
    if (act.does === "hold" && order !== undefined) order.wasHeld = true;
    if (life.liars === "nobody") return;
    if (act.does === "lower witnesses") past.wasDeceived = true;
    if (act.does === "suspend") nodes.suspended.add(nodes.names[act.endpoint] ?? "");
    if (nodes.honest.every((name) => nodes.suspended.has(name))) past.wasDeceived = true;
  });
}

/** What was approved may be sent, and no more. */
function approve(order: Living["orders"][number], result: unknown): void {
  order.refundable += 1;
  const { allowed = {} } = result as { readonly allowed?: Readonly<Record<string, string>> };
  for (const asset of ASSETS) {
    const sum = allowed[asset];
    if (sum !== undefined) order.approved[asset] += units(sum, decimalsOf(asset));
  }
}
