/** The marker of a chunk: the chain takes one outcome, for ever, whoever signs whatever else. */
import { createHash } from "node:crypto";
import {
  AuthorityType,
  createAssociatedTokenAccountIdempotentInstruction,
  createCloseAccountInstruction,
  createInitializeAccount3Instruction,
  createInitializeMint2Instruction,
  createInitializeMultisigInstruction,
  createSetAuthorityInstruction,
  createSyncNativeInstruction,
  createTransferCheckedInstruction,
  TOKEN_2022_PROGRAM_ID,
} from "@solana/spl-token";
import {
  AddressLookupTableProgram,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  VersionedTransaction,
} from "@solana/web3.js";
import bs58 from "bs58";
import { describe, expect } from "vitest";
import { addressOf, type Address } from "../../../src/core/address.ts";
import type { Signer } from "../../../src/ledger/sign-transaction.ts";
import { markerOwner } from "../../../src/solana/derived-addresses.ts";
import { MEMO_PROGRAM } from "../../../src/solana/programs.ts";
import { keyOf, signed } from "../signed-transaction.ts";
import { RATE, type OrderFixture } from "./order-fixture.ts";
import { sharedOrderTest as test } from "./order-test.ts";
import type { Party } from "./routing-fixture.ts";

const SOL = 1_000_000_000n;
const USDC = 1_000_000n;

/** What a second attempt at a standing marker is told. */
const STANDS = { at: { move: 0, step: "allocate" }, account: null, error: { custom: 0 } };

const ownerOf = ({ address }: Pick<Signer, "address">): PublicKey => new PublicKey(markerOwner(address));

/** The error of instructions that somebody signs by hand, as JSON; null when it succeeded, and where it did not land, that. */
async function byHand(
  world: OrderFixture,
  instructions: readonly TransactionInstruction[],
  ...signers: readonly Party[]
): Promise<string | null> {
  const bytes = Buffer.from(await signed(world, { signers, instructions }), "base64");
  const [first] = VersionedTransaction.deserialize(bytes).signatures;
  await world.ledger.broadcast(bytes);
  world.chain.advance(33);
  const [status] = await world.ledger.statuses([bs58.encode(first ?? new Uint8Array())]);
  return status === null || status === undefined ? "did not land" : status.error;
}

/** Allocates the account of a seed without paying its rent. */
function allocationOf(order: Party, owner: PublicKey, seed = "0"): TransactionInstruction {
  const base = keyOf(order);
  const hash = createHash("sha256").update(base.toBytes()).update(seed).update(owner.toBytes()).digest();
  const accountPubkey = new PublicKey(hash);
  return SystemProgram.allocate({ accountPubkey, basePubkey: base, seed, space: 0, programId: owner });
}

/** 2 USDC of the order's. */
function transferOf({ ata, mints }: OrderFixture, order: Party, to: Address): TransactionInstruction {
  const [source, mint, destination] = [ata(order.address), new PublicKey(mints.USDC), ata(to)];
  return createTransferCheckedInstruction(source, mint, destination, keyOf(order), 2n * USDC, 6);
}

describe("where markers lie", () => {
  test("K3, C40: owner and addresses follow from the order's address alone, as a stranger would compute them", ({
    world,
  }) => {
    const order = addressOf(Uint8Array.from({ length: 32 }, (_, index) => index + 1));
    expect(order).toBe("4wBqpZM9xaSheZzJSMawUKKwhdpChKbZ5eu5ky4Vigw");
    expect(markerOwner(order)).toBe("CHePvhvbm1MRk85UnWTkkAHiHVvHu39Ffey7p1iWqi7M");
    expect(["0", "1", "r0"].map((seed) => world.ledger.markerOf(order, seed))).toEqual([
      "2f66XNbZkenbecJbGY55HnpRiWieEXCSfXZVzJDuCYM3",
      "DfdfF9JRja3BHDJEppCWTXstZ36n6sPCWMUcu1D5K1zp",
      "HwtTsi3CvobHacCSLyL4ZDkErvukK4bozF64PeYPAkLo",
    ]);
  });

  test("it is where the chain itself puts an account of that base, seed and owner", async ({ world }) => {
    const { address } = world.party();
    for (const seed of ["0", "7", "71", "999", "r0", "r9"]) {
      const derived = await PublicKey.createWithSeed(keyOf({ address }), seed, ownerOf({ address }));
      expect(world.ledger.markerOf(address, seed)).toBe(derived.toBase58());
    }
  });

  test("C39: a seed of another spelling, or the eleventh redirect, is a RangeError: it would be another lock", ({
    world,
  }) => {
    for (const seed of ["", "00", "01", "-1", "1.0", "r10", "r", "R0", " 0", "0 ", "order", "1000"]) {
      expect(() => world.ledger.markerOf(world.sponsor.address, seed), seed).toThrow(RangeError);
    }
  });
});

