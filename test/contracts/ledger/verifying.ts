/** The ledger contract on caller-signed bytes: proved to be the declared payment, tried without being sent. */
import assert from "node:assert/strict";
import type { DeclaredPayment } from "../../../src/ledger/ledger.ts";
import { promise, type LedgerContractCase, type LedgerWorld } from "./contract.ts";
import { AMOUNT, native, PLENTY, ready, reference, settle, statusOf, tokens, wealth } from "./payments.ts";

/** Why the text is refused as this payment, null when it is not. */
async function refusal(
  { ledger }: LedgerWorld,
  text: string,
  payment: DeclaredPayment,
): Promise<string | null> {
  const answer = await ledger.verifyPayment(text, payment);
  return "refused" in answer ? answer.refused : null;
}

/** Verifying and simulating: nothing is believed, nothing is sent. */
export const verifyingCases: readonly LedgerContractCase[] = [
  promise(
    "a payment as it was built and signed is verified, and its bytes are the ones received",
    async (world) => {
      const [from, to] = [await world.wallet({ native: PLENTY, tokens: 100n }), await world.wallet({})];
      for (const payment of [native(from, to), tokens(world, from, [to])]) {
        const { bytes, lastValidBlockHeight } = await world.ledger.buildPayment(payment, reference());
        const text = from.sign(bytes);
        const answer = await world.ledger.verifyPayment(text, payment);
        assert("verified" in answer);
        const { verified } = answer;
        assert.equal(Buffer.from(verified.bytes).toString("base64"), text);
        assert.match(verified.messageHash, /^[0-9a-f]{64}$/);
        // Whoever does not know when the blockhash was made may give up later than the builder, never sooner.
        assert(verified.lastValidBlockHeight >= lastValidBlockHeight);
        assert.equal(await world.ledger.simulatePayment(verified, payment), null);
        await settle(world, { ...verified, payment, reference: null });
      }
    },
  ),
  promise("W3: bytes that pay anything else than declared are refused as content_mismatch", async (world) => {
    const [from, to, other] = [
      await world.wallet({ native: PLENTY, tokens: 100n }),
      await world.wallet({ native: PLENTY, tokens: 1n }),
      await world.wallet({ native: PLENTY, tokens: 1n }),
    ];
    const coin = native(from, to);
    const token = tokens(world, from, [to]);
    for (const [made, declared] of [
      [coin, native(from, to, AMOUNT + 1n)],
      [coin, native(from, other)],
      [coin, { ...token, transfers: coin.transfers }],
      [token, tokens(world, from, [to], 6n)],
      [token, tokens(world, from, [other])],
      [token, tokens(world, from, [to, other])],
      [tokens(world, from, [to, other]), token],
      [token, { ...coin, transfers: token.transfers }],
    ] as const) {
      const { bytes } = await world.ledger.buildPayment(made, reference());
      assert.equal(await refusal(world, from.sign(bytes), declared), "content_mismatch");
    }
  }),
  promise("W2: who signed, and whether, is looked at before anything else", async (world) => {
    const [from, to] = [await world.wallet({ native: PLENTY }), await world.wallet({ native: PLENTY })];
    const payment = native(from, to);
    const { bytes } = await world.ledger.buildPayment(payment, reference());
    const unsigned = Buffer.from(bytes).toString("base64");
    assert.equal(await refusal(world, unsigned, payment), "missing_signature");
    assert.equal(await refusal(world, to.sign(bytes), payment), "bad_signature");
    assert.equal(await refusal(world, from.sign(bytes), native(to, from)), "sender_not_signer");
    assert.equal(await refusal(world, `${from.sign(bytes)}!`, payment), "not_base64");
    assert.equal(await refusal(world, Buffer.alloc(4_000, 1).toString("base64"), payment), "too_large");
  }),
  promise("W7: bytes whose time is over are refused as blockhash_expired", async (world) => {
    const [from, to] = [await world.wallet({ native: PLENTY }), await world.wallet({ native: PLENTY })];
    const payment = native(from, to);
    const { bytes, lastValidBlockHeight } = await world.ledger.buildPayment(payment, reference());
    const verified = await ready(world, from, payment);
    await world.pass(lastValidBlockHeight + world.blocksToFinality - world.height());
    assert.equal(await refusal(world, from.sign(bytes), payment), "blockhash_expired");
    assert.deepEqual(await world.ledger.simulatePayment(verified, payment), { kind: "blockhash_expired" });
  }),
  promise("verifying and simulating send nothing", async (world) => {
    const [from, to] = [await world.wallet({ native: PLENTY }), await world.wallet({ native: PLENTY })];
    const attempt = await ready(world, from, native(from, to));
    assert.equal(await world.ledger.simulatePayment(attempt, attempt.payment), null);
    await world.pass(world.blocksToFinality);
    assert.equal(await statusOf(world, attempt), null);
    assert.equal(await wealth(world, to.address), PLENTY);
  }),
  promise("a sender who has too little is told how much of what", async (world) => {
    const [from, to] = [
      await world.wallet({ native: PLENTY, tokens: 4n }),
      await world.wallet({ tokens: 1n }),
    ];
    const { mint } = world.token;
    const short = await ready(world, from, tokens(world, from, [to]));
    assert.deepEqual(await world.ledger.simulatePayment(short, short.payment), {
      kind: "insufficient_balance",
      component: "amount",
      mint,
      required: 5n,
      available: 4n,
    });
    const all = await ready(world, from, native(from, to, PLENTY));
    const { networkFee } = await world.ledger.paymentCost(null, [to.address]);
    assert.deepEqual(await world.ledger.simulatePayment(all, all.payment), {
      kind: "insufficient_balance",
      component: "amount",
      mint: null,
      required: PLENTY + networkFee,
      available: PLENTY,
    });
  }),
  promise("W21: what is on the chain already is already_processed", async (world) => {
    const [from, to] = [await world.wallet({ native: PLENTY }), await world.wallet({ native: PLENTY })];
    const attempt = await ready(world, from, native(from, to));
    await settle(world, attempt);
    assert.deepEqual(await world.ledger.simulatePayment(attempt, attempt.payment), {
      kind: "already_processed",
    });
  }),
];
