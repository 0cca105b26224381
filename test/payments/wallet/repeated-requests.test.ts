/** A request that is made again while its first one still asks the chain, and what each refusal has its caller do. */
import { describe, expect } from "vitest";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import { asksForAnotherQuote } from "../../../src/errors/remedies.ts";
import { expectRefusal, refusal, type WalletWorld } from "./wallet-world.ts";
import { walletTest as test } from "./wallet-test.ts";

/** A gate before each simulation of a process, and whether a request stands at it. */
class Gate {
  #open: () => void = () => undefined;
  #arrive: () => void = () => undefined;
  readonly #opened = new Promise<void>((resolve) => (this.#open = resolve));
  readonly arrived = new Promise<void>((resolve) => (this.#arrive = resolve));

  open(): void {
    this.#open();
  }

  /** A process on the world's database whose simulations wait here. */
  processOf({ fixture }: WalletWorld): PaymentService {
    const ledger = new Proxy(fixture.ledger, {
      get: (target, property, receiver) => {
        const value: unknown = Reflect.get(target, property, receiver);
        if (property !== "simulatePayment" || typeof value !== "function") return value;
        return async (...asked: unknown[]): Promise<unknown> => {
          this.#arrive();
          await this.#opened;
          return (await value.apply(target, asked)) as unknown;
        };
      },
    });
    return fixture.another({ ledger });
  }
}

const idsOf = async ({ fixture, caller }: WalletWorld): Promise<readonly string[]> =>
  (await fixture.service.listTransactions(caller)).data.map(({ transactionId }) => transactionId);

describe("a repetition while the first request asks the chain", () => {
  test("Q1: in one process it waits for its turn and gets the same transaction, under other keys too", async ({
    world,
  }) => {
    const { body } = await world.pay();
    const gate = new Gate();
    const service = gate.processOf(world);
    const post = (idempotencyKey?: string) =>
      service.createTransaction(
        world.caller,
        body as never,
        idempotencyKey === undefined ? {} : { idempotencyKey },
      );
    const first = post();
    await gate.arrived;
    const again = [post(), post("a"), post("b")];
    gate.open();
    const { text } = await first;
    const answers = await Promise.all(again);
    expect(answers.map((each) => each.text)).toEqual([text, text, text]);
    expect(answers.map(({ replayed }) => replayed)).toEqual([true, true, true]);
    expect(await idsOf(world)).toHaveLength(1);
  });

  test("Q1: in another process it gets the winner's transaction where the chain says it was processed", async ({
    world,
  }) => {
    const { body } = await world.pay();
    const gate = new Gate();
    const slow = gate.processOf(world).createTransaction(world.caller, body as never);
    await gate.arrived;
    const { body: won } = await world.post(body);
    await world.fixture.finalize();
    gate.open();
    expect((await slow).body).toEqual(won);
    await world.fixture.finalize();
    expect(await world.usdcOf(world.bob.address)).toBe("1");
  });

  test("Q1: bytes that another quote's request has sent meanwhile are told with the id of their transaction", async ({
    world,
  }) => {
    const { body } = await world.pay();
    const { quote: other } = await world.pay();
    const gate = new Gate();
    const slow = gate
      .processOf(world)
      .createTransaction(world.caller, { ...body, quoteId: other.quoteId } as never);
    const refused = refusal(slow);
    await gate.arrived;
    const { body: won } = await world.post(body);
    await world.fixture.finalize();
    gate.open();
    expect(await refused).toMatchObject({
      code: "DUPLICATE_TRANSACTION",
      details: { transactionId: won.transactionId },
    });
  });

  test("Q1: an answer that was given without a key is kept under the first key that asks for it", async ({
    world,
  }) => {
    const { body } = await world.pay();
    const { text } = await world.post(body);
    expect(await world.post(body, { idempotencyKey: "k" })).toMatchObject({ text, replayed: true });
    const other = await world.pay("2");
    const { transactionId } = JSON.parse(text) as { transactionId: string };
    await expectRefusal(world.post(other.body, { idempotencyKey: "k" }), "IDEMPOTENCY_KEY_REUSED", {
      transactionId,
    });
  });
});

describe("a refusal that asks for another quote closes this one first", () => {
  test("Q1: what is refused over an old blockhash is not taken by a request that still asks", async ({
    world,
  }) => {
    const { fixture, caller } = world;
    const old = await world.pay();
    fixture.chain.advance(200);
    const { body } = await world.pay();
    const gate = new Gate();
    const slow = refusal(gate.processOf(world).createTransaction(caller, body as never));
    await gate.arrived;
    const refused = await refusal(world.post({ ...body, signedTransaction: old.body.signedTransaction }));
    expect(refused).toMatchObject({ code: "INVALID_SIGNATURE", details: { reason: "blockhash_expired" } });
    expect(refused.message).toContain("Refresh the quote");
    fixture.chain.advance(1);
    await world.post((await world.pay()).body);
    gate.open();
    expect(await slow).toMatchObject({ code: "INVALID_QUOTE", details: { reason: "expired" } });
    await fixture.finalize();
    expect(await world.usdcOf(world.bob.address)).toBe("1");
  });

  test("Q1: where the quote was used meanwhile, the refusal names that instead", async ({ world }) => {
    const { body, quote } = await world.pay();
    const { body: won } = await world.post(body);
    const other = await world.pay("2");
    const refused = await refusal(world.post({ ...body, signedTransaction: other.body.signedTransaction }));
    expect(refused).toMatchObject({ code: "INVALID_QUOTE", details: { reason: "used" } });
    expect(refused.message).toContain("GET /v1/quotes/{quoteId}");
    expect(await world.fixture.service.quote(world.caller, quote.quoteId)).toMatchObject({
      transactionId: won.transactionId,
    });
  });

  test("Q1: a refusal that asks for the same bytes again leaves the quote as it was", async ({ world }) => {
    const { alice, fixture } = world;
    // Dearer than what Alice holds by a coin that she gets meanwhile.
    const { body } = await world.pay("51");
    const refused = await refusal(world.post(body));
    expect(refused.code).toBe("INSUFFICIENT_BALANCE");
    expect(asksForAnotherQuote(refused)).toBe(false);
    fixture.chain.fund(alice.address, { usdc: 1_000_000n });
    fixture.chain.advance(1);
    await world.post(body);
    await fixture.finalize();
    expect(await world.usdcOf(world.bob.address)).toBe("51");
  });
});
