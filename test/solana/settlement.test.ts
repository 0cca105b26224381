/** Sending, watching and burying: what may be concluded from what nodes say. */
import { fatesOf } from "../kit/fates.ts";
import { describe, expect } from "vitest";
import {
  type Attempt,
  type DeclaredPayment,
  type Ledger,
  type VerifiedPayment,
  LedgerUnavailable,
} from "../../src/ledger/ledger.ts";
import { signPayment, type ChainFixture, type Wallet, FEE_OF_SOL_SEND } from "../kit/chain-fixture.ts";
import { chainTest } from "../kit/chain-test.ts";
import { gone, lyingAbout, oddEndpoint } from "../kit/odd-endpoints.ts";
import { receiptsOf } from "../kit/receipts.ts";

/** Alice pays somebody. */
interface Paying extends ChainFixture {
  readonly alice: Wallet;
  readonly payment: DeclaredPayment;
}

const test = chainTest.extend("world", async ({ world }): Promise<Paying> => {
  const alice = world.wallet("alice", { lamports: 1_000_000_000n });
  const bob = world.wallet("bob", { lamports: 1_000_000_000n });
  const transfers = [{ recipient: bob.address, amount: 1_000n }];
  return { ...world, alice, payment: { sender: alice.address, mint: null, decimals: 9, transfers } };
});

/** A payment as it is when its first byte may leave, with the true last valid height. */
async function ready(world: Paying, amount = 1_000n): Promise<VerifiedPayment & Attempt> {
  const { payment, alice } = world;
  const declared = { ...payment, transfers: payment.transfers.map((each) => ({ ...each, amount })) };
  const { bytes, lastValidBlockHeight } = await world.ledger.buildPayment(declared, new Uint8Array(32));
  const answer = await world.ledger.verifyPayment(signPayment(bytes, alice.secretKey), declared);
  if ("refused" in answer) throw new Error(answer.refused);
  return { ...answer.verified, lastValidBlockHeight, reference: null };
}

async function status(world: Paying, { signature }: Pick<Attempt, "signature">): Promise<unknown> {
  return (await world.ledger.statuses([signature]))[0];
}

interface Answer {
  readonly context: object;
  readonly value: readonly unknown[];
}

/** A node that changes what it answers to one method. */
const node = (world: Paying, method: string, change: (result: never) => unknown) =>
  oddEndpoint(world.chain, method.toLowerCase(), lyingAbout(method, change)).option;
const honest = (world: Paying, name: string) => oddEndpoint(world.chain, name).option;
const dead = (world: Paying, name: string) => oddEndpoint(world.chain, name, gone).option;