describe("K1: whoever makes the marker first has decided", () => {
  test("C6: of outcomes that are signed at once one lands, and none of the others pays, whenever they were signed", async ({
    world,
  }) => {
    const { buy, usdc, party, nobody, signed: sign, send, units, markersOf } = world;
    const order = party({ usdc: 30n * USDC });
    const [a, b, c] = [nobody(), nobody(), nobody()];
    const pay = (...to: readonly (typeof a)[]) => to.map((each) => usdc(order, each, 2n * USDC));
    const ways = {
      all: [buy(order, "0"), ...pay(a, b, c)],
      withoutB: [buy(order, "0", { length: 4 }), ...pay(a, c)],
      nobody: [buy(order, "0", { length: 1 })],
    };
    const [all, withoutB, none] = [
      await sign(ways.all, order),
      await sign(ways.withoutB, order),
      await sign(ways.nobody, order),
    ];
    expect(await send(withoutB, ways.withoutB)).toBeNull();
    expect(await send(all, ways.all)).toMatchObject(STANDS);
    expect(await send(none, ways.nobody)).toMatchObject(STANDS);
    for (const way of [ways.all, ways.withoutB, ways.nobody]) {
      expect(await world.carry(way, order)).toMatchObject({ tried: STANDS, landed: STANDS });
    }
    expect([await units(a), await units(b), await units(c)]).toEqual([2n * USDC, 0n, 2n * USDC]);
    expect(await markersOf(order, "0")).toEqual([4]);
  });

  test("C7: once the go stands another copy's no-go is refused, chunk 1 pays, and its giving up is refused; the other way round nobody is paid", async ({
    world,
  }) => {
    const { buy, usdc, party, nobody, signed: sign, send, units, markersOf } = world;
    const noGo = { length: 1 } as const;
    for (const isGoFirst of [true, false]) {
      const order = party({ usdc: 30n * USDC });
      const [a, b] = [nobody(), nobody()];
      const pays = ["0", "1"].map((seed, k) => [buy(order, seed), usdc(order, k === 0 ? a : b, USDC)]);
      const refuses = ["0", "1"].map((seed) => [buy(order, seed, noGo)]);
      const [firsts, seconds] = isGoFirst ? [pays, refuses] : [refuses, pays];
      for (const [k, first] of firsts.entries()) {
        const second = seconds[k] ?? [];
        const [wins, loses] = [await sign(first, order), await sign(second, order)];
        expect(await send(wins, first)).toBeNull();
        expect(await send(loses, second)).toMatchObject(STANDS);
      }
      const [got, length] = isGoFirst ? [USDC, 0] : [0n, 1];
      expect([await units(a), await units(b)]).toEqual([got, got]);
      expect(await markersOf(order, "0", "1")).toEqual([length, length]);
    }
  });

  test("C16: of two prices of a swap one is paid, and the refusal that was signed beside them is refused", async ({
    world,
  }) => {
    const { buy, usdc, sol, party, signed: sign, send, lamports } = world;
    const order = party({ usdc: 10_100_000n });
    const [desk, payee] = [party({ lamports: 9n * SOL, usdc: 5n }), party({ lamports: SOL })];
    const treasury = party({ usdc: 1n });
    const swap = (out: bigint) => [
      buy(order, "0"),
      usdc(order, treasury.address, 100_000n),
      usdc(order, desk.address, 10n * USDC),
      sol(desk, payee.address, out),
    ];
    const refusal = [buy(order, "0", { length: 1 })];
    const [one, two, none] = [
      await sign(swap(60_000_000n), order, desk),
      await sign(swap(61_000_000n), order, desk),
      await sign(refusal, order),
    ];
    expect(await send(one, swap(60_000_000n))).toBeNull();
    expect(await send(two, swap(61_000_000n))).toMatchObject(STANDS);
    expect(await send(none, refusal)).toMatchObject(STANDS);
    expect(await lamports(payee.address)).toBe(SOL + 60_000_000n);
  });

  test("C20: marker and payments come and go together with a fork, and the same bytes land again", async ({
    world,
  }) => {
    const { buy, usdc, party, signed: sign, ledger, chain, units, look, mints } = world;
    const order = party({ usdc: 2n * USDC });
    const payee = party({ usdc: 1n });
    const moves = [buy(order, "0"), usdc(order, payee.address, 2n * USDC)];
    chain.advance(40);
    const { bytes } = await sign(moves, order);
    const slot = chain.slot();
    chain.advance(2);
    await ledger.broadcast(bytes);
    chain.advance(3);
    const query = { address: order.address, mints: [mints.USDC], owners: [], seeds: ["0"] };
    expect((await ledger.readOrder(query, "confirmed")).markers).toEqual([0]);
    chain.rollback(slot);
    chain.advance(40);
    expect((await look(order, ["0"])).markers).toEqual([null]);
    expect(await units(payee.address)).toBe(1n);
    await ledger.broadcast(bytes);
    chain.advance(40);
    expect([(await look(order, ["0"])).markers, await units(payee.address)]).toEqual([[0], 1n + 2n * USDC]);
  });

  test("K3: a marker of another owner is another lock, so the owner may never change: it would pay twice", async ({
    world,
  }) => {
    const { buy, usdc, party, must, units, rent, sponsor } = world;
    const order = party({ usdc: 5n * USDC });
    const payee = party({ usdc: 1n });
    await must([buy(order, "0"), usdc(order, payee.address, 2n * USDC)], order);
    const other = new PublicKey("1nc1nerator11111111111111111111111111111111");
    const allocate = allocationOf(order, other);
    const toPubkey = await PublicKey.createWithSeed(keyOf(order), "0", other);
    const fund = SystemProgram.transfer({ fromPubkey: keyOf(sponsor), toPubkey, lamports: rent() });
    const moves = [allocate, fund, transferOf(world, order, payee.address)];
    expect(await byHand(world, moves, sponsor, order)).toBeNull();
    expect(await units(payee.address)).toBe(1n + 4n * USDC);
  });

  test("K8: a chunk is given up by a marker of length 1, after which it pays nobody; six fit in one transaction", async ({
    world,
  }) => {
    const { buy, usdc, party, nobody, must, carry, units, markersOf } = world;
    const order = party({ usdc: 5n * USDC });
    const payee = nobody();
    await must([buy(order, "0", { length: 2 })], order);
    const chunks = ["1", "2", "3", "4", "5", "6"];
    const { size } = await must(
      chunks.map((seed) => buy(order, seed, { length: 1 })),
      order,
    );
    expect(size).toBeLessThanOrEqual(1_232);
    for (const seed of ["0", ...chunks]) {
      expect((await carry([buy(order, seed), usdc(order, payee, USDC)], order)).landed).toMatchObject(STANDS);
    }
    expect(await units(payee)).toBe(0n);
    expect(await markersOf(order, "0", ...chunks, "7")).toEqual([2, 1, 1, 1, 1, 1, 1, null]);
    await must([buy(order, "7"), usdc(order, payee, USDC)], order);
  });

  test("C28: a thief with the order's key can make a marker, which decides as any other", async ({
    world,
  }) => {
    const { buy, usdc, party, must, carry, markersOf } = world;
    const order = party({ usdc: 5n * USDC });
    const [thief, payee] = [party({ lamports: SOL, usdc: 1n }), party({ usdc: 1n })];
    const forged = { ...buy(order, "0"), payer: thief.address };
    await must([forged, usdc(order, thief.address, 5n * USDC)], order, thief);
    expect(await markersOf(order, "0")).toEqual([0]);
    expect((await carry([buy(order, "0"), usdc(order, payee.address, 1n)], order)).landed).toMatchObject(
      STANDS,
    );
  });
});

