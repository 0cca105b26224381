/** What it takes to call caller-signed bytes landed, dead, or neither: endpoints that lie, differ, or have forgotten. */
import { fatesOf } from "../kit/fates.ts";
import { PublicKey } from "@solana/web3.js";
import bs58 from "bs58";
import { describe, expect } from "vitest";
import type { Address } from "../../src/core/address.ts";
import { type Attempt, type Ledger, LedgerUnavailable, type WantedPayment } from "../../src/ledger/ledger.ts";
import { solanaLedger, type SolanaLedgerOptions } from "../../src/solana/index.ts";
import {
  blockClock,
  signPayment,
  type ChainFixture,
  type Wallet,
  FEE_OF_SOL_SEND,
} from "../kit/chain-fixture.ts";
import {
  allOf,
  callingAllFinal,
  gone,
  lyingAbout,
  noLists,
  noStatuses,
  oddEndpoint,
  restoredAt,
  type OddEndpoint,
  type OddRule,
} from "../kit/odd-endpoints.ts";
import { flood } from "../kit/flood.ts";
import { signAgain } from "../kit/sign-again.ts";
import { signatureOf } from "../payments/wallet/wallet-world.ts";
import { chainTest } from "../kit/chain-test.ts";

/** Alice, Bob, and two nodes of one chain. */
interface TwoNodes extends ChainFixture {
  readonly alice: Wallet;
  readonly bob: Wallet;
  readonly one: OddEndpoint;
  readonly two: OddEndpoint;
}

const test = chainTest.extend("world", async ({ world }): Promise<TwoNodes> => ({
  ...world,
  alice: world.wallet("alice", { lamports: 1_000_000_000n }),
  bob: world.wallet("bob", { lamports: 1_000_000_000n }),
  one: oddEndpoint(world.chain, "one"),
  two: oddEndpoint(world.chain, "two"),
}));

/** A ledger over some endpoints, the two of every test unless told otherwise. */
function ledgerOver(
  world: TwoNodes,
  options: Omit<SolanaLedgerOptions, "endpoints"> = {},
  endpoints: SolanaLedgerOptions["endpoints"] = [world.one.option, world.two.option],
): Ledger {
  return solanaLedger({ endpoints, clock: blockClock(world.chain, world.clock), ...options });
}

/** A signed payment of our own making: an attempt, and its transaction in base64. */
async function signed(
  world: TwoNodes,
  version: Pick<WantedPayment, "transactionVersion"> = {},
): Promise<{ readonly attempt: Attempt; readonly transaction: string }> {
  const { bob, alice } = world;
  const transfers = [{ recipient: bob.address, amount: 1_000n }];
  const payment = { sender: alice.address, mint: null, decimals: 9, transfers };
  const reference = new Uint8Array(32).fill(9);
  const { bytes } = await world.ledger.buildPayment({ ...payment, ...version }, reference);
  const transaction = signPayment(bytes, alice.secretKey);
  const answer = await world.ledger.verifyPayment(transaction, payment);
  if ("refused" in answer) throw new Error(answer.refused);
  return { attempt: { ...answer.verified, reference: bs58.encode(reference) as Address }, transaction };
}

const send = (world: TwoNodes, transaction: string): Promise<void> =>
  world.ledger.broadcast(Buffer.from(transaction, "base64"));

/** Lets the last block that takes the attempt be finalized. */
function expire(world: TwoNodes, { lastValidBlockHeight }: Attempt): void {
  world.chain.advance(lastValidBlockHeight + 1 + 32 - world.chain.blockHeight());
}

async function fateOf(ledger: Ledger, attempt: Attempt): Promise<string | undefined> {
  return (await fatesOf(ledger, [attempt]))[0];
}