describe("broadcast and statuses", () => {
  test("a payment is seen processed, confirmed and finalized, and then has a receipt", async ({ world }) => {
    const attempt = await ready(world);
    expect(await status(world, attempt)).toBeNull();
    await world.ledger.broadcast(attempt.bytes);
    const slot = world.chain.slot();
    expect(await status(world, attempt)).toEqual({ commitment: "processed", slot, error: null });
    world.chain.advance(1);
    expect(await status(world, attempt)).toEqual({ commitment: "confirmed", slot, error: null });
    expect(await receiptsOf(world.ledger, [attempt.signature])).toEqual([null]);
    world.chain.advance(31);
    expect(await status(world, attempt)).toEqual({ commitment: "finalized", slot, error: null });
    expect(await receiptsOf(world.ledger, [attempt.signature, "1".repeat(64)])).toEqual([
      {
        slot,
        blockTime: Math.floor(world.clock.now() / 1_000),
        fee: FEE_OF_SOL_SEND,
        error: null,
        signature: attempt.signature,
      },
      null,
    ]);
  });

  test("E8, E16: the same bytes sent again are taken as sent and pay once", async ({ world }) => {
    const { alice } = world;
    const attempt = await ready(world);
    const before = (await world.ledger.balances(alice.address)).lamports;
    for (let time = 0; time < 5; time += 1) {
      await world.ledger.broadcast(attempt.bytes);
      world.chain.advance(2);
    }
    expect(before - (await world.ledger.balances(alice.address)).lamports).toBe(1_000n + FEE_OF_SOL_SEND);
  });

  test('E8: a node that answers "already processed" has it', async ({ world }) => {
    const attempt = await ready(world);
    const words = "Transaction simulation failed: This transaction has already been processed";
    const data = { err: "AlreadyProcessed", logs: [] };
    for (const error of [{ message: words, data }, { message: "custom words", data }, { message: words }]) {
      const lift = world.chain.faults.add(({ method }) =>
        method === "sendTransaction" ? { kind: "error", code: -32002, ...error } : undefined,
      );
      await expect(world.ledger.broadcast(attempt.bytes)).resolves.toBeUndefined();
      lift();
    }
  });

  test("any other refusal, or no answer, is LedgerUnavailable: unknown, never failed", async ({ world }) => {
    const attempt = await ready(world);
    const errors = [
      { kind: "error", code: -32002, message: "Blockhash not found", data: { err: "BlockhashNotFound" } },
      { kind: "error", code: -32602, message: "invalid transaction" },
      { kind: "refuse", status: 403 },
    ] as const;
    for (const fault of errors) {
      const lift = world.chain.faults.add(({ method }) => (method === "sendTransaction" ? fault : undefined));
      await expect(world.ledger.broadcast(attempt.bytes)).rejects.toBeInstanceOf(LedgerUnavailable);
      lift();
    }
  });

  test("one endpoint that takes the bytes is enough, and every endpoint is given them", async ({ world }) => {
    const attempt = await ready(world);
    const [first, second] = [oddEndpoint(world.chain, "first"), oddEndpoint(world.chain, "second")];
    const endpoints = [dead(world, "dead"), first.option, second.option];
    await world.ledgerOf(endpoints).broadcast(attempt.bytes);
    for (const { calls } of [first, second]) expect(calls).toContain("sendTransaction");
    expect(await status(world, attempt)).not.toBeNull();
  });

  test("an answer that was lost leaves the transaction sent: it is found by its status", async ({
    world,
  }) => {
    const attempt = await ready(world);
    world.chain.faults.add(({ method }) =>
      method === "sendTransaction" ? { kind: "lose-answer", status: 403 } : undefined,
    );
    await expect(world.ledger.broadcast(attempt.bytes)).rejects.toBeInstanceOf(LedgerUnavailable);
    expect(await status(world, attempt)).toMatchObject({ commitment: "processed" });
  });

  test("a transaction that failed on the chain has its error in status and receipt, and its fee", async ({
    world,
  }) => {
    // Each can be paid, but not both.
    const first = await ready(world, 700_000_000n);
    const attempt = await ready(world, 600_000_000n);
    await world.ledger.broadcast(first.bytes);
    await world.ledger.broadcast(attempt.bytes);
    world.chain.advance(33);
    expect(await status(world, attempt)).toMatchObject({ error: '{"InstructionError":[2,{"Custom":1}]}' });
    const [receipt] = await receiptsOf(world.ledger, [attempt.signature]);
    expect(receipt).toMatchObject({ fee: FEE_OF_SOL_SEND, error: '{"InstructionError":[2,{"Custom":1}]}' });
    expect(await fatesOf(world.ledger, [attempt])).toEqual(["landed"]);
  });

  test("E9: a status below finalized may vanish", async ({ world }) => {
    const attempt = await ready(world);
    world.chain.advance(1);
    await world.ledger.broadcast(attempt.bytes);
    world.chain.advance(1);
    expect(await status(world, attempt)).toMatchObject({ commitment: "confirmed" });
    world.chain.rollback(world.chain.slot() - 2);
    expect(await status(world, attempt)).toBeNull();
    expect(await fatesOf(world.ledger, [attempt])).toEqual(["open"]);
    await world.ledger.broadcast(attempt.bytes);
    expect(await status(world, attempt)).toMatchObject({ commitment: "processed" });
  });

  test("600 signatures are asked for in three calls and answered in order", async ({ world }) => {
    const attempt = await ready(world);
    await world.ledger.broadcast(attempt.bytes);
    let calls = 0;
    world.chain.faults.add(({ method }) => {
      if (method === "getSignatureStatuses") calls += 1;
      return undefined;
    });
    const signatures = Array<string>(600).fill("1".repeat(64)).with(577, attempt.signature);
    const found = await world.ledger.statuses(signatures);
    expect(found).toHaveLength(600);
    expect(found.findIndex((each) => each !== null)).toBe(577);
    expect(calls).toBe(3);
  });
});

