/** Orders as rows, on a chain that a test sets by hand: for acts and matters, which go by rows and one reading. */
// modules: private
import { addressOf, SOL_MINT, type Address } from "../../../src/core/address.ts";
import { assetsWith } from "../../../src/payments/frame/assets/assets.ts";
import type { OrderEvent } from "../../../machines/order-context.ts";
import { agreed } from "../../../src/ledger/agreed.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import type { MarkerTold, OrderQuery, OrderTold, WalletTold } from "../../../src/ledger/order-reading.ts";
import { createWriteAct } from "../../../src/payments/frame/acts/act.ts";
import { ActRunner } from "../../../src/payments/frame/acts/act-runner.ts";
import { orderActs } from "../../../src/payments/private/acts/order-acts.ts";
import type { OrderCommand, ResolveResult } from "../../../src/payments/frame/acts/command.ts";
import type { OrderControl } from "../../../src/payments/private/acts/acting.ts";
import type { PaymentStorage, PaymentWrite } from "../../../src/payments/payment-storage.ts";
import { lookAtOrder } from "../../../src/payments/private/look.ts";
import type { WantedTransfer } from "../../../src/payments/private/plan-transfer.ts";
import type { TransactionRecord } from "../../../src/payments/frame/tables/orders.ts";
import type {
  ChunkRecord,
  DepositRecord,
  HoldRecord,
  LevelRecord,
  OrderRecord,
  OrderView,
  TransferRecord,
} from "../../../src/payments/private/tables.ts";
import { systemRandom } from "../../../src/core/runtime.ts";
import { memoryStorage } from "../../kit/storages.ts";
import { virtualClock, type VirtualClock } from "../../kit/virtual-clock.ts";

/** An address that is named by a number. */
export const addressNamed = (n: number): Address =>
  addressOf(Uint8Array.from({ length: 32 }, (_, at) => (at === 0 ? n : 7)));

export const USDC = addressNamed(1);
export const SENDER = addressNamed(11);
export const SPONSOR = addressNamed(12);
export const TREASURY = addressNamed(13);

export const assets = assetsWith({ USDC, USDT: addressNamed(2) });

/** An order of two chunks in USDC; `digit` names it. */
export function storedOrder(digit: string, given: Partial<OrderRecord> = {}): OrderRecord {
  return {
    id: `tx_${digit.repeat(32)}`,
    version: 1,
    layout: 1,
    accountId: "acct_1",
    address: addressNamed(100 + parseInt(digit, 16)),
    masterVersion: 1,
    accounts: {},
    referenceKey: SOL_MINT,
    type: "payroll",
    sender: SENDER,
    sponsor: SPONSOR,
    treasury: TREASURY,
    mint: USDC,
    required: 10n,
    fee: 1n,
    paidBid: 0n,
    cut: [0, 0],
    priced: [],
    rentPerByte: 6_960n,
    rentTaken: 6_960n,
    loanBack: null,
    listedTo: 0,
    windowEnds: 0,
    waitEndedAt: null,
    state: "waiting",
    overState: null,
    reason: null,
    lastGoHeight: null,
    ends: null,
    createdAt: 0,
    ...given,
  };
}

function transactionOf({ id, accountId, type, sender, mint }: OrderRecord): TransactionRecord {
  return {
    id,
    accountId,
    type,
    sender,
    quoteId: "",
    mode: "private",
    senderAllowOffCurve: false,
    inputMint: mint,
    inputAmount: 10n,
    outputMint: mint,
    outputAmount: 9n,
    feeMint: mint,
    requestHash: "",
    status: "processing",
    reason: null,
    signature: null,
    blockTime: null,
    fee: null,
    refundOf: null,
    landedAfterCancel: false,
    broadcastAt: null,
    cancelledAt: null,
    finalAt: null,
    createdAt: 0,
    reference: null,
    attention: null,
    landedSignature: null,
  };
}