describe("K2: the rent goes with the marker", () => {
  test("C4: of no lamports it is refused before it is built: such a marker is gone at the end of its transaction, and pays again", async ({
    world,
  }) => {
    const { buy, usdc, party, ledger, plan, units, sponsor } = world;
    const order = party({ usdc: 10n * USDC });
    const payee = party({ usdc: 1n });
    for (const lamports of [0n, -1n]) {
      const moves = plan(buy(order, "0", { lamports }), usdc(order, payee.address, 2n * USDC));
      await expect(ledger.buildTransaction(moves)).rejects.toThrow(RangeError);
      await expect(ledger.sizeOf(moves)).rejects.toThrow(RangeError);
    }
    // What the chain would do with it, signed by hand.
    const allocate = allocationOf(order, ownerOf(order));
    const transfer = transferOf(world, order, payee.address);
    for (let time = 0; time < 2; time += 1) {
      expect(await byHand(world, [allocate, transfer], sponsor, order)).toBeNull();
    }
    expect(await units(payee.address)).toBe(1n + 4n * USDC);
  });

  test("C4: the chain refuses one lamport, half, and one less than the rent; ten times the rent lands once", async ({
    world,
  }) => {
    const { buy, usdc, party, carry, must, rent, units, lamports, ledger } = world;
    const order = party({ usdc: 10n * USDC });
    const payee = party({ usdc: 1n });
    const pay = (each: bigint) => [
      buy(order, "0", { lamports: each }),
      usdc(order, payee.address, 2n * USDC),
    ];
    const marker = ledger.markerOf(order.address, "0");
    for (const few of [1n, rent() / 2n, rent() - 1n]) {
      const fault = { at: { move: 0, step: "fund" }, account: marker, error: "rent" };
      expect(await carry(pay(few), order)).toMatchObject({ tried: fault, landed: fault });
    }
    expect(await world.markersOf(order, "0")).toEqual([null]);
    await must(pay(10n * rent()), order);
    expect(await lamports(marker)).toBe(10n * rent());
    expect((await carry(pay(rent()), order)).landed).toMatchObject(STANDS);
    expect(await units(payee.address)).toBe(1n + 2n * USDC);
  });

  test("a length outside 0 … 8,192 is a RangeError: the library would encode another", async ({ world }) => {
    const { buy, party, ledger, plan } = world;
    const order = party({ usdc: 1n });
    for (const length of [-1, 8_193, 1.5, Number.NaN, 2 ** 53]) {
      const moves = plan(buy(order, "0", { length, lamports: 1n }));
      await expect(ledger.buildTransaction(moves), String(length)).rejects.toThrow(RangeError);
    }
    for (const seed of ["", "00", "r10", "order"]) {
      const moves = plan({ ...buy(order, "0"), seed } as never);
      await expect(ledger.sizeOf(moves), seed).rejects.toThrow(RangeError);
    }
  });

  test("its cost is said beforehand: the network's fee of two signatures; the rent is the move's own", async ({
    world,
  }) => {
    const { buy, party, ledger, plan, must, lamports, sponsor, rent } = world;
    const order = party({ usdc: USDC });
    const moves = plan(buy(order, "0", { length: 128 }));
    const fee = await ledger.feeOf(moves, "estimate");
    const unsigned = await ledger.buildTransaction(moves);
    expect(unsigned.networkFee).toBe(fee);
    expect(fee - unsigned.priorityFee).toBe(10_000n);
    const before = await lamports(sponsor.address);
    await must(moves.moves, order);
    expect(before - (await lamports(sponsor.address))).toBe(fee + rent(128));
  });

  test("C34: a standing marker refuses whatever rent becomes; a new one takes the rent of its day", async ({
    world,
  }) => {
    const { buy, party, carry, must, reprice, rent, ledger } = world;
    const order = party({ usdc: 1n });
    await must([buy(order, "0")], order);
    const yesterday = rent();
    try {
      reprice(20_000n);
      expect((await carry([buy(order, "0")], order)).landed).toMatchObject(STANDS);
      expect((await carry([buy(order, "1", { lamports: yesterday })], order)).landed).toMatchObject({
        account: ledger.markerOf(order.address, "1"),
        error: "rent",
      });
      await must([buy(order, "1")], order);
    } finally {
      reprice(RATE);
    }
  });

  test("M1, M4, C5: lamports before, with and after it do no harm, and make no marker of themselves", async ({
    world,
  }) => {
    const { buy, party, carry, must, give, rent, account, ledger, markersOf, rich } = world;
    const order = party({ usdc: 1n, lamports: SOL });
    const marker = ledger.markerOf(order.address, "0");
    give(marker, { lamports: rent() });
    expect(await markersOf(order, "0")).toEqual([null]);
    await must([buy(order, "0", { length: 7 })], order);
    const both = rent() + rent(7);
    expect(await account(marker)).toEqual({ owner: markerOwner(order.address), length: 7, lamports: both });
    give(marker, { lamports: 1n });
    expect((await carry([buy(order, "0")], order)).landed).toMatchObject(STANDS);
    expect(await markersOf(order, "0")).toEqual([7]);
    // Too little for an account is refused; enough for one lets a marker stand that brings no rent of its own.
    const unmade = new PublicKey(ledger.markerOf(order.address, "r0"));
    const dust = (lamports: bigint) =>
      SystemProgram.transfer({ fromPubkey: keyOf(rich), toPubkey: unmade, lamports });
    expect(await byHand(world, [dust(5n)], rich)).toContain("InsufficientFundsForRent");
    expect(await byHand(world, [dust(rent())], rich)).toBeNull();
    expect(await byHand(world, [allocationOf(order, ownerOf(order), "r0")], order)).toBeNull();
    expect(await markersOf(order, "r0")).toEqual([0]);
  });
});