describe("fates", () => {
  const advanceTo = (world: Paying, finalizedHeight: number): void => {
    // The newest block is 32 ahead of the finalized one.
    world.chain.advance(finalizedHeight + 32 - world.chain.blockHeight());
  };
  const fate = async (ledger: Ledger, attempt: Attempt): Promise<string | undefined> =>
    (await fatesOf(ledger, [attempt]))[0];

  test("E7: a transaction that nobody saw is open until the block at L + 1 is finalized, and dead then", async ({
    world,
  }) => {
    const attempt = await ready(world);
    expect(await fate(world.ledger, attempt)).toBe("open");
    advanceTo(world, attempt.lastValidBlockHeight);
    expect(await fate(world.ledger, attempt)).toBe("open");
    world.chain.advance(1);
    expect(await fate(world.ledger, attempt)).toBe("dead");
  });

  test("E7: a transaction that lands in the block at L + 1 is never dead", async ({ world }) => {
    const attempt = await ready(world);
    world.chain.advance(attempt.lastValidBlockHeight + 1 - world.chain.blockHeight());
    expect(await fate(world.ledger, attempt)).toBe("open");
    await world.ledger.broadcast(attempt.bytes);
    expect(await status(world, attempt)).toMatchObject({ commitment: "processed", error: null });
    for (let slot = 0; slot < 40; slot += 1) {
      expect(["seen", "landed"]).toContain(await fate(world.ledger, attempt));
      world.chain.advance(1);
    }
    expect(await fate(world.ledger, attempt)).toBe("landed");
  });

  test("a transaction in a block is seen, landed once that is finalized, and stays so", async ({ world }) => {
    const attempt = await ready(world);
    await world.ledger.broadcast(attempt.bytes);
    expect(await fate(world.ledger, attempt)).toBe("seen");
    world.chain.advance(31);
    expect(await fate(world.ledger, attempt)).toBe("seen");
    world.chain.advance(1);
    expect(await fate(world.ledger, attempt)).toBe("landed");
    world.chain.advance(1_000);
    expect(await fate(world.ledger, attempt)).toBe("landed");
  });

  test("E10: one lying null does not kill what another endpoint has seen", async ({ world }) => {
    const attempt = await ready(world);
    await world.ledger.broadcast(attempt.bytes);
    world.chain.advance(300);
    const lying = node(world, "getSignatureStatuses", ({ context, value }: Answer) => ({
      context,
      value: value.map(() => null),
    }));
    // Its own list for an account that the message writes shows it.
    expect(await fate(world.ledgerOf([lying, honest(world, "honest")]), attempt)).toBe("landed");
    const unlisted = { ...attempt, bytes: new Uint8Array() };
    expect(await fate(world.ledgerOf([lying, honest(world, "honest")]), unlisted)).toBe("unprovable");
    const alike = { ...lying, url: "http://another.example" };
    expect(await fate(world.ledgerOf([lying, alike, honest(world, "honest")]), unlisted)).toBe("unprovable");
    const [one, two] = [honest(world, "one"), honest(world, "two")];
    expect(await fate(world.ledgerOf([lying, one, two]), attempt)).toBe("landed");
  });

  test("E10: bytes that one endpoint has not seen, or that too few were asked about, stay open and are sent again", async ({
    world,
  }) => {
    const attempt = await ready(world);
    const processed = { slot: 1_100, confirmations: 0, err: null, confirmationStatus: "processed" };
    const lying = node(world, "getSignatureStatuses", ({ context }: Answer) => ({
      context,
      value: [processed],
    }));
    expect(await fate(world.ledgerOf([lying, honest(world, "honest")]), attempt)).toBe("open");
    expect(await fate(world.ledgerOf([lying, dead(world, "dead")]), attempt)).toBe("open");
    await world.ledger.broadcast(attempt.bytes);
    expect(await fate(world.ledgerOf([lying, honest(world, "honest")]), attempt)).toBe("seen");
  });

  test("E10: two nulls do not kill what a third endpoint has seen, however little buried", async ({
    world,
  }) => {
    const attempt = await ready(world);
    world.chain.advance(300);
    const seen = node(world, "getSignatureStatuses", ({ context }: Answer) => ({
      context,
      value: [{ slot: 1_100, confirmations: 0, err: null, confirmationStatus: "processed" }],
    }));
    expect(await fate(world.ledgerOf([honest(world, "one"), honest(world, "two"), seen]), attempt)).toBe(
      "unprovable",
    );
  });

  test("with several endpoints one witness is not enough", async ({ world }) => {
    const attempt = await ready(world);
    world.chain.advance(300);
    expect(await fate(world.ledgerOf([honest(world, "one"), dead(world, "two")]), attempt)).toBe("open");
    expect(await fate(world.ledgerOf([honest(world, "one"), honest(world, "two")]), attempt)).toBe("dead");
    expect(
      await fate(world.ledgerOf([dead(world, "one"), honest(world, "two"), honest(world, "three")]), attempt),
    ).toBe("dead");
  });

  test("an endpoint that lags is no witness, nor one whose null is older than its height", async ({
    world,
  }) => {
    const attempt = await ready(world);
    world.chain.advance(300);
    const behind = node(world, "getEpochInfo", (result: { blockHeight: number }) => ({
      ...result,
      blockHeight: attempt.lastValidBlockHeight,
    }));
    expect(await fate(world.ledgerOf([behind]), attempt)).toBe("open");
    expect(await fate(world.ledgerOf([behind, honest(world, "honest")]), attempt)).toBe("open");
    const stale = node(world, "getSignatureStatuses", (result: { context: object; value: unknown }) => ({
      ...result,
      context: { slot: world.chain.slot() - 32 },
    }));
    expect(await fate(world.ledgerOf([stale]), attempt)).toBe("open");
  });

  test("an endpoint of another chain is no witness", async ({ world }) => {
    const attempt = await ready(world);
    await world.ledger.broadcast(attempt.bytes);
    const elsewhere = node(world, "getGenesisHash", () => "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG");
    world.chain.advance(300);
    const other = await ready(world);
    world.chain.advance(300);
    expect(await fate(world.ledgerOf([elsewhere, honest(world, "honest")]), other)).toBe("open");
    expect(await fate(world.ledgerOf([honest(world, "one"), honest(world, "two")]), other)).toBe("dead");
  });

  test("a node that cannot be asked leaves everything open", async ({ world }) => {
    const attempt = await ready(world);
    world.chain.advance(300);
    expect(await fate(world.ledgerOf([dead(world, "dead")]), attempt)).toBe("open");
  });

  test("300 attempts are judged in order", async ({ world }) => {
    const landed = await ready(world);
    await world.ledger.broadcast(landed.bytes);
    world.chain.advance(300);
    const unseen = { ...landed, signature: "1".repeat(64), messageHash: "0".repeat(64) };
    const found = await fatesOf(
      world.ledger,
      Array.from({ length: 300 }, (_, index) => (index === 280 ? landed : unseen)),
    );
    expect(found.filter((each) => each === "dead")).toHaveLength(299);
    expect(found[280]).toBe("landed");
  });
});