/** An endpoint whose chain has hardly begun, and which shows everything in a block of this slot that is not final. */
function beginner(world: TwoNodes, slot: number): OddEndpoint["option"] {
  const beginning = lyingAbout("getEpochInfo", (honest: object) => ({ ...honest, blockHeight: 1 }));
  const processed = lyingAbout(
    "getSignatureStatuses",
    ({ context, value }: { context: object; value: unknown[] }) => ({
      context,
      value: value.map(() => ({ slot, confirmations: 0, err: null, confirmationStatus: "processed" })),
    }),
  );
  return oddEndpoint(world.chain, "beginner", (request) => beginning(request) ?? processed(request)).option;
}

describe("M5: a node without the history of that time is no witness of a death", () => {
  test("M5: landed, both nodes restored from a snapshot since: unprovable, never dead, landed with the history", async ({
    world,
  }) => {
    const { one, two } = world;
    const { attempt, transaction } = await signed(world);
    await send(world, transaction);
    world.chain.advance(700);
    one.rule = restoredAt(world.chain.slot() - 100);
    two.rule = restoredAt(world.chain.slot() - 200);
    const ledger = ledgerOver(world);
    expect(await fateOf(ledger, attempt)).toBe("unprovable");
    expect(await ledger.landings([attempt])).toEqual([null]);
    one.rule = undefined;
    // One alone that says so is one word; the other cannot know.
    expect(await fateOf(ledger, attempt)).toBe("unprovable");
    two.rule = undefined;
    expect(await fateOf(ledger, attempt)).toBe("landed");
    expect(await ledger.landings([attempt])).toMatchObject([{ signature: attempt.signature, error: null }]);
  });

  test("M5: never landed, one of the two without that history: unprovable until both have it", async ({
    world,
  }) => {
    const { one, two } = world;
    const { attempt } = await signed(world);
    expire(world, attempt);
    const ledger = ledgerOver(world);
    one.rule = restoredAt(attempt.firstSlot + 1);
    expect(await fateOf(ledger, attempt)).toBe("unprovable");
    one.rule = restoredAt(attempt.firstSlot);
    expect(await fateOf(ledger, attempt)).toBe("dead");
    // A third one without it takes nothing away from two that have it.
    const third = oddEndpoint(world.chain, "third", restoredAt(world.chain.slot() - 40));
    const three = ledgerOver(world, {}, [third.option, one.option, two.option]);
    expect(await fateOf(three, attempt)).toBe("dead");
  });

  test("M5: an archive node settles alone what no other can know, and nothing that another knows better", async ({
    world,
  }) => {
    const { one, two } = world;
    const { attempt, transaction } = await signed(world);
    await send(world, transaction);
    world.chain.advance(700);
    one.rule = restoredAt(world.chain.slot() - 100);
    two.rule = restoredAt(world.chain.slot() - 100);
    const archive = oddEndpoint(world.chain, "archive");
    const endpoints = [one.option, two.option, { ...archive.option, archive: true }];
    const ledger = ledgerOver(world, {}, endpoints);
    expect(await fateOf(ledger, attempt)).toBe("landed");
    expect(await ledger.landings([attempt])).toMatchObject([{ error: null }]);
    expect(await fateOf(ledgerOver(world, {}, [one.option, two.option, archive.option]), attempt)).toBe(
      "unprovable",
    );
    // It lies about bytes of which another one has the history.
    const never = { ...attempt, signature: "1".repeat(64), messageHash: "0".repeat(64), reference: null };
    archive.rule = callingAllFinal(world.chain.slot() - 100);
    two.rule = undefined;
    expect(await fateOf(ledger, never)).toBe("unprovable");
    expect(await ledger.landings([never])).toEqual([null]);
  });
});

