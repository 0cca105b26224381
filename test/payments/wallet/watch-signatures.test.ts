/** Which of the signatures that are followed are sent again, look by look. */
import { agreed } from "../../../src/ledger/agreed.ts";
import { heard } from "../../../src/ledger/heard.ts";
import { expect, test as vitestTest } from "vitest";
import { memoryStorage } from "../../kit/storages.ts";
import type { AttemptRecord } from "../../../src/payments/frame/tables/attempts.ts";
import type { WatchRecord } from "../../../src/workflow/watch-rows.ts";
import type { Watcher } from "../../../src/engine/index.ts";
import {
  type AttemptLook,
  type Landing,
  type Ledger,
  LedgerUnavailable,
} from "../../../src/ledger/ledger.ts";
import { silentLogger } from "../../../src/core/runtime.ts";
import { watchSignatures } from "../../../src/payments/wallet/watch-signatures.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";
import { notedLook } from "../../kit/watch-look.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";

/** One signature that is not zero, before a message: nobody's signature is missing. */
const WHOLE = Uint8Array.from([1, ...Array.from({ length: 64 }, () => 7), 9]);

/** A watcher of two transactions, over a ledger of which a test says what it has seen. */
class Stage {
  readonly sent: string[] = [];
  readonly asked: string[] = [];
  /** What is final on the chain. */
  readonly landed = new Set<string>();
  readonly shown = new Map<string, Partial<AttemptLook>>();
  onSend = (): void => undefined;
  isSilent = false;
  readonly watcher: Watcher;

  constructor(storage: PaymentStorage) {
    const ledger: Pick<Ledger, "look" | "statuses" | "landings" | "broadcast" | "takeSendPlace"> = {
      takeSendPlace: async () => true,
      look: async (those) => {
        if (this.isSilent) {
          return those.map(({ signature }) => agreed({ ...this.#lookAt(signature), standing: null }));
        }
        this.asked.push(...those.map(({ signature }) => `look ${signature}`));
        return those.map(({ signature }) => agreed(this.#lookAt(signature)));
      },
      statuses: async () => {
        if (this.isSilent) throw new LedgerUnavailable("no node answers");
        return heard([null]);
      },
      landings: async (those) => {
        this.asked.push(...those.map(({ signature }) => `landing ${signature}`));
        return those.map(({ signature }) =>
          agreed<Landing>({ signature, slot: 1, blockTime: 1, fee: 5_000n, error: null }),
        );
      },
      broadcast: async (bytes) => {
        this.onSend();
        this.sent.push(bytes.at(-1) === 0 ? "one" : "two");
      },
    };
    this.watcher = watchSignatures({
      storage,
      ledger,
      clock: virtualClock(),
      log: silentLogger,
      intervalMs: 1_000,
    }).landing;
  }

  #lookAt(signature: string): AttemptLook {
    const unseen = { standing: "absent", landed: null, error: null, death: "open" } as const;
    if (this.landed.has(signature)) return { ...unseen, standing: "landed", landed: { signature, slot: 1 } };
    return { ...unseen, ...this.shown.get(signature) };
  }
}

const test = vitestTest.extend("stage", async ({}) => {
  const storage = await memoryStorage();
  const attempts = ["one", "two"].map((id, index): AttemptRecord => ({
    id,
    messageHash: id,
    transactionId: `tx_${id}`,
    bytes: Uint8Array.from([...WHOLE, index]),
    blockhash: "blockhash",
    lastValidBlockHeight: 150,
    firstSlot: 0,
    reference: null,
    createdAt: 0,
    takenAt: null,
    transfer: null,
    legs: null,
    bid: null,
    error: null,
  }));
  await storage.commit([{ writes: attempts.map((insert) => ({ table: "attempts", insert })) }]);
  return new Stage(storage);
});

function watchesOf(...signatures: readonly string[]): WatchRecord[] {
  return signatures.map((key): WatchRecord => ({
    id: `landing/tx_${key}`,
    kind: "landing",
    key,
    instance: `tx_${key}`,
    life: "",
    share: "landing/0",
  }));
}

/** What one look at these sends. */
async function sentBy(stage: Stage, ...signatures: readonly string[]): Promise<readonly string[]> {
  await stage.watcher.poll(watchesOf(...signatures), notedLook());
  return stage.sent.splice(0);
}

test("W9: what was sent a moment ago is not sent again at the first look, but at every one after it", async ({
  stage,
}) => {
  expect(await sentBy(stage, "one")).toEqual([]);
  expect(await sentBy(stage, "one")).toEqual(["one"]);
  // Another one is new, whatever the first has come to.
  expect(await sentBy(stage, "one", "two")).toEqual(["one"]);
  // The one that was sent longest ago, or never, goes first.
  expect(await sentBy(stage, "one", "two")).toEqual(["two", "one"]);
});

test("W9: a first look that found nothing out was a look all the same: the next one sends", async ({
  stage,
}) => {
  stage.isSilent = true;
  await expect(sentBy(stage, "one")).rejects.toBeInstanceOf(LedgerUnavailable);
  stage.isSilent = false;
  expect(await sentBy(stage, "one")).toEqual(["one"]);
});

test("W9: what every endpoint shows in a block is not sent again, and what only some show is", async ({
  stage,
}) => {
  await sentBy(stage, "one", "two");
  stage.shown.set("one", { standing: "seen" });
  expect(await sentBy(stage, "one", "two")).toEqual(["two"]);
  stage.shown.set("one", { standing: "partly" });
  expect(await sentBy(stage, "one", "two")).toEqual(["one", "two"]);
});

test("E7: what is proved dead is sent no more", async ({ stage }) => {
  await sentBy(stage, "one", "two");
  stage.shown.set("one", { death: "dead" });
  expect(await sentBy(stage, "one", "two")).toEqual(["two"]);
});

test("M16: a landing whose instance cannot be told is kept and told later, and the chain is not asked for it again", async ({
  stage,
}) => {
  stage.landed.add("one");
  const look = notedLook();
  look.deaf.add("tx_one");
  await stage.watcher.poll(watchesOf("one", "two"), look);
  expect(look.left.map(({ key }) => key)).toEqual(["one"]);
  expect(stage.asked).toEqual(["look one", "look two", "landing one"]);
  look.deaf.clear();
  await stage.watcher.poll(watchesOf("one", "two"), look);
  expect(look.told).toMatchObject([{ instance: "tx_one", event: { type: "FINALIZED", fee: "5000" } }]);
  expect(stage.asked.splice(3)).toEqual(["look two"]);
});

test("what is found is told before anything is sent again", async ({ stage }) => {
  await sentBy(stage, "one", "two");
  const order: string[] = [];
  stage.onSend = () => order.push("sent");
  stage.shown.set("two", { death: "dead" });
  await stage.watcher.poll(watchesOf("one", "two"), {
    ...notedLook(),
    tell: async (events) => {
      order.push(...events.map(({ event }) => event.type));
      return [];
    },
  });
  expect(order).toEqual(["EXPIRED", "sent"]);
});