/** Every way that we know to closing, move, empty, reassign or use an account. */
function attacks(
  world: OrderFixture,
  order: Party,
  stranger: Party,
): ReadonlyMap<string, TransactionInstruction> {
  const [D, X] = [keyOf(order), keyOf(stranger)];
  const M = new PublicKey(world.ledger.markerOf(order.address, "0"));
  const mint = new PublicKey(world.mints.USDC);
  const SOL_MINT = new PublicKey("So11111111111111111111111111111111111111112");
  const [BLOCKHASHES, RENT] = [
    new PublicKey("SysvarRecentB1ockHashes11111111111111111111"),
    new PublicKey("SysvarRent111111111111111111111111111111111"),
  ];
  type Key = readonly [pubkey: PublicKey, isSigner?: boolean, isWritable?: boolean];
  const raw = (programId: PublicKey, data: Uint8Array | readonly number[], ...keys: readonly Key[]) =>
    new TransactionInstruction({
      programId,
      data: Buffer.from(data),
      keys: keys.map(([pubkey, isSigner = false, isWritable = false]) => ({ pubkey, isSigner, isWritable })),
    });
  const one = [1, 0, 0, 0, 0, 0, 0, 0];
  const seeded = { basePubkey: D, seed: "0", programId: ownerOf(order) };
  const allocate = (space: number, programId = ownerOf(order)) =>
    SystemProgram.allocate({ ...seeded, accountPubkey: M, space, programId });
  const assign = (programId: PublicKey) => SystemProgram.assign({ ...seeded, accountPubkey: M, programId });
  const takeOut = (lamports: number) =>
    SystemProgram.transfer({ ...seeded, fromPubkey: M, toPubkey: D, lamports });
  const stake = "Stake11111111111111111111111111111111111111";
  const [clock, history] = [
    new PublicKey("SysvarC1ock11111111111111111111111111111111"),
    new PublicKey("SysvarStakeHistory1111111111111111111111111"),
  ];
  const loader = new PublicKey("BPFLoaderUpgradeab1e11111111111111111111111");
  const close2022 = createCloseAccountInstruction(M, D, D, [], TOKEN_2022_PROGRAM_ID);
  return new Map([
    ["allocate it for System", allocate(5, SystemProgram.programId)],
    ["allocate it to 0 bytes", allocate(0)],
    ["allocate it to 10 MiB", allocate(10 << 20)],
    ["assign it to its owner", assign(ownerOf(order))],
    ["assign it to System", assign(SystemProgram.programId)],
    [
      "create it over again",
      SystemProgram.createAccountWithSeed({
        ...seeded,
        fromPubkey: D,
        newAccountPubkey: M,
        lamports: 1,
        space: 5,
      }),
    ],
    [
      "create it as its own signer",
      raw(SystemProgram.programId, createPrefunded(), [M, false, true], [D, true, true]),
    ],
    ["transfer out of it", takeOut(1)],
    ["transfer nothing out of it", takeOut(0)],
    [
      "make it a nonce",
      raw(SystemProgram.programId, [6, 0, 0, 0, ...D.toBytes()], [M, false, true], [BLOCKHASHES], [RENT]),
    ],
    ["upgrade it as a nonce", raw(SystemProgram.programId, [12, 0, 0, 0], [M, false, true])],
    [
      "withdraw from it as a nonce",
      raw(
        SystemProgram.programId,
        [5, 0, 0, 0, ...one],
        ...([[M, false, true], [D, false, true], [BLOCKHASHES], [RENT], [D, true]] as const),
      ),
    ],
    ["close it as a token account", createCloseAccountInstruction(M, D, D)],
    ["close it as an account of Token-2022", close2022],
    ["open it as a token account", createInitializeAccount3Instruction(M, SOL_MINT, D)],
    ["open it as a mint", createInitializeMint2Instruction(M, 6, D, null)],
    ["open it as a multisig", createInitializeMultisigInstruction(M, [D], 1)],
    ["wrap its lamports", createSyncNativeInstruction(M)],
    ["hand it over", createSetAuthorityInstruction(M, D, AuthorityType.AccountOwner, X)],
    [
      "withdraw its excess lamports",
      raw(TOKEN_2022_PROGRAM_ID, [38], [M, false, true], [D, false, true], [D, true]),
    ],
    [
      "make it longer",
      raw(
        TOKEN_2022_PROGRAM_ID,
        [29],
        [M, false, true],
        [D, true, true],
        [SystemProgram.programId],
        [D, true],
      ),
    ],
    ["name it in a memo", raw(new PublicKey(MEMO_PROGRAM), Buffer.from("hi"), [M, false, true])],
    ["call its owner as a program", raw(ownerOf(order), [0], [M, false, true], [D, true])],
    [
      "withdraw it as a stake",
      raw(
        new PublicKey(stake),
        [4, 0, 0, 0, ...one],
        ...([[M, false, true], [D, false, true], [clock], [history], [D, true]] as const),
      ),
    ],
    ["close it as a program", raw(loader, [5, 0, 0, 0], [M, false, true], [D, false, true], [D, true])],
    [
      "close it as a lookup table",
      AddressLookupTableProgram.closeLookupTable({ lookupTable: M, authority: D, recipient: D }),
    ],
    ["use it as somebody's token account", createAssociatedTokenAccountIdempotentInstruction(D, M, X, mint)],
  ]);
}

