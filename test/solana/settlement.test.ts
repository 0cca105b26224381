/** Sending, watching and burying: what may be concluded from what nodes say. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Attempt, DeclaredPayment, Ledger, VerifiedPayment } from "../../src/ledger/ledger.ts";
import { LedgerUnavailable } from "../../src/ledger/ledger.ts";
import type { Fetch } from "../../src/solana/index.ts";
import { chainFixture, signPayment, type ChainFixture, type Wallet } from "../kit/chain-fixture.ts";

let fixture: ChainFixture;
let alice: Wallet;
let payment: DeclaredPayment;

beforeEach(async () => {
  fixture = await chainFixture();
  alice = fixture.wallet("alice", { lamports: 1_000_000_000n });
  const bob = fixture.wallet("bob", { lamports: 1_000_000_000n });
  payment = {
    sender: alice.address,
    mint: null,
    decimals: 9,
    transfers: [{ recipient: bob.address, amount: 1_000n }],
  };
});
afterEach(() => fixture.close());

/** A payment as it is when its first byte may leave, with the true last valid height. */
async function ready(amount = 1_000n): Promise<VerifiedPayment & Attempt> {
  const declared = { ...payment, transfers: payment.transfers.map((each) => ({ ...each, amount })) };
  const { bytes, lastValidBlockHeight } = await fixture.ledger.buildPayment(declared, new Uint8Array(32));
  const answer = await fixture.ledger.verifyPayment(signPayment(bytes, alice.secretKey), declared);
  if ("refused" in answer) throw new Error(answer.refused);
  return { ...answer.verified, lastValidBlockHeight, reference: null };
}

async function status({ signature }: Pick<Attempt, "signature">): Promise<unknown> {
  return (await fixture.ledger.statuses([signature]))[0];
}

function bodyOf(init: RequestInit | undefined): string {
  if (typeof init?.body !== "string") throw new TypeError("a JSON-RPC call has a text body");
  return init.body;
}

interface Answer {
  readonly context: object;
  readonly value: readonly unknown[];
}

/** A node of its own: the chain behind a function that may change what it answers to one method. */
function node(method: string, change: (result: never) => unknown): { url: string; fetch: Fetch } {
  return {
    url: `http://${method.toLowerCase()}.example`,
    fetch: async (url, init) => {
      const call = JSON.parse(bodyOf(init)) as { method: string };
      const answer = await fixture.chain.fetch(url, { body: bodyOf(init) });
      if (call.method !== method) return answer;
      const body = (await answer.json()) as { result: never };
      return Response.json({ ...body, result: change(body.result) });
    },
  };
}

const honest = (name: string): { url: string; fetch: Fetch } => ({
  url: `http://${name}.example`,
  fetch: fixture.chain.fetch,
});
const dead = (name: string): { url: string; fetch: Fetch } => ({
  url: `http://${name}.example`,
  fetch: async () => new Response("", { status: 403 }),
});