describe("M6: one endpoint's word ends nothing", () => {
  for (const err of [null, { InstructionError: [0, { Custom: 1 }] }]) {
    const outcome = err === null ? "finalized" : "finalized with an error";
    test(`M6: one of two says "${outcome}" of bytes that never landed: no landing, and no death either`, async ({
      world,
    }) => {
      const { one, two } = world;
      const { attempt } = await signed(world);
      for (const [liar, honest] of [
        [one, two],
        [two, one],
      ] as const) {
        liar.rule = callingAllFinal(world.chain.slot() - 50, err);
        const ledger = ledgerOver(world);
        expect(await fateOf(ledger, attempt)).toBe("open");
        expect(await ledger.landings([attempt])).toEqual([null]);
        liar.rule = undefined;
        expect(honest.rule).toBeUndefined();
      }
      expire(world, attempt);
      one.rule = callingAllFinal(world.chain.slot() - 50, err);
      expect(await fateOf(ledgerOver(world), attempt)).toBe("unprovable");
      expect(await ledgerOver(world).landings([attempt])).toEqual([null]);
      // Two others with all the evidence of its death do not outvote it either.
      const third = oddEndpoint(world.chain, "third");
      const three = ledgerOver(world, {}, [one.option, two.option, third.option]);
      expect(await fateOf(three, attempt)).toBe("unprovable");
      one.rule = undefined;
      expect(await fateOf(ledgerOver(world), attempt)).toBe("dead");
    });
  }

  test("M6: two with all the evidence of a death do not outvote a third that is behind and shows it in a block", async ({
    world,
  }) => {
    const { one, two } = world;
    const { attempt } = await signed(world);
    expire(world, attempt);
    const status = { slot: attempt.firstSlot, confirmations: 1, err: null, confirmationStatus: "confirmed" };
    const seen = lyingAbout("getSignatureStatuses", ({ context }: { context: object }) => ({
      context,
      value: [status],
    }));
    const behind = lyingAbout("getEpochInfo", (info: object) => ({
      ...info,
      blockHeight: attempt.lastValidBlockHeight,
    }));
    const third = oddEndpoint(world.chain, "third", (call) => seen(call) ?? behind(call));
    const endpoints = [one.option, two.option, third.option];
    expect(await fateOf(ledgerOver(world, {}, endpoints), attempt)).toBe("unprovable");
    third.rule = undefined;
    expect(await fateOf(ledgerOver(world, {}, endpoints), attempt)).toBe("dead");
  });

  test('M2: one of two says "finalized with an error" of what landed: no landing is told until they agree', async ({
    world,
  }) => {
    const { one } = world;
    const { attempt, transaction } = await signed(world);
    await send(world, transaction);
    const slot = world.chain.slot();
    world.chain.advance(40);
    const ledger = ledgerOver(world);
    one.rule = callingAllFinal(slot, { InstructionError: [0, { Custom: 1 }] });
    expect(await ledger.landings([attempt])).toEqual([null]);
    // The same outcome in another block is another landing.
    one.rule = callingAllFinal(slot - 1);
    expect(await ledger.landings([attempt])).toEqual([null]);
    one.rule = undefined;
    expect(await ledger.landings([attempt])).toMatchObject([{ slot, error: null, fee: FEE_OF_SOL_SEND }]);
  });

  test("two of three that agree are believed, whatever the third says; two and two are not", async ({
    world,
  }) => {
    const { one, two } = world;
    const { attempt, transaction } = await signed(world);
    await send(world, transaction);
    const slot = world.chain.slot();
    world.chain.advance(40);
    const failed = callingAllFinal(slot, "AccountInUse");
    const liars = ["third", "fourth"].map((name) => oddEndpoint(world.chain, name, failed).option);
    const [third, fourth] = liars;
    if (third === undefined || fourth === undefined) throw new Error("there are two");
    const three = ledgerOver(world, {}, [third, one.option, two.option]);
    expect(await three.landings([attempt])).toMatchObject([{ slot, error: null }]);
    const four = ledgerOver(world, {}, [third, fourth, one.option, two.option]);
    expect(await four.landings([attempt])).toEqual([null]);
    expect(await fateOf(four, attempt)).toBe("seen");
    expire(world, attempt);
    expect(await fateOf(four, attempt)).toBe("unprovable");
    // A fifth that claims to see it in a young block hides no disagreement.
    const young = ledgerOver(world, {}, [third, fourth, one.option, two.option, beginner(world, slot)]);
    expect(await fateOf(young, attempt)).toBe("unprovable");
    expect(await fateOf(three, attempt)).toBe("landed");
    const strict = ledgerOver(world, { witnesses: 3 }, [third, one.option, two.option]);
    expect(await strict.landings([attempt])).toEqual([null]);
  });

  test("a receipt of another outcome than the one agreed on is not told", async ({ world }) => {
    const { one, two } = world;
    const { attempt, transaction } = await signed(world);
    await send(world, transaction);
    world.chain.advance(40);
    const lie = lyingAbout("getTransaction", (honest: { meta: object }) => ({
      ...honest,
      meta: { ...honest.meta, err: "AccountInUse" },
    }));
    [one.rule, two.rule] = [lie, lie];
    expect(await ledgerOver(world).landings([attempt])).toEqual([null]);
    two.rule = undefined;
    const ledger = ledgerOver(world);
    expect(await ledger.landings([attempt])).toEqual([null]);
    expect(await ledger.disputes()).toMatchObject([{ subject: `the receipt of ${attempt.signature}` }]);
    one.rule = undefined;
    expect(await ledger.landings([attempt])).toMatchObject([{ error: null }]);
    expect(await ledger.disputes()).toEqual([]);
  });

  test("with one of two silent there is no landing and no death, and both say why or wait", async ({
    world,
  }) => {
    const { two } = world;
    const { attempt, transaction } = await signed(world);
    two.rule = gone;
    const ledger = ledgerOver(world);
    expect(await ledger.witnesses()).toEqual({ needed: 2, answering: 1 });
    await send(world, transaction);
    world.chain.advance(400);
    await expect(ledger.landings([attempt])).rejects.toThrow(LedgerUnavailable);
    await expect(ledger.landings([attempt])).rejects.toThrow(
      "1 of the 2 Solana nodes that must agree answered",
    );
    expect(await fateOf(ledger, attempt)).toBe("open");
    const never = { ...attempt, signature: "1".repeat(64), messageHash: "0".repeat(64), reference: null };
    expect(await fateOf(ledger, never)).toBe("open");
    two.rule = undefined;
    expect(await ledger.witnesses()).toEqual({ needed: 2, answering: 2 });
    expect(await fatesOf(ledger, [attempt, never])).toEqual(["landed", "dead"]);
    // An operator may trust one.
    two.rule = gone;
    expect(await fatesOf(ledgerOver(world, { witnesses: 1 }), [attempt, never])).toEqual(["landed", "dead"]);
  });

  test("an endpoint far behind the other does not count as one that answers", async ({ world }) => {
    const { two } = world;
    world.chain.advance(200);
    two.rule = () => ({ kind: "lag", slots: 51 });
    expect(await ledgerOver(world).witnesses()).toEqual({ needed: 2, answering: 1 });
    two.rule = () => ({ kind: "lag", slots: 50 });
    expect(await ledgerOver(world).witnesses()).toEqual({ needed: 2, answering: 2 });
  });
});

