/** Which bytes of transfers are sent, look by look, and until which height. */
// modules: private
import { agreed } from "../../../src/ledger/agreed.ts";
import { expect, test as vitestTest } from "vitest";
import { memoryStorage } from "../../kit/storages.ts";
import type { AttemptRecord } from "../../../src/payments/frame/tables/attempts.ts";
import type { WatchRecord } from "../../../src/workflow/watch-rows.ts";
import type { Watcher } from "../../../src/engine/index.ts";
import type { Ledger, Sighting } from "../../../src/ledger/ledger.ts";
import { silentLogger } from "../../../src/core/runtime.ts";
import { lastHeightOf } from "../../../src/payments/private/attempt-death.ts";
import { watchAttempts } from "../../../src/payments/private/watch-attempts.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";
import { notedLook } from "../../kit/watch-look.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";

const LAST_VALID = 150;
/** One signature before a message; one that is all zeros is not there yet. */
const SIGNED = Uint8Array.from([1, ...Array.from({ length: 64 }, () => 7), 9]);
const UNSIGNED = Uint8Array.from([1, ...Array.from({ length: 64 }, () => 0), 9]);

/** A watcher of two attempts, over a node that has seen neither unless it is told what to say. */
class Stage {
  readonly sent: string[] = [];
  readonly clock = virtualClock();
  /** What as many endpoints as must agree have reached. */
  height = 1;
  /** Whether any place is left for sends of the same bytes. */
  hasPlaces = true;
  said: Awaited<ReturnType<Ledger["statuses"]>>[number] = null;
  /** Whether as many endpoints as must agree show a signature in a block. */
  isConfirmed = false;
  readonly watcher: Watcher;

  constructor(storage: PaymentStorage) {
    const ledger: Pick<Ledger, "statuses" | "sightings" | "heights" | "broadcast" | "takeSendPlace"> = {
      takeSendPlace: async () => this.hasPlaces,
      statuses: async (signatures) => signatures.map(() => this.said),
      sightings: async (signatures) =>
        agreed(signatures.map((): Sighting => (this.isConfirmed ? "confirmed" : "seen"))),
      heights: async () => agreed({ agreed: this.height, highest: this.height + 10 }),
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
  const storage = await memoryStorage();
  const stage = new Stage(storage);
  const attempts = (["whole", "half"] as const).map((id, index): AttemptRecord => ({
    id,
    messageHash: id,
    transactionId: "tx",
    transfer: `tr_${id}`,
    blockhash: "blockhash",
    firstSlot: 0,
    bytes: Uint8Array.from([...(id === "whole" ? SIGNED : UNSIGNED), index]),
    lastValidBlockHeight: LAST_VALID,
    reference: null,
    createdAt: stage.clock.now(),
    takenAt: null,
    legs: [],
    bid: 1n,
    error: null,
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
    id: `attempts/tr_${key}`,
    kind: "attempts",
    key,
    instance: `tr_${key}`,
    life: "",
    share: "attempts/0",
  };
  await stage.watcher.poll([watch], noted);
  return { sent: stage.sent.splice(0), told: noted.told.map(({ event }) => event) };
}

test("bytes are sent at each look, the first one included, for which a place was taken when they were signed", async ({
  stage,
}) => {
  stage.hasPlaces = false;
  expect(await look(stage, "whole")).toEqual({ sent: ["whole"], told: [] });
  expect(await look(stage, "whole")).toEqual({ sent: [], told: [] });
  stage.hasPlaces = true;
  expect(await look(stage, "whole")).toEqual({ sent: ["whole"], told: [] });
});

test("E7: bytes are sent while a block may take them, that after their last height included, and then reported", async ({
  stage,
}) => {
  stage.height = LAST_VALID;
  expect(await look(stage, "whole")).toEqual({ sent: ["whole"], told: [] });
  stage.height = LAST_VALID + 1;
  expect(await look(stage, "whole")).toEqual({ sent: [], told: [{ type: "REPORTED" }] });
});

test("K14: bytes live until the furthest endpoint takes them no more, one that is far ahead aside", () => {
  const signed = { lastValidBlockHeight: 250 };
  expect(lastHeightOf(signed, { agreed: 100, highest: 100 })).toBe(251);
  expect(lastHeightOf(signed, { agreed: 100, highest: 120 })).toBe(271);
  expect(lastHeightOf(signed, { agreed: 100, highest: 9_999 })).toBe(551);
});

test("M2: what one node says of new bytes keeps them from no first send, nor from their end", async ({
  stage,
}) => {
  stage.said = agreed({ commitment: "finalized", slot: 1, error: "error" });
  expect(await look(stage, "whole")).toEqual({ sent: ["whole"], told: [{ type: "REPORTED" }] });
  expect(await look(stage, "whole")).toEqual({ sent: [], told: [{ type: "REPORTED" }] });
  stage.said = agreed({ commitment: "processed", slot: 1, error: null });
  expect(await look(stage, "whole")).toEqual({ sent: [], told: [] });
  stage.height = LAST_VALID + 1;
  expect(await look(stage, "whole")).toEqual({ sent: [], told: [{ type: "REPORTED" }] });
});

test("K9, K10: what one node says is confirmed is told once as many as must agree say so", async ({
  stage,
}) => {
  stage.said = agreed({ commitment: "confirmed", slot: 1, error: null });
  expect((await look(stage, "whole")).told).toEqual([]);
  stage.isConfirmed = true;
  expect((await look(stage, "whole")).told).toEqual([{ type: "CONFIRMED" }]);
});

test("what somebody else has not signed yet is not sent", async ({ stage }) => {
  await look(stage, "half");
  expect(await look(stage, "half")).toEqual({ sent: [], told: [] });
});
