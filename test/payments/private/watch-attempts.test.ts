/** Which bytes of the service's own payments are sent again, look by look, and until which height. */
import { agreed } from "../../../src/ledger/agreed.ts";
import { expect, test as vitestTest } from "vitest";
import { memoryStorage } from "../../kit/storages.ts";
import type { AttemptRecord } from "../../../src/payments/tables/payments.ts";
import type { WatchRecord } from "../../../storage/storage.ts";
import type { Watcher } from "../../../src/engine/index.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { silentLogger } from "../../../src/runtime.ts";
import { watchAttempts } from "../../../src/payments/outgoing/watch-attempts.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";
import { notedLook } from "../../kit/watch-look.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";

const LAST_VALID = 150;
/** One signature before a message; one that is all zeros is not there yet. */
const SIGNED = Uint8Array.from([1, ...Array.from({ length: 64 }, () => 7), 9]);
const UNSIGNED = Uint8Array.from([1, ...Array.from({ length: 64 }, () => 0), 9]);

/** A watcher of two attempts, over a ledger that has seen neither. */
class Stage {
  readonly sent: string[] = [];
  readonly clock = virtualClock();
  /** What as many endpoints as must agree have reached, and how much further another one is. */
  height = 1;
  ahead = 10;
  readonly watcher: Watcher;

  constructor(storage: PaymentStorage) {
    const ledger: Pick<Ledger, "statuses" | "heights" | "broadcast" | "takeSendPlace"> = {
      takeSendPlace: async () => true,
      statuses: async (signatures) => signatures.map(() => null),
      heights: async () => agreed({ lowest: 0, agreed: this.height, highest: this.height + this.ahead }),
      broadcast: async (bytes) => void this.sent.push(bytes.at(-1) === 0 ? "whole" : "half"),
    };
    this.watcher = watchAttempts({
      storage,
      ledger: ledger as Ledger,
      clock: this.clock,
      log: silentLogger,
      intervalMs: 1_000,
    });
  }
}

const test = vitestTest.extend("stage", async ({}) => {
  const storage = memoryStorage();
  const stage = new Stage(storage);
  const attempts = (["whole", "half"] as const).map((id, index): AttemptRecord => ({
    id,
    messageHash: id,
    transactionId: `pay_${id}`,
    blockhash: "blockhash",
    firstSlot: 0,
    bytes: Uint8Array.from([...(id === "whole" ? SIGNED : UNSIGNED), index]),
    lastValidBlockHeight: LAST_VALID,
    reference: null,
    createdAt: stage.clock.now(),
    takenAt: null,
    tip: null,
  }));
  await storage.commit([{ writes: attempts.map((insert) => ({ table: "attempts", insert })) }]);
  return stage;
});

/** What one look sends, and what it tells. */
async function look(
  stage: Stage,
  key: string,
): Promise<{ readonly sent: readonly string[]; readonly told: unknown[] }> {
  const noted = notedLook();
  const watch: WatchRecord = {
    kind: "attempts",
    key,
    instance: `pay_${key}`,
    life: "",
    workflow: "payment@1",
    shard: 0,
  };
  await stage.watcher.poll([watch], noted);
  return { sent: stage.sent.splice(0), told: noted.told.map(({ event }) => event) };
}

test("W9: what was signed a moment ago is not sent again at the first look, but at every one after it", async ({
  stage,
}) => {
  expect(await look(stage, "whole")).toEqual({ sent: [], told: [] });
  expect(await look(stage, "whole")).toEqual({ sent: ["whole"], told: [] });
  expect(await look(stage, "whole")).toEqual({ sent: ["whole"], told: [] });
});

test("E7: bytes are sent while a block may take them, that after their last height included, and then called expired", async ({
  stage,
}) => {
  await look(stage, "whole");
  stage.height = LAST_VALID;
  expect(await look(stage, "whole")).toEqual({ sent: ["whole"], told: [] });
  stage.height = LAST_VALID + 1;
  expect(await look(stage, "whole")).toEqual({ sent: [], told: [{ type: "EXPIRED", about: "whole" }] });
});

test("M23: bytes that enough endpoints do not know as expired are sent for five minutes, and then called expired by the furthest one", async ({
  stage,
}) => {
  await look(stage, "whole");
  stage.ahead = LAST_VALID;
  stage.clock.advance(5 * 60_000 - 1);
  expect(await look(stage, "whole")).toEqual({ sent: ["whole"], told: [] });
  stage.clock.advance(1);
  expect(await look(stage, "whole")).toEqual({ sent: [], told: [{ type: "EXPIRED", about: "whole" }] });
});

test("what somebody else has not signed yet is not sent", async ({ stage }) => {
  await look(stage, "half");
  expect(await look(stage, "half")).toEqual({ sent: [], told: [] });
});
