/** Version 1: what a wallet sends is judged as other versions are, by its settings where those have instructions. */
import { ComputeBudgetProgram, PublicKey, SystemProgram } from "@solana/web3.js";
import { describe, expect } from "vitest";
import { associatedTokenAddress } from "../../src/local/funding.ts";
import { bytesOfVersion1, ENOUGH, signedVersion1 } from "../kit/version-1.ts";
import { instruction, type VerifyScene } from "./verify-scene.ts";
import {
  keyOf,
  land,
  publicKeyOf,
  rawVersion1,
  signatureOf,
  u32,
  verdict,
  type RawVersion1,
} from "./signed-transaction.ts";
import { verifyTest as test } from "./verify-test.ts";

const MEMO = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
const SIGNATURE_BYTES = 64;
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

test("N6: a payment of version 1 that a wallet has put together is taken, in SOL and in tokens", async ({
  scene,
}) => {
  for (const payment of [scene.sol, scene.usdc]) {
    const text = await signedVersion1(scene, { signers: [scene.alice], instructions: scene.honest(payment) });
    expect(await verdict(scene.ledger, text, payment)).toBe("accepted");
  }
});

test("N6: of version 1 up to 4,096 bytes are taken, and of other versions 1,232 as before", async ({
  scene,
}) => {
  const withMemo = (bytes: number): Promise<string> =>
    signedVersion1(scene, {
      signers: [scene.alice],
      instructions: [...scene.honest(scene.sol), instruction(MEMO, Buffer.alloc(bytes, 97))],
    });
  const around = Buffer.from(await withMemo(0), "base64").length;
  const judge = async (bytes: number): Promise<string> => {
    const text = await withMemo(bytes - around);
    expect(Buffer.from(text, "base64")).toHaveLength(bytes);
    return await verdict(scene.ledger, text, scene.sol);
  };
  expect(await judge(4_096)).toBe("accepted");
  expect(await judge(4_097)).toBe("too_large");
  const long = [...scene.honest(scene.sol), instruction(MEMO, Buffer.alloc(1_000, 97))];
  expect(await scene.judge(scene.sol, long)).toBe("too_large");
  const others = [Buffer.alloc(1_233, 1), Buffer.concat([Buffer.of(0x80), Buffer.alloc(1_232)])];
  for (const bytes of others) {
    expect(await verdict(scene.ledger, base64(bytes), scene.sol)).toBe("too_large");
  }
});

describe("the priority fee", () => {
  const judge = async (
    scene: VerifyScene,
    { lamports, microLamports = 0n }: { readonly lamports: bigint; readonly microLamports?: bigint },
  ): Promise<string> => {
    const bid = ComputeBudgetProgram.setComputeUnitPrice({ microLamports });
    const text = await signedVersion1(scene, {
      signers: [scene.alice],
      instructions: [bid, ...scene.honest(scene.sol)],
      settings: { ...ENOUGH, priorityFeeLamports: lamports },
    });
    return await verdict(scene.ledger, text, scene.sol);
  };

  test("N7: the priority fee of version 1 counts against the same bound, 0.05 SOL, as the whole amount that it is", async ({
    scene,
  }) => {
    expect(await judge(scene, { lamports: 50_000_000n })).toBe("accepted");
    expect(await judge(scene, { lamports: 50_000_001n })).toBe("content_mismatch");
    expect(await judge(scene, { lamports: 2n ** 53n - 1n })).toBe("content_mismatch");
    // More than there is.
    expect(await judge(scene, { lamports: 2n ** 53n })).toBe("undecodable");
    expect(await judge(scene, { lamports: 2n ** 64n - 1n })).toBe("undecodable");
  });

  test("N7: an instruction that names a price bids nothing in version 1, and one that was taken costs what it states", async ({
    scene,
  }) => {
    expect(await judge(scene, { lamports: 1n, microLamports: 2n ** 63n })).toBe("accepted");
    const { chain, ledger, alice } = scene;
    const lamportsOf = async (): Promise<bigint> => {
      chain.advance(40);
      const [held] = (await ledger.funds([alice.address], [], "finalized")).funds;
      return held?.lamports ?? 0n;
    };
    const before = await lamportsOf();
    const bid = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 2n ** 40n });
    const text = await signedVersion1(scene, {
      signers: [alice],
      instructions: [bid, ...scene.honest(scene.sol)],
      settings: { ...ENOUGH, priorityFeeLamports: 7_777n },
    });
    await ledger.broadcast(Buffer.from(text, "base64"));
    expect(before - (await lamportsOf())).toBe(2_500_000n + 5_000n + 7_777n);
  });
});