describe("a look whose answers do not fit together proves nothing", () => {
  test("an endpoint whose ledger begins here and there is two nodes: unprovable", async ({ world }) => {
    const { one } = world;
    const { attempt } = await signed(world);
    expire(world, attempt);
    let asked = 0;
    // Behind one address two nodes take turns: the one that has the ledger, and the one that was asked for statuses.
    one.rule = lyingAbout("getFirstAvailableBlock", () => ((asked += 1) % 2 === 0 ? 900 : 0));
    expect(await fateOf(ledgerOver(world), attempt)).toBe("unprovable");
    one.rule = lyingAbout("getFirstAvailableBlock", () => 900);
    expect(await fateOf(ledgerOver(world), attempt)).toBe("dead");
  });

  test("a first block after the finalized one, and a height above its slot, are no answers", async ({
    world,
  }) => {
    const { one } = world;
    const { attempt } = await signed(world);
    expire(world, attempt);
    one.rule = lyingAbout("getFirstAvailableBlock", () => world.chain.slot());
    expect(await fateOf(ledgerOver(world), attempt)).toBe("open");
    one.rule = lyingAbout("getEpochInfo", (honest: object) => ({ ...honest, blockHeight: 1_000_000_000 }));
    expect(await fateOf(ledgerOver(world), attempt)).toBe("open");
  });

  test("a status below finalized of an attempt past its last final block is no death, and no patience either", async ({
    world,
  }) => {
    const { one } = world;
    const { attempt } = await signed(world);
    expire(world, attempt);
    const slot = world.chain.slot() - 50;
    one.rule = lyingAbout("getSignatureStatuses", ({ context }: { context: object }) => ({
      context,
      value: [{ slot, confirmations: 3, err: null, confirmationStatus: "confirmed" }],
    }));
    expect(await fateOf(ledgerOver(world), attempt)).toBe("unprovable");
  });

  test("E7: a last height that was a lie kills nothing while its blockhash is alive", async ({ world }) => {
    const { attempt, transaction } = await signed(world);
    world.chain.advance(100);
    const lied = { ...attempt, lastValidBlockHeight: attempt.lastValidBlockHeight - 150 };
    expect(await fateOf(ledgerOver(world), lied)).toBe("open");
    await send(world, transaction);
    world.chain.advance(40);
    expect(await fateOf(ledgerOver(world), lied)).toBe("landed");
  });
});

