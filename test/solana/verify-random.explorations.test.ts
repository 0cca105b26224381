/** Flipped bits, noise, and transactions put together at random by a sender who signs them, all refused (W2, W3). */
import { PublicKey, SystemProgram, type AddressLookupTableAccount } from "@solana/web3.js";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { DeclaredPayment, VerifiedPayment } from "../../src/ledger/ledger.ts";
import { joinTransaction, splitTransaction } from "../../src/ledger/wire-format.ts";
import type { Wallet } from "../kit/chain-fixture.ts";
import { byDepth } from "../kit/thorough.ts";
import { signedVersion1 } from "../kit/version-1.ts";
import { elapsed } from "./scripted-node.ts";
import {
  keyOf,
  land,
  rawMessage,
  rawVersion1,
  signatureOf,
  signed,
  u32,
  verdict,
  wire,
} from "./signed-transaction.ts";
import { AMOUNT, verifyScene, type VerifyScene } from "./verify-scene.ts";
import { withinBudget } from "../kit/exploration-budget.ts";

let scene: VerifyScene;
let table: AddressLookupTableAccount;

beforeAll(async () => {
  scene = await verifyScene();
  const { alice, bob, ata, mints } = scene;
  table = await scene.table([keyOf(bob), ata(bob), ata(alice), new PublicKey(mints.USDC)]);
  // Whoever holds no token account yet pays rent for it, which is no transfer.
  const create = [mints.USDC, mints.USDT].map((mint) => scene.createAta({ mint }));
  await land(scene, { signers: [alice], instructions: create });
});
beforeEach(() => scene.chain.advance(1));
afterAll(() => scene.close());

const MANY = byDepth({ quick: 150, ci: 10_000, long: 10_000 });
// Ten thousand signatures are verified; a busy machine takes its time.
const TIMEOUT = 120_000;

interface Specimen {
  readonly payment: DeclaredPayment;
  readonly bytes: Buffer;
}

/** An honest payment in each asset and each format. */
async function specimens(): Promise<Specimen[]> {
  const { alice, sol, usdc, usdt, honest } = scene;
  const made = [sol, usdc, usdt].flatMap((payment) => {
    const signing = { signers: [alice], instructions: honest(payment) };
    const texts = [
      signed(scene, signing),
      signed(scene, { ...signing, tables: [table] }),
      signedVersion1(scene, signing),
    ];
    return texts.map(async (text) => ({ payment, bytes: Buffer.from(await text, "base64") }));
  });
  return Promise.all(made);
}

const messageOf = ({ bytes }: Specimen): Buffer => Buffer.from(splitTransaction(bytes)?.message ?? []);

/** The message signed by Alice, as its own version is written. */
const signedMessage = (message: Uint8Array): string =>
  Buffer.from(joinTransaction(message, [signatureOf(message, scene.alice)])).toString("base64");

