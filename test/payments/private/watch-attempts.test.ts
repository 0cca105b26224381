/** Which bytes of the service's own payments are sent again, look by look, and until which height. */
import { beforeEach, expect, test } from "vitest";
import { memoryStorage } from "../../kit/storages.ts";
import type { AttemptRecord } from "../../../src/payments/records.ts";
import type { WatchRecord } from "../../../storage/storage.ts";
import type { Watcher } from "../../../src/engine/index.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { silentLogger } from "../../../src/runtime.ts";
import { watchAttempts } from "../../../src/payments/outgoing/watch-attempts.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";
import { notedLook } from "../../kit/watch-look.ts";

const LAST_VALID = 150;
/** One signature before a message; one that is all zeros is not there yet. */
const SIGNED = Uint8Array.from([1, ...Array.from({ length: 64 }, () => 7), 9]);
const UNSIGNED = Uint8Array.from([1, ...Array.from({ length: 64 }, () => 0), 9]);

let sent: string[];
let height: number;
let watcher: Watcher;

beforeEach(async () => {
  sent = [];
  height = 1;
  const storage = memoryStorage();
  const attempts = (["whole", "half"] as const).map((id, index): AttemptRecord => ({
    ...{ id, messageHash: id, transactionId: `pay_${id}`, blockhash: "blockhash", firstSlot: 0 },
    bytes: Uint8Array.from([...(id === "whole" ? SIGNED : UNSIGNED), index]),
    ...{ lastValidBlockHeight: LAST_VALID, reference: null, createdAt: 0 },
  }));
  await storage.commit([{ writes: attempts.map((insert) => ({ table: "attempts", insert })) }]);
  const ledger: Pick<Ledger, "statuses" | "heights" | "broadcast"> = {
    statuses: async (signatures) => signatures.map(() => null),
    heights: async () => ({ lowest: height, highest: height + 10 }),
    broadcast: async (bytes) => void sent.push(bytes.at(-1) === 0 ? "whole" : "half"),
  };
  const clock = virtualClock();
  watcher = watchAttempts({
    ...{ storage, ledger: ledger as Ledger, clock, log: silentLogger, intervalMs: 1_000 },
  });
});

/** What one look sends, and what it tells. */
async function look(key: string): Promise<{ readonly sent: readonly string[]; readonly told: unknown[] }> {
  const noted = notedLook();
  const watch: WatchRecord = {
    ...{ kind: "attempts", key, instance: `pay_${key}`, workflow: "payment@1", shard: 0 },
  };
  await watcher.poll([watch], noted);
  return { sent: sent.splice(0), told: noted.told.map(({ event }) => event) };
}

test("W9: what was signed a moment ago is not sent again at the first look, but at every one after it", async () => {
  expect(await look("whole")).toEqual({ sent: [], told: [] });
  expect(await look("whole")).toEqual({ sent: ["whole"], told: [] });
  expect(await look("whole")).toEqual({ sent: ["whole"], told: [] });
});

test("E7: bytes are sent while a block may take them, that after their last height included, and then called expired", async () => {
  await look("whole");
  height = LAST_VALID;
  expect(await look("whole")).toEqual({ sent: ["whole"], told: [] });
  height = LAST_VALID + 1;
  expect(await look("whole")).toEqual({ sent: [], told: [{ type: "EXPIRED", about: "whole" }] });
});

test("what somebody else has not signed yet is not sent", async () => {
  await look("half");
  expect(await look("half")).toEqual({ sent: [], told: [] });
});