describe("broadcast and statuses", () => {
  test("a payment is seen processed, confirmed and finalized, and then has a receipt", async () => {
    const attempt = await ready();
    expect(await status(attempt)).toBeNull();
    await fixture.ledger.broadcast(attempt.bytes);
    const slot = fixture.chain.slot();
    expect(await status(attempt)).toEqual({ commitment: "processed", slot, error: null });
    fixture.chain.advance(1);
    expect(await status(attempt)).toEqual({ commitment: "confirmed", slot, error: null });
    expect(await fixture.ledger.receipts([attempt.signature])).toEqual([null]);
    fixture.chain.advance(31);
    expect(await status(attempt)).toEqual({ commitment: "finalized", slot, error: null });
    expect(await fixture.ledger.receipts([attempt.signature, "1".repeat(64)])).toEqual([
      { slot, blockTime: Math.floor(fixture.clock.now() / 1_000), fee: 5_000n, error: null },
      null,
    ]);
  });

  test("E8, E16: the same bytes sent again are taken as sent and pay once", async () => {
    const attempt = await ready();
    const before = (await fixture.ledger.balances(alice.address)).lamports;
    for (let time = 0; time < 5; time += 1) {
      await fixture.ledger.broadcast(attempt.bytes);
      fixture.chain.advance(2);
    }
    expect(before - (await fixture.ledger.balances(alice.address)).lamports).toBe(6_000n);
  });

  test('E8: a node that answers "already processed" has it', async () => {
    const attempt = await ready();
    const words = "Transaction simulation failed: This transaction has already been processed";
    const data = { err: "AlreadyProcessed", logs: [] };
    for (const error of [{ message: words, data }, { message: "custom words", data }, { message: words }]) {
      const lift = fixture.chain.faults.add(({ method }) =>
        method === "sendTransaction" ? { kind: "error", code: -32002, ...error } : undefined,
      );
      await expect(fixture.ledger.broadcast(attempt.bytes)).resolves.toBeUndefined();
      lift();
    }
  });

  test("any other refusal, or no answer, is LedgerUnavailable: unknown, never failed", async () => {
    const attempt = await ready();
    const errors = [
      { kind: "error", code: -32002, message: "Blockhash not found", data: { err: "BlockhashNotFound" } },
      { kind: "error", code: -32602, message: "invalid transaction" },
      { kind: "refuse", status: 403 },
    ] as const;
    for (const fault of errors) {
      const lift = fixture.chain.faults.add(({ method }) =>
        method === "sendTransaction" ? fault : undefined,
      );
      await expect(fixture.ledger.broadcast(attempt.bytes)).rejects.toBeInstanceOf(LedgerUnavailable);
      lift();
    }
  });

  test("one endpoint that takes the bytes is enough, and every endpoint is given them", async () => {
    const attempt = await ready();
    const given: string[] = [];
    const counting = (name: string): { url: string; fetch: Fetch } => ({
      url: `http://${name}.example`,
      fetch: async (url, init) => {
        if (bodyOf(init).includes('"sendTransaction"')) given.push(name);
        return await fixture.chain.fetch(url, { body: bodyOf(init) });
      },
    });
    await fixture.ledgerOf([dead("dead"), counting("first"), counting("second")]).broadcast(attempt.bytes);
    expect(given.toSorted()).toEqual(["first", "second"]);
    expect(await status(attempt)).not.toBeNull();
  });

  test("an answer that was lost leaves the transaction sent: it is found by its status", async () => {
    const attempt = await ready();
    fixture.chain.faults.add(({ method }) =>
      method === "sendTransaction" ? { kind: "lose-answer", status: 403 } : undefined,
    );
    await expect(fixture.ledger.broadcast(attempt.bytes)).rejects.toBeInstanceOf(LedgerUnavailable);
    expect(await status(attempt)).toMatchObject({ commitment: "processed" });
  });

  test("a transaction that failed on the chain has its error in status and receipt, and its fee", async () => {
    // Each can be paid, but not both.
    const first = await ready(700_000_000n);
    const attempt = await ready(600_000_000n);
    await fixture.ledger.broadcast(first.bytes);
    await fixture.ledger.broadcast(attempt.bytes);
    fixture.chain.advance(33);
    expect(await status(attempt)).toMatchObject({ error: '{"InstructionError":[0,{"Custom":1}]}' });
    const [receipt] = await fixture.ledger.receipts([attempt.signature]);
    expect(receipt).toMatchObject({ fee: 5_000n, error: '{"InstructionError":[0,{"Custom":1}]}' });
    expect(await fixture.ledger.fates([attempt])).toEqual(["landed"]);
  });

  test("E9: a status below finalized may vanish", async () => {
    const attempt = await ready();
    fixture.chain.advance(1);
    await fixture.ledger.broadcast(attempt.bytes);
    fixture.chain.advance(1);
    expect(await status(attempt)).toMatchObject({ commitment: "confirmed" });
    fixture.chain.rollback(fixture.chain.slot() - 2);
    expect(await status(attempt)).toBeNull();
    expect(await fixture.ledger.fates([attempt])).toEqual(["open"]);
    await fixture.ledger.broadcast(attempt.bytes);
    expect(await status(attempt)).toMatchObject({ commitment: "processed" });
  });

  test("600 signatures are asked for in three calls and answered in order", async () => {
    const attempt = await ready();
    await fixture.ledger.broadcast(attempt.bytes);
    let calls = 0;
    fixture.chain.faults.add(({ method }) => {
      if (method === "getSignatureStatuses") calls += 1;
      return undefined;
    });
    const signatures = Array<string>(600).fill("1".repeat(64)).with(577, attempt.signature);
    const found = await fixture.ledger.statuses(signatures);
    expect(found).toHaveLength(600);
    expect(found.findIndex((each) => each !== null)).toBe(577);
    expect(calls).toBe(3);
  });
});