test("N6: a transaction of version 1 that does not say how much it may compute and load is refused as what it is", async ({
  scene,
}) => {
  const { computeUnitLimit, loadedAccountsDataSizeLimit } = ENOUGH;
  const wrong = [
    {},
    { computeUnitLimit },
    { loadedAccountsDataSizeLimit },
    { computeUnitLimit: 0, loadedAccountsDataSizeLimit },
    { computeUnitLimit, loadedAccountsDataSizeLimit: 0 },
  ];
  for (const settings of wrong) {
    const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: 200_000 });
    const instructions = [limit, ...scene.honest(scene.sol)];
    const text = await signedVersion1(scene, { signers: [scene.alice], instructions, settings });
    expect(await verdict(scene.ledger, text, scene.sol)).toBe("missing_limits");
  }
});

test("N6, N7: a sender who has too little is told what it takes, the stated priority fee included", async ({
  scene,
}) => {
  const poor = scene.wallet("poor", { lamports: 2_000_000n });
  const payment = { ...scene.sol, sender: poor.address };
  const text = await signedVersion1(scene, {
    signers: [poor],
    instructions: [scene.paySol({ from: poor })],
    settings: { ...ENOUGH, priorityFeeLamports: 7_777n },
  });
  const examined = await scene.ledger.verifyPayment(text, payment);
  if ("refused" in examined) throw new Error(examined.refused);
  expect(await scene.ledger.simulatePayment(examined.verified, payment)).toMatchObject({
    kind: "insufficient_balance",
    required: 2_500_000n + 5_000n + 7_777n,
    available: 2_000_000n,
  });
});

test("attack: a signature over other bytes, a foreign payer, a co-signer and a missing signature are refused in version 1 too", async ({
  scene,
}) => {
  const { alice, mallory, ledger, sol } = scene;
  const instructions = scene.honest(sol);
  const blockhash = await scene.blockhash();
  const good = bytesOfVersion1({ signers: [alice], instructions, blockhash });
  const bent = (change: (bytes: Uint8Array) => void): string => {
    const bytes = Uint8Array.from(good);
    change(bytes);
    return base64(bytes);
  };
  const last = good.length - SIGNATURE_BYTES;
  const verdictOf = (text: string): Promise<string> => verdict(ledger, text, sol);
  expect(await verdictOf(base64(good))).toBe("accepted");
  expect(await verdictOf(bent((bytes) => bytes.fill(0, last)))).toBe("missing_signature");
  expect(await verdictOf(bent((bytes) => bytes.set([(bytes[last] ?? 0) ^ 1], last)))).toBe("bad_signature");
  // The amount is the last of the message.
  expect(await verdictOf(bent((bytes) => bytes.set([(bytes[last - 8] ?? 0) ^ 1], last - 8)))).toBe(
    "bad_signature",
  );
  const foreign = bytesOfVersion1({
    signers: [mallory],
    instructions: [scene.paySol({ from: mallory })],
    blockhash,
  });
  expect(await verdictOf(base64(foreign))).toBe("sender_not_signer");
  const cosigned = [...instructions, scene.paySol({ from: mallory })];
  const two = bytesOfVersion1({ signers: [alice, mallory], instructions: cosigned, blockhash });
  expect(await verdictOf(base64(two))).toBe("content_mismatch");
  const more = bytesOfVersion1({
    signers: [alice],
    instructions: [...instructions, scene.paySol()],
    blockhash,
  });
  expect(await verdictOf(base64(more))).toBe("content_mismatch");
});