const flipped = (bytes: Buffer, bit: number): Buffer => {
  const bent = Buffer.from(bytes);
  bent.writeUInt8(bent.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
  return bent;
};

test(
  "W2: of many random bit flips none is accepted, in any asset and any format",
  async () => {
    const all = await specimens();
    for (const { payment, bytes } of all) {
      expect(await verdict(scene.ledger, bytes.toString("base64"), payment)).toBe("accepted");
    }
    const flip = fc.nat({ max: all.length - 1 }).chain((which) =>
      fc.record({
        which: fc.constant(which),
        bit: fc.nat({ max: (all[which]?.bytes.length ?? 1) * 8 - 1 }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(flip, async ({ which, bit }) => {
        const { payment, bytes } = all[which] ?? { payment: scene.sol, bytes: Buffer.alloc(1) };
        expect(await verdict(scene.ledger, flipped(bytes, bit).toString("base64"), payment)).not.toBe(
          "accepted",
        );
      }),
      { numRuns: MANY, plugins: [withinBudget()] },
    );
  },
  TIMEOUT,
);

test(
  "W2: of many random blobs none is accepted and none makes it throw, signed ones among them",
  async () => {
    const { alice, sol, usdc } = scene;
    const version1 = Buffer.from([0x81, 1, 0, 0, 0b01100, 0, 0, 0]);
    const kinds = [
      (noise: Buffer) => noise,
      // One signature's place before the noise lets it reach the message decoder.
      (noise: Buffer) => Buffer.concat([Buffer.from([1]), Buffer.alloc(64, 1), noise]),
      (noise: Buffer) => Buffer.from(wire(noise, [signatureOf(noise, alice)]), "base64"),
      // A header, a count and the sender lead it to the accounts; a version before them, to the lookups.
      (noise: Buffer) => signedBy(alice, Buffer.concat([headed([1, 0, 0, 2]), noise])),
      (noise: Buffer) => signedBy(alice, Buffer.concat([headed([0x80, 1, 0, 0, 2]), noise])),
      (noise: Buffer) => Buffer.from(signedMessage(Buffer.concat([version1, noise])), "base64"),
      // A whole message whose instructions are noise.
      (noise: Buffer) =>
        signedBy(
          alice,
          Buffer.concat([headed([1, 0, 0, 2]), keyOf(alice).toBuffer().fill(7), Buffer.alloc(32, 9), noise]),
        ),
    ];
    const headed = (bytes: number[]): Buffer => Buffer.from([...bytes, ...keyOf(alice).toBytes()]);
    const blob = fc.record({ kind: fc.constantFrom(...kinds), noise: fc.uint8Array({ maxLength: 1_300 }) });
    await fc.assert(
      fc.asyncProperty(blob, fc.constantFrom(sol, usdc), async ({ kind, noise }, payment) => {
        const text = kind(Buffer.from(noise)).toString("base64");
        expect(await verdict(scene.ledger, text, payment)).not.toBe("accepted");
      }),
      { numRuns: MANY, plugins: [withinBudget()] },
    );
  },
  TIMEOUT,
);

const signedBy = (signer: Wallet, message: Buffer): Buffer =>
  Buffer.from(wire(message, [signatureOf(message, signer)]), "base64");

/** What somebody holds: lamports, and each mint's units. */
async function holdingsOf({ address }: Wallet): Promise<ReadonlyMap<string | null, bigint>> {
  const { lamports, holdings } = await scene.ledger.balances(address);
  return new Map<string | null, bigint>([
    [null, lamports],
    ...holdings.map(({ mint, amount }) => [mint, amount] as const),
  ]);
}

/** Lands verified bytes. Whether they succeed or fail, nothing but the payment has moved and the fee been paid. */
async function expectOnlyThePayment(verified: VerifiedPayment, payment: DeclaredPayment): Promise<void> {
  const people = [scene.alice, scene.bob, scene.mallory];
  const before = await Promise.all(people.map(holdingsOf));
  await scene.ledger.broadcast(verified.bytes);
  scene.chain.advance(2);
  const after = await Promise.all(people.map(holdingsOf));
  const [status] = await scene.ledger.statuses([verified.signature]);
  const moved = status?.error === null ? AMOUNT : 0n;
  for (const mint of [null, scene.mints.USDC, scene.mints.USDT]) {
    const [alices = 0n, bobs = 0n, mallorys = 0n] = after.map(
      (held, index) => (held.get(mint) ?? 0n) - (before[index]?.get(mint) ?? 0n),
    );
    const expected = mint === payment.mint ? moved : 0n;
    const fee = mint === null ? -alices - expected : 0n;
    expect([alices, bobs, mallorys]).toEqual([-expected - fee, expected, 0n]);
    expect([0n, 5_000n]).toContain(fee);
  }
}

test(
  "W3: whatever byte of a payment its own sender changes by a bit, only the declared amount can move",
  async () => {
    let judged = 0;
    let accepted = 0;
    for (const { payment, ...specimen } of await specimens()) {
      const whole = messageOf({ payment, ...specimen });
      for (let at = 0; at < whole.length; at += 1) {
        const message = flipped(whole, at * 8 + (at % 8));
        const verifying = scene.ledger.verifyPayment(signedMessage(message), payment);
        // A blockhash that no node knows is asked for again for two seconds.
        await elapsed(scene.clock, verifying, 500);
        const answer = await verifying;
        judged += 1;
        if ("refused" in answer) continue;
        accepted += 1;
        await expectOnlyThePayment(answer.verified, payment);
      }
    }
    // Some bits only say which accounts are writable, or how much version 1 may compute and load.
    expect(accepted).toBeGreaterThan(0);
    expect(accepted / judged).toBeLessThan(0.03);
  },
  TIMEOUT,
);

test(
  "W3: of many transactions put together at random from an honest one's pieces, only the declared amount can move",
  async () => {
    const { alice, bob, mallory, ata, mints, usdc } = scene;
    const token = scene.payToken();
    const create = scene.createAta();
    const keys = [
      keyOf(alice),
      ata(alice),
      ata(bob),
      ata(mallory),
      keyOf(bob),
      keyOf(mallory),
      new PublicKey(mints.USDC),
      SystemProgram.programId,
      token.programId,
      create.programId,
    ];
    const at = (key: PublicKey): number => keys.findIndex((each) => each.equals(key));
    const honest = [create, token].map(({ programId, keys: metas, data }) => ({
      program: at(programId),
      accounts: metas.map(({ pubkey }) => at(pubkey)),
      data: [...data],
    }));
    const piece = fc.constantFrom(...honest);
    const bent = fc
      .record({ piece, at: fc.nat({ max: 6 }), to: fc.nat({ max: keys.length - 1 }) })
      .map((change) => ({
        ...change.piece,
        accounts: change.piece.accounts.map((index, place) => (place === change.at ? change.to : index)),
      }));
    const program = fc.record({ piece, program: fc.integer({ min: 7, max: 9 }) }).map((change) => ({
      ...change.piece,
      program: change.program,
    }));
    const list = fc.array(fc.oneof({ weight: 3, arbitrary: piece }, bent, program), {
      minLength: 1,
      maxLength: 3,
    });
    const blockhash = await scene.blockhash();
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(list, fc.nat({ max: 4 }), fc.boolean(), async (instructions, readonly, isLater) => {
        const parts = { header: [1, 0, readonly] as const, keys, blockhash, instructions };
        const settings = { mask: 0b01100, values: [...u32(400_000), ...u32(64 * 1024 * 1024)] };
        const message = isLater ? rawVersion1({ ...parts, ...settings }) : rawMessage(parts);
        const answer = await scene.ledger.verifyPayment(signedMessage(message), usdc);
        if ("refused" in answer) return;
        accepted += 1;
        const seen = await scene.ledger.statuses([answer.verified.signature]);
        if (seen[0] === null) await expectOnlyThePayment(answer.verified, usdc);
      }),
      // The honest one itself is the first, however little time there is.
      { numRuns: MANY / 10, examples: [[honest, 0, false]], plugins: [withinBudget()] },
    );
    expect(accepted).toBeGreaterThan(0);
  },
  TIMEOUT,
);
