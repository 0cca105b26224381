/** The ledger contract on transactions that the service itself signs: what a plan says is what happens, once. */
import { agreed } from "../../../src/ledger/agreed.ts";
import assert from "node:assert/strict";
import type { Move } from "../../../src/ledger/routing.ts";
import { signTransaction } from "../../../src/ledger/sign-transaction.ts";
import { promise, type LedgerContractCase } from "./contract.ts";
import { AMOUNT, only, PLENTY } from "./payments.ts";
import {
  carryOut,
  coin,
  holds,
  makeFinal,
  mark,
  MARKER,
  parties,
  placeOf,
  planOf,
  signed,
  succeed,
  units,
} from "./plans.ts";

/** The place at which a marker that stands refuses all that follows it. */
const MARKED = [0, "allocate"] as const;

/** Moves: all or none, each marker once, and an explanation of whatever fails. */
export const routingMoveCases: readonly LedgerContractCase[] = [
  promise("feeOf: what the fee payer is charged for a plan, said beforehand", async (world) => {
    const { ledger } = world;
    const everybody = await parties(world, { native: PLENTY });
    const { sponsor, payer } = everybody;
    const { address } = await world.wallet({});
    const pay = planOf(everybody, mark(everybody), coin(payer, address, AMOUNT));
    const fee = await ledger.feeOf(pay, "estimate");
    assert.equal((await ledger.buildTransaction(pay)).networkFee, fee);
    await succeed(world, pay, sponsor, payer);
    assert.deepEqual(await holds(world, sponsor.address), [PLENTY - fee - MARKER, 0n]);
    assert.deepEqual(await holds(world, payer.address), [PLENTY - AMOUNT, 0n]);
    assert.deepEqual(await holds(world, address), [AMOUNT, 0n]);
  }),
  promise("sizeOf: the bytes of the signed transaction, told while nobody answers", async (world) => {
    const everybody = await parties(world, { native: PLENTY, tokens: 9n });
    const { sponsor, payer } = everybody;
    const { address } = await world.wallet({});
    const plans = [
      planOf(everybody, coin(payer, address, 1n)),
      planOf(
        everybody,
        mark(everybody),
        coin(payer, address, 1n),
        units(world, payer, address, 1n, sponsor.address),
      ),
    ];
    const transactions = await Promise.all(plans.map((plan) => signed(world, plan, sponsor, payer)));
    world.breakEndpoint(0, "silent");
    world.breakEndpoint(1, "silent");
    const sizes = await Promise.all(plans.map((plan) => world.ledger.sizeOf(plan)));
    assert.deepEqual(
      sizes,
      transactions.map(({ bytes }) => bytes.length),
    );
  }),
  promise(
    "buildTransaction: signers stand in the order of the message, the fee payer first, each once",
    async (world) => {
      const everybody = await parties(world, { native: PLENTY });
      const { sponsor, payer } = everybody;
      const other = await world.wallet({ native: PLENTY });
      const plan = planOf(
        everybody,
        ...[mark(everybody), coin(payer, sponsor.address, 1n), coin(other, sponsor.address, 1n)],
      );
      const unsigned = await world.ledger.buildTransaction(plan);
      assert.equal(unsigned.signers[0], sponsor.address);
      assert.deepEqual(
        unsigned.signers.toSorted(),
        [sponsor, payer, other].map(({ address }) => address).toSorted(),
      );
      assert(unsigned.lastValidBlockHeight > world.height());
    },
  ),
  promise(
    "buildTransaction: a wrong amount and a plan that is too long are RangeErrors, though nobody answers",
    async (world) => {
      const { ledger } = world;
      const everybody = await parties(world, { native: PLENTY });
      const { payer } = everybody;
      const to = everybody.sponsor.address;
      world.breakEndpoint(0, "silent");
      world.breakEndpoint(1, "silent");
      for (const amount of [0n, -1n, 2n ** 64n, 2n ** 64n + 5n]) {
        for (const move of [coin(payer, to, amount), units(world, payer, to, amount)]) {
          await assert.rejects(ledger.buildTransaction(planOf(everybody, move)), RangeError);
          await assert.rejects(ledger.sizeOf(planOf(everybody, move)), RangeError);
        }
      }
      for (const count of [100, 500]) {
        const many = Array.from({ length: count }, () => coin(payer, to, 1n));
        await assert.rejects(ledger.buildTransaction(planOf(everybody, ...many)), RangeError);
      }
    },
  ),
  promise("P29: a second attempt at the same marker moves nothing, whenever it was signed", async (world) => {
    const { ledger } = world;
    const everybody = await parties(world, { native: PLENTY });
    const { sponsor, payer } = everybody;
    const [first, second] = [(await world.wallet({})).address, (await world.wallet({})).address];
    const payout = planOf(everybody, mark(everybody), coin(payer, first, AMOUNT));
    // Both are signed while neither has landed, then one more, paying somebody else even.
    const twin = await signed(world, payout, sponsor, payer);
    await world.pass(3);
    await world.elapse(2_000);
    await succeed(world, payout, sponsor, payer);
    const later = planOf(everybody, mark(everybody), coin(payer, second, AMOUNT));
    const { tried, landed } = await carryOut(world, later, sponsor, payer);
    assert.deepEqual([placeOf(tried), placeOf(landed)], [MARKED, MARKED]);
    await ledger.broadcast(twin.bytes);
    await makeFinal(world);
    const status = only(await ledger.statuses([twin.signature]));
    assert.deepEqual(placeOf(await ledger.explainOrder(payout, agreed<string>(status?.error ?? ""))), MARKED);
    assert.deepEqual(await holds(world, first), [AMOUNT, 0n]);
    assert.deepEqual(await holds(world, second), [0n, 0n]);
  }),
  promise("a marker of another seed, or of another order, is a payment of its own", async (world) => {
    const everybody = await parties(world, { native: PLENTY });
    const { sponsor } = everybody;
    const other = { sponsor, payer: await world.wallet({ native: PLENTY }) };
    const { address } = await world.wallet({});
    for (const [who, seed] of [
      [everybody, "0"],
      [everybody, "1"],
      [other, "0"],
    ] as const) {
      const pay = planOf(who, mark(who, seed), coin(who.payer, address, AMOUNT));
      await succeed(world, pay, sponsor, who.payer);
    }
    assert.deepEqual(await holds(world, address), [3n * AMOUNT, 0n]);
  }),
  promise("P15: a payout lands though a lamport and a base unit arrived just before it", async (world) => {
    const { ledger } = world;
    const everybody = await parties(world, { native: PLENTY, tokens: 10n });
    const { sponsor, payer } = everybody;
    const [alice, bob] = [(await world.wallet({})).address, (await world.wallet({})).address];
    const rent = await ledger.rentMinimum(0);
    // All of it, so that what arrives is what is left: the sponsor's loan keeps the address above the rent minimum.
    const all = planOf(
      everybody,
      ...[mark(everybody), coin(sponsor, payer.address, rent), coin(payer, alice, PLENTY)],
      units(world, payer, bob, 10n, sponsor.address),
    );
    const { bytes, signature } = await signed(world, all, sponsor, payer);
    const stranger = await world.wallet({ native: PLENTY, tokens: 1n });
    const dust = [coin(stranger, payer.address, 1n), units(world, stranger, payer.address, 1n)];
    await succeed(world, planOf({ sponsor: stranger }, ...dust), stranger);
    await ledger.broadcast(bytes);
    await makeFinal(world);
    assert.equal(only(await ledger.statuses([signature]))?.error, null);
    assert.deepEqual(await holds(world, alice), [PLENTY, 0n]);
    assert.deepEqual(await holds(world, bob), [0n, 10n]);
    assert.deepEqual(await holds(world, payer.address), [rent + 1n, 1n]);
  }),
  promise(
    "P18: a rest leaves exactly nothing: tokens, token account and lamports are gone",
    async (world) => {
      const { ledger, token } = world;
      const everybody = await parties(world, { native: PLENTY, tokens: 10n });
      const { sponsor, payer } = everybody;
      const sender = await world.wallet({ native: PLENTY, tokens: 1n });
      const rent = await ledger.rentMinimum(165);
      const rest = planOf(
        everybody,
        units(world, payer, sender.address, 10n),
        { does: "close", mint: token.mint, owner: payer.address, to: payer.address },
        coin(payer, sender.address, PLENTY),
        coin(payer, sponsor.address, rent),
        { does: "empty", address: payer.address, payer: sponsor.address },
      );
      const fee = await ledger.feeOf(rest, "estimate");
      await succeed(world, rest, sponsor, payer);
      assert.deepEqual(await holds(world, sponsor.address), [PLENTY - fee + rent, 0n]);
      assert.deepEqual(await holds(world, sender.address), [2n * PLENTY, 11n]);
      assert.deepEqual(await ledger.tokenAccountStates([{ owner: payer.address, mint: token.mint }]), [
        "absent",
      ]);
      assert.deepEqual(await ledger.accountKinds([payer.address]), ["absent"]);
    },
  ),
  promise(
    "P16: an owner without a lamport stands for the token accounts that are there, at no cost, and for no other",
    async (world) => {
      const everybody = await parties(world, { tokens: 10n });
      const { sponsor, payer } = everybody;
      const [old, fresh] = [await world.wallet({ tokens: 1n }), await world.wallet({})];
      const to = (payee: typeof old): Move => units(world, payer, payee.address, 4n, payer.address);
      const created = [1, "create"] as const;
      await succeed(world, planOf(everybody, mark(everybody), to(old)), sponsor, payer);
      assert.deepEqual(await holds(world, old.address), [0n, 5n]);
      const { tried, landed } = await carryOut(
        world,
        planOf(everybody, mark(everybody, "1"), to(fresh)),
        sponsor,
        payer,
      );
      assert.deepEqual([placeOf(tried), placeOf(landed)], [created, created]);
      assert.deepEqual(await holds(world, payer.address), [0n, 6n]);
    },
  ),
  promise("P13: a transfer pays from an account beside the associated one, to whomever", async (world) => {
    const everybody = await parties(world, { tokens: 7n });
    const { sponsor, payer } = everybody;
    const fromAccount = await world.beside(payer.address, 20n);
    const { address } = await world.wallet({});
    const legs = [
      { ...units(world, payer, payer.address, 15n), fromAccount },
      { ...units(world, payer, address, 5n, sponsor.address), fromAccount },
    ];
    await succeed(world, planOf(everybody, mark(everybody), ...legs), sponsor, payer);
    assert.deepEqual(await holds(world, payer.address), [0n, 22n]);
    assert.deepEqual(await holds(world, address), [0n, 5n]);
  }),
  promise(
    "P11: tokens of the other program are moved, and their emptied account is closed, as those of the first",
    async (world) => {
      const { ledger, others } = world;
      const everybody = await parties(world, { others: 9n });
      const { sponsor, payer } = everybody;
      const { address } = await world.wallet({});
      const { mint, program } = others;
      const move: Move = {
        does: "transfer",
        ...others,
        from: payer.address,
        to: address,
        amount: 9n,
        accountPayer: sponsor.address,
      };
      const close: Move = { does: "close", mint, program, owner: payer.address, to: sponsor.address };
      await succeed(world, planOf(everybody, mark(everybody), move, close), sponsor, payer);
      assert.deepEqual((await ledger.balances(payer.address)).holdings, []);
      const { mint: arrived, amount } = only((await ledger.balances(address)).holdings);
      assert.deepEqual([arrived, amount], [mint, 9n]);
    },
  ),
  promise(
    "tryOrder, explainOrder: before and after the landing alike, the move and the instruction",
    async (world) => {
      const everybody = await parties(world, { native: PLENTY, tokens: 5n });
      const { sponsor, payer } = everybody;
      const { address } = await world.wallet({ tokens: 1n });
      const poor = (await world.wallet({})).address;
      const broken: readonly (readonly [move: Move, at: readonly [number, string] | null])[] = [
        [coin(payer, address, 2n * PLENTY), [1, "pay"]],
        [coin(payer, poor, 1n), null],
        [units(world, payer, address, 6n), [1, "pay"]],
        [units(world, payer, poor, 1n), [1, "pay"]],
        [coin(sponsor, payer.address, 2n * PLENTY), [1, "pay"]],
        [{ does: "close", mint: world.token.mint, owner: payer.address, to: sponsor.address }, [1, "close"]],
      ];
      for (const [index, [move, at]] of broken.entries()) {
        const plan = planOf(everybody, mark(everybody, String(index)), move);
        const { tried, landed } = await carryOut(world, plan, sponsor, payer);
        assert.deepEqual(placeOf(tried), at, `tried: ${index}`);
        assert.deepEqual(tried, landed);
        if (at === null) assert.deepEqual([tried?.error, tried?.account], ["rent", poor]);
      }
      assert.deepEqual(await holds(world, payer.address), [PLENTY, 5n]);
    },
  ),
  promise("E8: tryOrder: bytes that have landed are already processed", async (world) => {
    const { ledger } = world;
    const everybody = await parties(world, { native: PLENTY });
    const { sponsor, payer } = everybody;
    const plan = planOf(everybody, mark(everybody), coin(payer, sponsor.address, AMOUNT));
    const unsigned = await ledger.buildTransaction(plan);
    const { bytes } = await signTransaction(unsigned, [sponsor.signer, payer.signer]);
    await ledger.broadcast(bytes);
    await world.pass(2);
    assert.equal((await ledger.tryOrder(plan, unsigned))?.error, "already_processed");
  }),
  promise("tryOrder: a transaction that can land no more is over a dead blockhash", async (world) => {
    const { ledger } = world;
    const everybody = await parties(world, { native: PLENTY });
    const plan = planOf(everybody, coin(everybody.payer, everybody.sponsor.address, AMOUNT));
    const unsigned = await ledger.buildTransaction(plan);
    await world.pass(unsigned.lastValidBlockHeight + 2 - world.height());
    assert.equal((await world.wait(ledger.tryOrder(plan, unsigned)))?.error, "blockhash");
  }),
  promise(
    "explainOrder: whatever the text, it blames nobody and never throws",
    async ({ ledger, wallet }) => {
      const { address } = await wallet({});
      const plan = planOf({ sponsor: { address } as never }, coin({ address }, address, 1n));
      for (const text of ["", "null", "{", '"Unheard"', '{"InstructionError":[9,{"Custom":1}]}', "[]"]) {
        assert.equal((await ledger.explainOrder(plan, agreed(text))).error, "other", text);
      }
    },
  ),
];