function chunkOf(order: string, k: number): ChunkRecord {
  const untold = { length: null, slot: null, signature: null, blockTime: null, paid: null, goneAt: null };
  return { id: `${order}:${k}`, order, k, wanted: 0, ...untold, isOwn: false, isLent: false, opened: 0n };
}

function levelOf(order: string, mint: string): LevelRecord {
  const empty = { received: 0n, out: 0n, writtenOff: 0n, slot: 0, short: false, missing: 0n };
  return { id: `${order}:${mint}`, order, mint, ...empty };
}

export function transferOf(order: string, given: Partial<TransferRecord>): TransferRecord {
  return {
    id: `tr_${given.kind ?? "chunk"}_${given.n ?? 0}`,
    order,
    kind: "chunk",
    n: 0,
    mint: null,
    to: null,
    subjects: [],
    state: "planned",
    notBefore: null,
    reason: null,
    reserved: [],
    signature: null,
    landedAt: null,
    legs: null,
    alsoLanded: [],
    stuckSince: null,
    createdAt: 0,
    ...given,
  };
}

export function holdOf(order: string, reason: string, given: Partial<HoldRecord> = {}): HoldRecord {
  return { id: `hold_${order}_${reason}`, order, reason, since: 5, endedAt: null, covers: null, ...given };
}

/** A deposit in an account that does not count. */
export function strayOf(order: string, mint: string, given: Partial<DepositRecord> = {}): DepositRecord {
  const id = `${order}:${mint}:${given.at ?? 1}`;
  const untold = { payer: null, signature: null, slot: null, decimals: null, leftAt: null };
  return { id, order, mint, amount: 5n, ...untold, at: 1, account: addressNamed(50), ...given };
}

interface WorldOptions {
  readonly order?: Partial<OrderRecord>;
  readonly transfers?: readonly Partial<TransferRecord>[];
  readonly levels?: Readonly<Record<string, Partial<LevelRecord>>>;
  readonly approvals?: 1 | 2;
  /** What `screen` says of everybody. */
  readonly screen?: "ok" | "refused";
}

/** What the chain shows; a test may change it at any time. */
interface ShownChain {
  markers: Readonly<Record<string, MarkerTold>>;
  /** Seeds of markers about which endpoints differ. */
  disputed: readonly string[];
  usdc: bigint;
  lamports: bigint;
  slot: number;
  rentPerByte: bigint;
}

interface OrderWorld {
  readonly storage: PaymentStorage;
  readonly clock: VirtualClock;
  readonly chain: ShownChain;
  readonly order: OrderRecord;
  /** Whether the order's chart takes an event. */
  readonly chart: { takes: (event: OrderEvent) => boolean };
  readonly events: readonly OrderEvent[];
  readonly planned: readonly WantedTransfer[];
  readonly woken: readonly string[];
  act(command: OrderCommand, actor?: string): Promise<ResolveResult>;
  approve(address?: string, actor?: string): Promise<ResolveResult>;
  row(): Promise<OrderView | undefined>;
  acted(): Promise<readonly string[]>;
}