/** An entry of a list, in this slot. */
const listedIn = (slot: number): object => ({ signature: "1".repeat(64), slot, err: null });

describe("the same message under another signature", () => {
  test("is found by its reference key: not dead, landed under that signature", async ({ world }) => {
    const { alice } = world;
    const { attempt, transaction } = await signed(world);
    const again = signAgain(transaction, alice.secretKey);
    expect(signatureOf(again)).not.toBe(attempt.signature);
    await send(world, again);
    const slot = world.chain.slot();
    expire(world, attempt);
    const ledger = ledgerOver(world);
    expect(await fateOf(ledger, attempt)).toBe("landed");
    expect(await ledger.landings([attempt])).toMatchObject([
      { signature: signatureOf(again), slot, error: null, fee: FEE_OF_SOL_SEND },
    ]);
  });

  describe("M21: of a transaction of the caller's own making", () => {
    /** Others' payments of Alice in the same minute. */
    async function busy(world: TwoNodes, count: number): Promise<void> {
      const self = new PublicKey(world.alice.address);
      await flood(world, world.alice, { address: self.toBase58(), count });
    }

    test("is found among the transactions of an account that the message writes", async ({ world }) => {
      const { alice, one, two } = world;
      const { attempt, transaction } = await signed(world);
      const foreign = { ...attempt, reference: null };
      await busy(world, 3);
      const again = signAgain(transaction, alice.secretKey);
      await send(world, again);
      const slot = world.chain.slot();
      await busy(world, 3);
      expire(world, attempt);
      const ledger = ledgerOver(world);
      expect(await fateOf(ledger, foreign)).toBe("landed");
      expect(await ledger.landings([foreign])).toMatchObject([
        { signature: signatureOf(again), slot, error: null, fee: FEE_OF_SOL_SEND },
      ]);
      // One node that hides it makes nothing dead.
      two.rule = noLists;
      expect(await fateOf(ledgerOver(world), foreign)).toBe("unprovable");
      one.rule = two.rule;
      expect(await fateOf(ledgerOver(world, { deathProof: "blocks" }), foreign)).toBe("landed");
    });

    test("is not found where a node tells it under the signature of another transaction", async ({
      world,
    }) => {
      const { one } = world;
      const { attempt } = await signed(world);
      await busy(world, 1);
      expire(world, attempt);
      const message = Buffer.from(attempt.bytes).subarray(1 + 64);
      one.rule = lyingAbout(
        "getTransaction",
        (honest: { readonly transaction: readonly [string, string] }) => {
          const head = Buffer.from(honest.transaction[0], "base64").subarray(0, 1 + 64);
          return { ...honest, transaction: [Buffer.concat([head, message]).toString("base64"), "base64"] };
        },
      );
      const alone = ledgerOver(world, {}, [one.option]);
      const foreign = { ...attempt, reference: null };
      expect(await fateOf(alone, foreign)).toBe("unprovable");
      expect(await alone.landings([foreign])).toEqual([null]);
    });

    test("is found beside an entry under which its node shows other bytes, which makes it unprovable where it is not there", async ({
      world,
    }) => {
      const { alice, one, two } = world;
      const { attempt, transaction } = await signed(world);
      const foreign = { ...attempt, reference: null };
      const again = signAgain(transaction, alice.secretKey);
      await send(world, again);
      expire(world, attempt);
      const entry = listedIn(attempt.firstSlot);
      const listing = lyingAbout("getSignaturesForAddress", (honest: readonly object[]) => [
        entry,
        ...honest,
      ]);
      const shown = [again, "base64"];
      const showing = lyingAbout("getTransaction", (honest: object | null) => {
        return (
          honest ?? { slot: attempt.firstSlot, blockTime: 1, meta: null, version: 0, transaction: shown }
        );
      });
      [one.rule, two.rule] = [allOf(listing, showing), allOf(listing, showing)];
      expect(await fateOf(ledgerOver(world), foreign)).toBe("landed");
      const other = { ...foreign, messageHash: "0".repeat(64) };
      expect(await fateOf(ledgerOver(world), other)).toBe("unprovable");
    });

    test("is dead where no account lists it, at the cost of one list and the transactions of that minute", async ({
      world,
    }) => {
      const { one } = world;
      const { attempt } = await signed(world);
      const foreign = { ...attempt, reference: null };
      await busy(world, 3);
      expire(world, attempt);
      await fateOf(ledgerOver(world), { ...foreign, messageHash: "0".repeat(64) });
      one.calls.length = 0;
      expect(await fateOf(ledgerOver(world), foreign)).toBe("dead");
      const counted = (method: string): number => one.calls.filter((each) => each === method).length;
      expect(counted("getSignaturesForAddress")).toBe(1);
      expect(counted("getTransaction")).toBe(3);
    });

    test("is sought at the next account where one is too busy, and is unprovable where all are", async ({
      world,
    }) => {
      const { bob, one } = world;
      const { attempt, transaction } = await signed(world);
      const foreign = { ...attempt, reference: null };
      await busy(world, 110);
      await send(world, signAgain(transaction, world.alice.secretKey));
      world.chain.advance(33);
      expire(world, attempt);
      expect(await fateOf(ledgerOver(world), foreign)).toBe("landed");
      const other = { ...foreign, messageHash: "0".repeat(64), signature: "1".repeat(64) };
      expect(await fateOf(ledgerOver(world), other)).toBe("dead");
      one.rule = ({ method, params }) =>
        method === "getSignaturesForAddress" && params[0] === bob.address
          ? { kind: "lie", answer: () => Array.from({ length: 101 }, () => listedIn(attempt.firstSlot)) }
          : undefined;
      expect(await fateOf(ledgerOver(world), other)).toBe("unprovable");
    });

    test("is unprovable where its bytes are unknown", async ({ world }) => {
      const { attempt } = await signed(world);
      expire(world, attempt);
      const unknown = { ...attempt, bytes: new Uint8Array(), reference: null };
      expect(await fateOf(ledgerOver(world), unknown)).toBe("unprovable");
    });
  });

  test("Q3: other transactions under the key are not it, and with more than ten of them the fee payer's decide", async ({
    world,
  }) => {
    const { attempt } = await signed(world);
    expire(world, attempt);
    const busy = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index += 1) {
        const other = await signed(world);
        await send(world, other.transaction);
        world.chain.advance(3);
      }
      world.chain.advance(40);
    };
    await busy(3);
    expect(await fateOf(ledgerOver(world), attempt)).toBe("dead");
    await busy(8);
    expect(await fateOf(ledgerOver(world), attempt)).toBe("dead");
    const unknown = { ...attempt, bytes: new Uint8Array() };
    expect(await fateOf(ledgerOver(world), unknown)).toBe("unprovable");
  });
});

