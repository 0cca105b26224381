/** How much work a hostile transaction can cause, counted and not timed: one body must not hold up the rest (H21). */
import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519";
import { PublicKey, SystemProgram } from "@solana/web3.js";
import { afterEach, expect, vi } from "vitest";
import type { Address } from "../../src/core/address.ts";
import type { DeclaredPayment } from "../../src/ledger/ledger.ts";
import { associatedTokenAddress } from "../../src/local/funding.ts";
import { oddEndpoint } from "../kit/odd-endpoints.ts";
import { keyOf, rawMessage, signatureOf, signed, verdict, wire } from "./signed-transaction.ts";
import { instruction, type VerifyScene } from "./verify-scene.ts";
import { verifyTest as test } from "./verify-test.ts";
afterEach(() => void vi.restoreAllMocks());

const MEMO = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
const strangers = (count: number): PublicKey[] =>
  Array.from(
    { length: count },
    (_, index) => new PublicKey(createHash("sha256").update(`nobody has asked for ${index} yet`).digest()),
  );
const paying = (scene: VerifyScene, keys: readonly PublicKey[]): DeclaredPayment => ({
  ...scene.usdc,
  transfers: keys.map((key) => ({ recipient: key.toBase58() as Address, amount: 1n })),
});

test("H21: text longer than any transaction's is too_large without being decoded, whatever it holds", async ({
  scene,
}) => {
  const from = vi.spyOn(Buffer, "from");
  const texts = ["A", "1", "=", " ", "\u{1F4B8}", "AB\n="].map((unit) => unit.repeat(65_536 / unit.length));
  for (const text of texts) {
    expect(await verdict(scene.ledger, text, scene.sol)).toBe("too_large");
    expect(from.mock.calls.filter(([input]) => (input as unknown) === text)).toEqual([]);
  }
});

test("H21: no node is asked before the bytes are a transaction that the sender has signed", async ({
  scene,
}) => {
  const { calls: asked, option } = oddEndpoint(scene.chain, "local");
  const ledger = scene.ledgerOf([option]);
  const { alice, mallory, sol, usdc, paySol } = scene;
  const good = await signed(scene, { signers: [alice], instructions: [paySol()] });
  const message = Buffer.from(good, "base64").subarray(65);
  const refused: [string, string][] = [
    ["not_base64", `${good} `],
    ["too_large", "A".repeat(2_000)],
    ["undecodable", good.slice(0, 40)],
    ["missing_signature", wire(message, [Buffer.alloc(64)])],
    ["bad_signature", wire(message, [signatureOf(message, mallory)])],
    [
      "sender_not_signer",
      await signed(scene, { signers: [mallory], instructions: [paySol({ from: mallory })] }),
    ],
    ["content_mismatch", await signed(scene, { signers: [alice], instructions: [paySol({ amount: 1n })] })],
    [
      "instruction_not_allowed",
      await signed(scene, { signers: [alice], instructions: [instruction(mallory.address, [])] }),
    ],
  ];
  for (const [reason, text] of refused) expect(await verdict(ledger, text, sol)).toBe(reason);
  expect(await verdict(ledger, good, usdc)).toBe("content_mismatch");
  expect(asked).toEqual([]);
});

test("H21: a transaction of one transfer derives nothing for 500 declared recipients", async ({ scene }) => {
  const text = await signed(scene, { signers: [scene.alice], instructions: [scene.payToken()] });
  const payment = paying(scene, strangers(500));
  const derive = vi.spyOn(ed25519.Point, "fromHex");
  expect(await verdict(scene.ledger, text, payment)).toBe("content_mismatch");
  expect(derive).not.toHaveBeenCalled();
});

test("H21: the token accounts of 50 recipients, packed by a lookup table, are derived a few at a time", async ({
  scene,
}) => {
  const recipients = strangers(50);
  const payment = paying(scene, recipients);
  const accounts = recipients.map(
    (key) => new PublicKey(associatedTokenAddress(key.toBase58(), scene.mints.USDC)),
  );
  const table = await scene.table(accounts);
  const instructions = accounts.map((to) => scene.payToken({ to, amount: 1n }));
  const text = await signed(scene, { signers: [scene.alice], instructions, tables: [table] });
  let turn = 0;
  let isCounting = true;
  const count = (): void => {
    turn += 1;
    if (isCounting) setImmediate(count);
  };
  const derivedInTurn = new Map<number, number>();
  const { fromHex } = ed25519.Point;
  vi.spyOn(ed25519.Point, "fromHex").mockImplementation((...bytes) => {
    try {
      return fromHex.apply(ed25519.Point, bytes);
    } catch (error) {
      // A derivation ends with the first hash that is no point.
      derivedInTurn.set(turn, (derivedInTurn.get(turn) ?? 0) + 1);
      throw error;
    }
  });
  count();
  expect(await verdict(scene.ledger, text, payment)).toBe("accepted");
  isCounting = false;
  const most = Math.max(...derivedInTurn.values());
  const all = [...derivedInTurn.values()].reduce((sum, derived) => sum + derived, 0);
  expect(all).toBeGreaterThanOrEqual(50);
  expect(most).toBeLessThanOrEqual(9);
});

test("H21: a thousand indices that refer to three accounts spell each account once", async ({ scene }) => {
  const { alice, bob, sol, paySol } = scene;
  const message = rawMessage({
    header: [1, 0, 2],
    keys: [keyOf(alice), keyOf(bob), SystemProgram.programId, new PublicKey(MEMO)],
    blockhash: await scene.blockhash(),
    instructions: [
      { program: 2, accounts: [0, 1], data: paySol().data },
      { program: 3, accounts: Array<number>(950).fill(0), data: [] },
    ],
  });
  const spell = vi.spyOn(PublicKey.prototype, "toBase58");
  expect(await scene.judgeBytes(sol, message)).toBe("accepted");
  expect(spell.mock.calls.length).toBeLessThan(30);
});

test("H21: a transaction that is nothing but signatures is judged by the first bad one", async ({
  scene,
}) => {
  const { alice, mallory, sol } = scene;
  const keys = [keyOf(alice), ...strangers(11)];
  const message = rawMessage({
    header: [12, 0, 0],
    keys,
    blockhash: await scene.blockhash(),
    instructions: [],
  });
  const own = signatureOf(message, alice);
  const others = Array<Buffer>(11).fill(signatureOf(message, mallory));
  expect(wire(message, [own, ...others]).length).toBeLessThanOrEqual(1_644);
  expect(await verdict(scene.ledger, wire(message, [own, ...others]), sol)).toBe("bad_signature");
});

test("H21: hundreds of empty instructions are refused as what they are", async ({ scene }) => {
  const { alice, sol } = scene;
  const keys = [keyOf(alice), new PublicKey(MEMO), SystemProgram.programId];
  const empty = (program: number): Promise<string> =>
    blockhash.then((hash) =>
      scene.judgeBytes(
        sol,
        rawMessage({
          header: [1, 0, 2],
          keys,
          blockhash: hash,
          instructions: Array.from({ length: 340 }, () => ({ program, accounts: [], data: [] })),
        }),
      ),
    );
  const blockhash = scene.blockhash();
  expect(await empty(1)).toBe("content_mismatch");
  expect(await empty(2)).toBe("instruction_not_allowed");
});