/** One order and the acts on it; the order's chart is played by `takes`, which says whether it takes an event. */
export async function orderWorld(options: WorldOptions = {}): Promise<OrderWorld> {
  const clock = virtualClock();
  const storage = await memoryStorage();
  const order = storedOrder("1", options.order);
  const { id } = order;
  const levels = assets.tokens.map(({ mint }) => ({ ...levelOf(id, mint), ...options.levels?.[mint] }));
  const writes: PaymentWrite[] = [
    { table: "transactions", insert: transactionOf(order) },
    { table: "orders", insert: order },
    ...order.cut.map((_, k) => ({ table: "chunks" as const, insert: chunkOf(id, k) })),
    ...levels.map((insert) => ({ table: "levels" as const, insert })),
    ...(options.transfers ?? []).map((given) => ({
      table: "transfers" as const,
      insert: transferOf(id, given),
    })),
  ];
  await storage.commit([{ writes }]);
  const chain: ShownChain = {
    markers: {},
    disputed: [],
    usdc: 0n,
    lamports: 0n,
    slot: 100,
    rentPerByte: 6_960n,
  };
  const ledger = shownBy(chain);
  const events: OrderEvent[] = [];
  const planned: WantedTransfer[] = [];
  const woken: string[] = [];
  const chart: OrderWorld["chart"] = { takes: () => true };
  const control: OrderControl = {
    look: (asked) => lookAtOrder({ storage, ledger, assets }, asked),
    async send(_, event, commit) {
      if (!chart.takes(event)) return { kind: "unchanged", snapshot: { value: "", context: {} } as never };
      const [answer] = await storage.commit([{ writes: commit.writes }]);
      if (answer === undefined || "error" in answer) throw new Error("the storage failed");
      if (!answer.ok) return { kind: "refused", result: answer };
      events.push(event);
      return { kind: "stepped", snapshot: { value: "", context: {} } as never };
    },
    async commit(commit) {
      const [answer] = await storage.commit([{ writes: commit.writes }]);
      if (answer === undefined || "error" in answer) throw new Error("the storage failed");
      return answer;
    },
    wake: async (transfer) => woken.push(transfer),
    planTransfer(wanted) {
      planned.push(wanted);
      const { kind, n, mint, to, subjects } = wanted;
      const insert = transferOf(id, { kind, n, mint, to, subjects, id: `tr_${kind}_${n}` });
      return { start: {} as never, write: { table: "transfers", insert } };
    },
    screen: options.screen === undefined ? null : async () => options.screen ?? "ok",
    ownAddresses: [SPONSOR, TREASURY],
  };
  const random = systemRandom;
  const parts = { storage, ledger, assets, clock, random, writeAct: createWriteAct({ clock, random }) };
  const { row, waits } = orderActs({ ...parts, control });
  const runner = new ActRunner({ ...parts, approvals: options.approvals ?? 1 });
  return {
    storage,
    clock,
    chain,
    chart,
    order,
    events,
    planned,
    woken,
    act: (command: OrderCommand, actor = "ann") =>
      runner.run(row, { order: id, command }, { actor, reason: "asked" }),
    approve: (address?: string, actor = "bob") =>
      runner.confirm(row, waits(id), { address, by: { actor, reason: "confirmed" } }),
    row: async () => (await storage.orderViews([id]))[0],
    acted: async () => (await storage.audit(null, 99))?.map(({ act }) => act) ?? [],
  };
}

function shownBy(chain: ShownChain): Ledger {
  const wallet: WalletTold = { lamports: 0n, accounts: [null, null] };
  const read = (query: OrderQuery): OrderTold => {
    const usdc = { amount: chain.usdc, lamports: 2_039_280n, state: "usable" as const };
    return {
      endpoint: "a",
      slot: chain.slot,
      blockTime: chain.slot,
      rentPerByte: chain.rentPerByte,
      order: { lamports: chain.lamports, accounts: [chain.usdc === 0n ? null : usdc, null] },
      owners: query.owners.map(() => wallet),
      markers: query.seeds.map((seed) => chain.markers[seed] ?? null),
    };
  };
  const shown: Partial<Ledger> = {
    readOrder: async (query) => {
      const told = [read(query)];
      const markers = query.seeds.map((seed) =>
        chain.disputed.includes(seed) ? "disputed" : (chain.markers[seed] ?? null),
      );
      return agreed({ witnesses: 1, told, rentPerByte: chain.rentPerByte, markers });
    },
    feeOf: async () => agreed(10_000n),
    accountKinds: async (addresses) => agreed(addresses.map(() => "wallet" as const)),
    isOnCurve: () => true,
    tokenAccountOf: () => addressNamed(51),
    mints: async (mints) => agreed(mints.map(() => ({ decimals: 6, program: "token" as const }))),
    holdingsOf: async () =>
      agreed({ endpoint: "a", slot: chain.slot, lamports: 0n, tokens: [5n], accounts: [] }),
  };
  return shown as Ledger;
}