describe("fates", () => {
  const advanceTo = (finalizedHeight: number): void => {
    // The newest block is 32 ahead of the finalized one.
    fixture.chain.advance(finalizedHeight + 32 - fixture.chain.blockHeight());
  };
  const fate = async (ledger: Ledger, attempt: Attempt): Promise<string | undefined> =>
    (await ledger.fates([attempt]))[0];

  test("E7: a transaction that nobody saw is open until the block at L + 1 is finalized, and dead then", async () => {
    const attempt = await ready();
    expect(await fate(fixture.ledger, attempt)).toBe("open");
    advanceTo(attempt.lastValidBlockHeight);
    expect(await fate(fixture.ledger, attempt)).toBe("open");
    fixture.chain.advance(1);
    expect(await fate(fixture.ledger, attempt)).toBe("dead");
  });

  test("E7: a transaction that lands in the block at L + 1 is never dead", async () => {
    const attempt = await ready();
    fixture.chain.advance(attempt.lastValidBlockHeight + 1 - fixture.chain.blockHeight());
    expect(await fate(fixture.ledger, attempt)).toBe("open");
    await fixture.ledger.broadcast(attempt.bytes);
    expect(await status(attempt)).toMatchObject({ commitment: "processed", error: null });
    for (let slot = 0; slot < 40; slot += 1) {
      expect(["open", "landed"]).toContain(await fate(fixture.ledger, attempt));
      fixture.chain.advance(1);
    }
    expect(await fate(fixture.ledger, attempt)).toBe("landed");
  });

  test("a transaction that landed is landed once finalized, and stays so", async () => {
    const attempt = await ready();
    await fixture.ledger.broadcast(attempt.bytes);
    expect(await fate(fixture.ledger, attempt)).toBe("open");
    fixture.chain.advance(31);
    expect(await fate(fixture.ledger, attempt)).toBe("open");
    fixture.chain.advance(1);
    expect(await fate(fixture.ledger, attempt)).toBe("landed");
    fixture.chain.advance(1_000);
    expect(await fate(fixture.ledger, attempt)).toBe("landed");
  });

  test("E10: one lying null does not kill what another endpoint has seen", async () => {
    const attempt = await ready();
    await fixture.ledger.broadcast(attempt.bytes);
    fixture.chain.advance(300);
    const lying = node("getSignatureStatuses", ({ context, value }: Answer) => ({
      context,
      value: value.map(() => null),
    }));
    expect(await fate(fixture.ledgerOf([lying, honest("honest")]), attempt)).toBe("unprovable");
    const alike = { ...lying, url: "http://another.example" };
    expect(await fate(fixture.ledgerOf([lying, alike, honest("honest")]), attempt)).toBe("unprovable");
    const [one, two] = [honest("one"), honest("two")];
    expect(await fate(fixture.ledgerOf([lying, one, two]), attempt)).toBe("landed");
  });

  test("E10: two nulls do not kill what a third endpoint has seen, however little buried", async () => {
    const attempt = await ready();
    fixture.chain.advance(300);
    const seen = node("getSignatureStatuses", ({ context }: Answer) => ({
      context,
      value: [{ slot: 1_100, confirmations: 0, err: null, confirmationStatus: "processed" }],
    }));
    expect(await fate(fixture.ledgerOf([honest("one"), honest("two"), seen]), attempt)).toBe("unprovable");
  });

  test("with several endpoints one witness is not enough", async () => {
    const attempt = await ready();
    fixture.chain.advance(300);
    expect(await fate(fixture.ledgerOf([honest("one"), dead("two")]), attempt)).toBe("open");
    expect(await fate(fixture.ledgerOf([honest("one"), honest("two")]), attempt)).toBe("dead");
    expect(await fate(fixture.ledgerOf([dead("one"), honest("two"), honest("three")]), attempt)).toBe("dead");
  });

  test("an endpoint that lags is no witness, nor one whose null is older than its height", async () => {
    const attempt = await ready();
    fixture.chain.advance(300);
    const behind = node("getEpochInfo", (result: { blockHeight: number }) => ({
      ...result,
      blockHeight: attempt.lastValidBlockHeight,
    }));
    expect(await fate(fixture.ledgerOf([behind]), attempt)).toBe("open");
    expect(await fate(fixture.ledgerOf([behind, honest("honest")]), attempt)).toBe("open");
    const stale = node("getSignatureStatuses", (result: { context: object; value: unknown }) => ({
      ...result,
      context: { slot: fixture.chain.slot() - 32 },
    }));
    expect(await fate(fixture.ledgerOf([stale]), attempt)).toBe("open");
  });

  test("an endpoint of another chain is no witness", async () => {
    const attempt = await ready();
    await fixture.ledger.broadcast(attempt.bytes);
    const elsewhere = node("getGenesisHash", () => "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG");
    fixture.chain.advance(300);
    const other = await ready();
    fixture.chain.advance(300);
    expect(await fate(fixture.ledgerOf([elsewhere, honest("honest")]), other)).toBe("open");
    expect(await fate(fixture.ledgerOf([honest("one"), honest("two")]), other)).toBe("dead");
  });

  test("a node that cannot be asked leaves everything open", async () => {
    const attempt = await ready();
    fixture.chain.advance(300);
    expect(await fate(fixture.ledgerOf([dead("dead")]), attempt)).toBe("open");
  });

  test("300 attempts are judged in order", async () => {
    const landed = await ready();
    await fixture.ledger.broadcast(landed.bytes);
    fixture.chain.advance(300);
    const unseen = { ...landed, signature: "1".repeat(64) };
    const found = await fixture.ledger.fates(
      Array.from({ length: 300 }, (_, index) => (index === 280 ? landed : unseen)),
    );
    expect(found.filter((each) => each === "dead")).toHaveLength(299);
    expect(found[280]).toBe("landed");
  });
});