/** System instruction 13, which creates an account where lamports lie already: the account would have to sign. */
function createPrefunded(): Buffer {
  const data = Buffer.alloc(52);
  data.writeUInt32LE(13, 0);
  data.writeBigUInt64LE(1n, 4);
  return data;
}

test("K1: none of 27 ways to undo a marker works, signed by its own key or as if it were by a stranger's", async ({
  world,
}) => {
  const { buy, party, must, account, ledger, carry, nobody, usdc } = world;
  const order = party({ lamports: 5n * SOL, usdc: 10n * USDC });
  const stranger = party({ lamports: 5n * SOL, usdc: USDC });
  await must([buy(order, "0", { length: 5 })], order);
  const marker = ledger.markerOf(order.address, "0");
  const before = await account(marker);
  const ways = attacks(world, order, stranger);
  expect(ways.size).toBe(27);
  for (const [name, instruction] of ways) {
    const signsForOrder = instruction.keys.some(
      ({ isSigner, pubkey }) => isSigner && pubkey.equals(keyOf(order)),
    );
    await byHand(world, [instruction], order);
    if (!signsForOrder) await byHand(world, [instruction], stranger);
    expect(await account(marker), name).toEqual(before);
  }
  expect((await carry([buy(order, "0"), usdc(order, nobody(), USDC)], order)).landed).toMatchObject(STANDS);
});