describe('deathProof "blocks"', () => {
  const byBlocks = (world: TwoNodes): Ledger => ledgerOver(world, { deathProof: "blocks" });

  test("N6: of version 1 a death is proved by statuses and by blocks, and a landing by its own signature", async ({
    world,
  }) => {
    const version = { transactionVersion: 1 } as const;
    const { attempt, transaction } = await signed(world, version);
    await send(world, transaction);
    world.chain.advance(40);
    for (const ledger of [ledgerOver(world), byBlocks(world)]) {
      expect(await fateOf(ledger, attempt)).toBe("landed");
      const [landing] = await ledger.landings([attempt]);
      expect(landing).toMatchObject({ signature: attempt.signature, error: null, fee: FEE_OF_SOL_SEND });
    }
    const { attempt: lost } = await signed(world, version);
    expire(world, lost);
    const foreign = { ...lost, reference: null };
    for (const ledger of [ledgerOver(world), byBlocks(world)]) {
      expect([await fateOf(ledger, lost), await fateOf(ledger, foreign)]).toEqual(["dead", "dead"]);
    }
  });

  test("R1: every block that could hold it is read, up to the one after its last height, and none does", async ({
    world,
  }) => {
    const { chain, one } = world;
    const { attempt } = await signed(world);
    expire(world, attempt);
    const ledger = byBlocks(world);
    expect(await fateOf(ledger, attempt)).toBe("dead");
    const read = one.calls.filter((method) => method === "getBlock").length;
    const lastSlot = attempt.lastValidBlockHeight + 1 + chain.slot() - chain.blockHeight();
    expect(read).toBe(lastSlot + 1 - attempt.firstSlot);
    // What was read once is remembered.
    expect(await fateOf(ledger, attempt)).toBe("dead");
    expect(one.calls.filter((method) => method === "getBlock").length).toBeLessThanOrEqual(read + 4);
  });

  test.for([
    { block: "its block", isLast: false },
    { block: "the block after its last height", isLast: true },
    { block: "its block, in version 1", isLast: false, version: { transactionVersion: 1 } },
  ] as const)(
    "R1: a landing whose status and lists were denied is found in $block",
    async (landing, { world }) => {
      const { chain, one, two } = world;
      const { isLast } = landing;
      const { attempt, transaction } = await signed(world, "version" in landing ? landing.version : {});
      if (isLast) chain.advance(attempt.lastValidBlockHeight + 1 - chain.blockHeight());
      await send(world, transaction);
      expire(world, attempt);
      one.rule = allOf(noStatuses, noLists);
      two.rule = one.rule;
      const foreign = { ...attempt, reference: null };
      expect(await fateOf(ledgerOver(world), foreign)).toBe("dead");
      expect(await fateOf(byBlocks(world), foreign)).toBe("landed");
    },
  );

  test("a block left out, made up, or cleaned up is a gap, and a gap proves nothing", async ({ world }) => {
    const { one } = world;
    const { attempt } = await signed(world);
    expire(world, attempt);
    const hole = attempt.firstSlot + 70;
    const gaps = [
      lyingAbout("getBlocks", (slots: number[]) => slots.filter((slot) => slot !== hole)),
      lyingAbout("getBlocks", (slots: number[]) => slots.slice(1)),
      lyingAbout("getBlocks", (slots: number[]) => slots.slice(0, 100)),
      lyingAbout("getBlock", (block: { parentSlot: number }) =>
        block.parentSlot === hole ? { ...block, previousBlockhash: "1".repeat(32) } : block,
      ),
      lyingAbout("getBlock", (block: { parentSlot: number; blockHeight: number }) =>
        block.parentSlot === hole ? { ...block, blockHeight: block.blockHeight + 1 } : block,
      ),
      lyingAbout("getBlock", (block: { parentSlot: number }) => (block.parentSlot === hole ? null : block)),
      ({ method, params }: { method: string; params: readonly unknown[] }) =>
        method === "getBlock" && params[0] === hole
          ? ({ kind: "error", code: -32_007, message: "skipped, or missing due to ledger jump" } as const)
          : undefined,
    ];
    for (const rule of gaps) {
      one.rule = rule;
      expect(await fateOf(byBlocks(world), attempt)).toBe("unprovable");
      one.rule = undefined;
    }
    expect(await fateOf(byBlocks(world), attempt)).toBe("dead");
  });

  test("more blocks than one look reads are read in the next ones", async ({ world }) => {
    world.chain.advance(700);
    const { attempt } = await signed(world);
    expire(world, attempt);
    // As old as the blockhash of others' bytes may be.
    const foreign = { ...attempt, firstSlot: attempt.firstSlot - 600, reference: null };
    const ledger = byBlocks(world);
    const fates = new Set<string | undefined>();
    for (let look = 0; look < 8 && !fates.has("dead"); look += 1) fates.add(await fateOf(ledger, foreign));
    expect([...fates]).toEqual(["open", "dead"]);
  });
});

