/** What several markers, or several signed payments under one marker, say together. */
import { expect, test } from "vitest";
import { SOL_MINT, type Address } from "../../../src/address.ts";
import { agreed } from "../../../src/ledger/agreed.ts";
import type { Ledger, Receipt } from "../../../src/ledger/ledger.ts";
import type { Marker } from "../../../src/ledger/routing.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type { TransactionView } from "../../../src/payments/tables/orders.ts";
import type { DepositRecord } from "../../../src/payments/tables/deposits.ts";
import type { AttemptRecord, PaymentRecord } from "../../../src/payments/tables/payments.ts";
import { PaymentOutcomeReader } from "../../../src/payments/outgoing/read-outcome.ts";
import { writePlan, type StoredMove } from "../../../src/payments/outgoing/plans/stored-plan.ts";
import type { Assets } from "../../../src/payments/assets/assets.ts";
import type { DepositKeys } from "../../../src/payments/secrets/deposit-keys.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";

const BASE = SOL_MINT;
const MADE: Marker = { delegate: null, lamports: 1n };

/** What the chain and the database hold. */
interface Holding {
  /** By their words. */
  readonly markers: Readonly<Record<string, Marker>>;
  readonly attempts: readonly Partial<AttemptRecord>[];
  readonly height: number;
  /** By signature. */
  readonly receipts?: Readonly<Record<string, Receipt>>;
}

function outcomes({ markers, attempts, height, receipts = {} }: Holding): PaymentOutcomeReader {
  const ledger: Pick<Ledger, "markers" | "markerAddress" | "receipts" | "markedBy"> = {
    markers: async (_, seeds) =>
      agreed({
        slot: 1,
        endpoint: "one",
        blockHeight: height,
        blockTime: 1,
        markers: seeds.map((seed) => markers[seed] ?? "unmade"),
        unmadeAt: seeds.map(() => height),
      }),
    markerAddress: (_, seed) => seed as Address,
    receipts: async (signatures) => agreed(signatures.map((each) => receipts[each] ?? null)),
    markedBy: async () => null,
  };
  const storage: Pick<PaymentStorage, "attempts" | "fact"> = {
    attempts: async (ids) => attempts.filter(({ id }) => ids.includes(id ?? "")) as AttemptRecord[],
    fact: async () => null,
  };
  const keys: Pick<DepositKeys, "seed"> = { seed: (_, words) => words };
  return new PaymentOutcomeReader({
    storage: storage as PaymentStorage,
    ledger: ledger as Ledger,
    keys: keys as DepositKeys,
    clock: virtualClock(),
    assets: {} as Assets,
  });
}

function paymentOf(id: string, kind: PaymentRecord["kind"], moves: readonly StoredMove[]): PaymentRecord {
  const plan = writePlan({ feePayer: BASE, moves, movements: [], indexes: [0], withheld: "0" });
  return { id, kind, plan, signature: `signature of ${id}`, mark: id, legs: [] } as unknown as PaymentRecord;
}

function question(row: PaymentRecord, payments: readonly PaymentRecord[]) {
  const view = { payments, recipients: [] } as unknown as TransactionView;
  return { row, deposit: { id: BASE } as DepositRecord, view };
}

const unmark = (words: string): StoredMove => ({ does: "unmark", base: BASE, words, to: BASE });

test("R8: a drain that closes several markers is over when the last one is gone", async () => {
  const drain = paymentOf("sweep", "sweep", [unmark("one"), unmark("two")]);
  const attempts = [{ id: "signature of sweep", lastValidBlockHeight: 5 }];
  const reading = (markers: Holding["markers"]) =>
    outcomes({ markers, attempts, height: 100 }).read(question(drain, [drain]));
  expect(await reading({ one: MADE, two: MADE })).toMatchObject({ kind: "unmade" });
  expect(await reading({ one: MADE })).toMatchObject({ kind: "unmade" });
  expect(await reading({ two: MADE })).toMatchObject({ kind: "unmade" });
  expect(await reading({})).toMatchObject({ kind: "made" });
});

test("R9: of several signed payments of one marker the one with the latest height is believed, whatever their order", async () => {
  const mark: StoredMove = { does: "mark", base: BASE, payer: BASE, words: "order" };
  const [early, late] = [paymentOf("early", "payout", [mark]), paymentOf("late", "payout", [mark])];
  const attempts = [
    { id: "signature of late", lastValidBlockHeight: 60 },
    { id: "signature of early", lastValidBlockHeight: 50 },
  ];
  const chain = outcomes({ markers: { order: MADE }, attempts, height: 100 });
  for (const payments of [
    [early, late],
    [late, early],
  ]) {
    expect(await chain.read(question(late, payments))).toMatchObject({ kind: "made" });
    expect(await chain.read(question(early, payments))).toMatchObject({ kind: "overtaken", payment: "late" });
  }
});

test("R15: the block time of an attempt that failed is not the payment's: that of the marker's reading is told", async () => {
  const mark: StoredMove = { does: "mark", base: BASE, payer: BASE, words: "order" };
  const payout = paymentOf("payout", "payout", [mark]);
  const failed = { slot: 7, blockTime: 7, fee: 5_000n, error: "InstructionError" };
  const receipts = { "signature of payout": failed };
  const chain = outcomes({ markers: { order: MADE }, attempts: [], height: 100, receipts });
  expect(await chain.read(question(payout, [payout]))).toMatchObject({ kind: "made", blockTime: 1 });
});