test("attack: whatever the chain would not read in a message of version 1 is undecodable, and no node is asked about it", async ({
  scene,
}) => {
  const { alice, bob, chain, sol } = scene;
  const blockhash = await scene.blockhash();
  const payer = publicKeyOf(alice);
  const pay = { program: 2, accounts: [0, 1], data: [...scene.paySol().data] };
  const plain: RawVersion1 = {
    header: [1, 0, 1],
    mask: 0b01100,
    blockhash,
    keys: [payer, keyOf(bob), SystemProgram.programId],
    values: [...u32(400_000), ...u32(64 * 1024 * 1024)],
    instructions: [pay],
  };
  const judge = async (change: Partial<RawVersion1>, tail: readonly number[] = []): Promise<string> => {
    const message = Buffer.concat([rawVersion1({ ...plain, ...change }), Buffer.from(tail)]);
    const signatures = Array.from({ length: message[1] ?? 0 }, () => signatureOf(message, alice));
    return await verdict(scene.ledger, Buffer.concat([message, ...signatures]).toString("base64"), sol);
  };
  const others = (count: number): PublicKey[] =>
    Array.from({ length: count }, (_, index) => new PublicKey(new Uint8Array(32).fill(index + 1)));
  expect(await judge({})).toBe("accepted");
  const asked: string[] = [];
  const lift = chain.faults.add(({ method }) => {
    asked.push(method);
    return undefined;
  });
  const heap = (bytes: number): Partial<RawVersion1> => ({
    mask: 0b11100,
    values: [...plain.values, ...u32(bytes)],
  });
  const wrong: Readonly<Record<string, Partial<RawVersion1>>> = {
    "a setting that nobody knows": { mask: 0b101100, values: [...plain.values, ...u32(0)] },
    "the highest bit of the mask": {
      mask: (0b01100 | (1 << 31)) >>> 0,
      values: [...plain.values, ...u32(0)],
    },
    "half of a priority fee": { mask: 0b01101, values: [...plain.values, ...u32(0)] },
    "a setting without its bytes": { mask: 0b11100 },
    "a heap that is no kibibytes": heap(32 * 1024 + 1),
    "too small a heap": heap(31 * 1024),
    "too large a heap": heap(257 * 1024),
    "an account twice": { keys: [payer, payer, SystemProgram.programId] },
    "more than 64 addresses": { keys: [...plain.keys, ...others(62)], header: [1, 0, 63] },
    "more than 64 instructions": { instructions: Array.from({ length: 65 }, () => pay) },
    "more than 12 signers": { header: [13, 0, 1], keys: [payer, ...others(12), SystemProgram.programId] },
    "no signer": { header: [0, 0, 1] },
    "a payer that is not written": { header: [1, 1, 1] },
    "more readonly accounts than there are": { header: [1, 0, 3] },
    "an account beyond the end": { instructions: [{ ...pay, accounts: [0, 3] }] },
    "a program beyond the end": { instructions: [{ ...pay, program: 3 }] },
    "the payer as a program": { instructions: [{ ...pay, program: 0 }] },
  };
  for (const [what, change] of Object.entries(wrong)) expect(await judge(change), what).toBe("undecodable");
  expect(await judge({}, [0])).toBe("undecodable");
  const message = rawVersion1(plain);
  const signature = signatureOf(message, alice);
  const layouts: readonly (readonly [string, readonly Uint8Array[]])[] = [
    ["unsupported_version", [Uint8Array.of(1), signature, message]],
    ["unsupported_version", [Uint8Array.of(0x82), message.subarray(1), signature]],
    ["unsupported_version", [Uint8Array.of(0x80), message.subarray(1), signature]],
    ["undecodable", [message, signature, Uint8Array.of(0)]],
    ["undecodable", [message, signature.subarray(1)]],
    ["undecodable", [message]],
    ["undecodable", [message.subarray(0, 2)]],
    ["undecodable", [Uint8Array.of(0x81)]],
    ["undecodable", [Uint8Array.of(0x81, 255)]],
  ];
  for (const [refused, parts] of layouts) {
    expect(await verdict(scene.ledger, Buffer.concat(parts).toString("base64"), sol)).toBe(refused);
  }
  expect(asked).toEqual([]);
  lift();
});

test("N6: one payee more than a quote takes is refused by the chain where all accounts are made and were sent lamports before", async ({
  scene,
}) => {
  const { alice, mints, ledger } = scene;
  for (const count of [8, 9]) {
    const payees = Array.from({ length: count }, (_, index) => scene.wallet(`payee ${count} ${index}`));
    for (const { address } of payees) {
      const toPubkey = new PublicKey(associatedTokenAddress(address, mints.USDC));
      const prefund = SystemProgram.transfer({ fromPubkey: keyOf(alice), toPubkey, lamports: 1_000_000 });
      await land(scene, { signers: [alice], instructions: [prefund] });
    }
    const instructions = payees.flatMap((owner) => [
      scene.createAta({ owner }),
      scene.payToken({ to: scene.ata(owner) }),
    ]);
    const transfers = payees.map(({ address: recipient }) => ({ recipient, amount: 2_500_000n }));
    const payment = { ...scene.usdc, transfers };
    const text = await signedVersion1(scene, { signers: [alice], instructions });
    const examined = await ledger.verifyPayment(text, payment);
    if ("refused" in examined) throw new Error(examined.refused);
    const fault = await ledger.simulatePayment(examined.verified, payment);
    if (count === 8) expect(fault).toBeNull();
    else expect(fault).toMatchObject({ kind: "would_fail", reason: "program_error" });
  }
});