/** It has the history, and tells each outcome as an error. */
const callingItFailed: OddRule = ({ method }) => {
  const err = { InstructionError: [0, { Custom: 1 }] };
  const status = { Err: err };
  if (method === "getSignatureStatuses") {
    const answer = (honest: unknown): unknown => {
      const { value, ...rest } = honest as { value: (object | null)[] };
      return { ...rest, value: value.map((each) => each && { ...each, err, status }) };
    };
    return { kind: "lie", answer };
  }
  if (method !== "getTransaction") return undefined;
  const answer = (honest: unknown): unknown => {
    const told = honest as { meta: object } | null;
    return told && { ...told, meta: { ...told.meta, err, status } };
  };
  return { kind: "lie", answer };
};

describe("a landing that an operator names", () => {
  test("is read from the chain: one endpoint is enough where no other can know", async ({ world }) => {
    const { one } = world;
    const { attempt, transaction } = await signed(world);
    await send(world, transaction);
    world.chain.advance(700);
    const ledger = ledgerOver(world);
    one.rule = restoredAt(world.chain.slot() - 100);
    expect(await ledger.landings([attempt])).toEqual([null]);
    expect(await ledger.namedLanding(attempt, attempt.signature)).toMatchObject({
      landed: { signature: attempt.signature, error: null, fee: FEE_OF_SOL_SEND },
    });
  });

  test("M21: has failed by the word of as many endpoints as must agree, and not by one alone", async ({
    world,
  }) => {
    const { one, two } = world;
    const { attempt, transaction } = await signed(world);
    await send(world, transaction);
    world.chain.advance(700);
    const ledger = ledgerOver(world);
    [one.rule, two.rule] = [restoredAt(world.chain.slot() - 100), callingItFailed];
    expect(await ledger.namedLanding(attempt, attempt.signature)).toEqual({ refused: "failed_alone" });
    one.rule = callingItFailed;
    expect(await ledger.namedLanding(attempt, attempt.signature)).toMatchObject({
      landed: { error: expect.stringContaining("InstructionError") as string },
    });
  });

  test("is refused when unknown, when it is another message, and when another endpoint knows better", async ({
    world,
  }) => {
    const { one, two } = world;
    const { attempt, transaction } = await signed(world);
    const ledger = ledgerOver(world);
    expect(await ledger.namedLanding(attempt, attempt.signature)).toEqual({ refused: "unknown" });
    await send(world, transaction);
    expect(await ledger.namedLanding(attempt, attempt.signature)).toEqual({ refused: "unknown" });
    world.chain.advance(40);
    const other = { ...attempt, messageHash: "0".repeat(64) };
    expect(await ledger.namedLanding(other, attempt.signature)).toEqual({ refused: "another_message" });
    one.rule = noStatuses;
    expect(await ledger.namedLanding(attempt, attempt.signature)).toEqual({ refused: "contradicted" });
    one.rule = callingAllFinal(world.chain.slot() - 50);
    // It calls it final and has no such transaction.
    const never = "1".repeat(64);
    expect(await ledger.namedLanding(attempt, never)).toEqual({ refused: "unknown" });
    [one.rule, two.rule] = [gone, gone];
    await expect(ledger.namedLanding(attempt, never)).rejects.toThrow(LedgerUnavailable);
  });
});
