/** Attacks on the signatures of a transaction, and on who it is that signs (W2, W3). */
import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519";
import { PublicKey, SystemProgram } from "@solana/web3.js";
import { describe, expect } from "vitest";
import type { Address } from "../../src/core/address.ts";
import type { DeclaredPayment } from "../../src/ledger/ledger.ts";
import {
  keyOf,
  rawMessage,
  signatureOf,
  signed,
  verdict,
  wire,
  type RawMessage,
} from "./signed-transaction.ts";
import { AMOUNT, instruction, unsignedBy, type VerifyScene } from "./verify-scene.ts";
import { verifyTest } from "./verify-test.ts";

/** Alice's honest payment in SOL: its message, and that as parts. */
interface Payment extends VerifyScene {
  readonly parts: RawMessage;
  readonly message: Buffer;
}

const test = verifyTest.extend("scene", async ({ scene }): Promise<Payment> => {
  const parts: RawMessage = {
    header: [1, 0, 1],
    keys: [keyOf(scene.alice), keyOf(scene.bob), SystemProgram.programId],
    blockhash: await scene.blockhash(),
    instructions: [{ program: 2, accounts: [0, 1], data: scene.paySol().data }],
  };
  return { ...scene, parts, message: rawMessage(parts) };
});

const MEMO = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
const ZEROS = Buffer.alloc(64);
const GROUP_ORDER = ed25519.Point.Fn.ORDER;

const judgeSigned = (scene: Payment, ...signatures: Uint8Array[]): Promise<string> =>
  verdict(scene.ledger, wire(scene.message, signatures), scene.sol);
const littleEndian = (value: bigint): Uint8Array =>
  Buffer.from(value.toString(16).padStart(64, "0"), "hex").toReversed();
const numberOf = (bytes: Uint8Array): bigint =>
  BigInt(`0x${Buffer.from(bytes.toReversed()).toString("hex")}`);
/** The challenge that an Ed25519 signature answers. */
const challenge = (r: Uint8Array, key: Uint8Array, bytes: Uint8Array): bigint =>
  numberOf(createHash("sha512").update(r).update(key).update(bytes).digest()) % GROUP_ORDER;

describe("W2: signatures that are none", () => {
  test("the message that is attacked below is an honest payment under its own signature", async ({
    scene,
  }) => {
    const { message } = scene;
    expect(await judgeSigned(scene, signatureOf(message, scene.alice))).toBe("accepted");
  });

  test("attack: zeros in the signature's place are missing_signature", async ({ scene }) => {
    expect(await judgeSigned(scene, ZEROS)).toBe("missing_signature");
  });

  test("attack: the signature of another key is bad_signature", async ({ scene }) => {
    const { message } = scene;
    expect(await judgeSigned(scene, signatureOf(message, scene.mallory))).toBe("bad_signature");
  });

  test("attack: the signature of another payment of the same sender is bad_signature", async ({ scene }) => {
    const { parts } = scene;
    const other = rawMessage({
      ...parts,
      instructions: [{ program: 2, accounts: [0, 1], data: scene.paySol({ amount: 1n }).data }],
    });
    expect(await judgeSigned(scene, signatureOf(other, scene.alice))).toBe("bad_signature");
  });

  test("attack: the signature over the same payment in the other format is bad_signature", async ({
    scene,
  }) => {
    const { parts } = scene;
    expect(await judgeSigned(scene, signatureOf(rawMessage({ ...parts, lookups: [] }), scene.alice))).toBe(
      "bad_signature",
    );
  });

  test("attack: the signature over the message's hash, its text or an off-chain message is bad_signature", async ({
    scene,
  }) => {
    const { message } = scene;
    const offChain = Buffer.concat([Buffer.from("\xffsolana offchain", "latin1"), message]);
    const hash = createHash("sha256").update(message).digest();
    for (const bytes of [
      hash,
      Buffer.from(message.toString("base64")),
      offChain,
      Buffer.from(wire(message, [ZEROS]), "base64"),
    ]) {
      expect(await judgeSigned(scene, signatureOf(bytes, scene.alice))).toBe("bad_signature");
    }
  });

  test("attack: a signature made another one by adding the group's order is bad_signature", async ({
    scene,
  }) => {
    const { message } = scene;
    const signature = signatureOf(message, scene.alice);
    const [r, s] = [signature.subarray(0, 32), signature.subarray(32)];
    const malleated = Buffer.concat([r, littleEndian(numberOf(s) + GROUP_ORDER)]);
    expect(await judgeSigned(scene, malleated)).toBe("bad_signature");
  });

  test("attack: a signature with its sign bit or its halves turned is bad_signature", async ({ scene }) => {
    const { message } = scene;
    const signature = signatureOf(message, scene.alice);
    const turned = Buffer.from(signature);
    turned.writeUInt8(turned.readUInt8(31) ^ 0x80, 31);
    expect(await judgeSigned(scene, turned)).toBe("bad_signature");
    expect(await judgeSigned(scene, Buffer.concat([signature.subarray(32), signature.subarray(0, 32)]))).toBe(
      "bad_signature",
    );
  });

  test("attack: a signature whose point is of small order, which node:crypto accepts, is bad_signature", async ({
    scene,
  }) => {
    const { message } = scene;
    const identity = Buffer.from(ed25519.Point.ZERO.toBytes());
    const { scalar, pointBytes } = ed25519.utils.getExtendedPublicKey(scene.alice.secretKey.subarray(0, 32));
    const s = (challenge(identity, pointBytes, message) * scalar) % GROUP_ORDER;
    expect(await judgeSigned(scene, Buffer.concat([identity, littleEndian(s)]))).toBe("bad_signature");
  });

  test("attack: a payment out of the System program's own account, for which anybody can sign, is bad_signature", async ({
    scene,
  }) => {
    const { parts } = scene;
    // Its address, 32 zeros, is a point of order 4: of four messages one is signed by a signature that needs no key.
    const sender = SystemProgram.programId.toBase58() as Address;
    const payment: DeclaredPayment = { ...scene.usdc, sender };
    const forged = [
      Buffer.concat([ed25519.Point.ZERO.toBytes(), littleEndian(0n)]),
      Buffer.concat([ed25519.Point.BASE.toBytes(), littleEndian(1n)]),
    ];
    const { bob, mints, ata } = scene;
    const usdc = new PublicKey(mints.USDC);
    const token = new PublicKey("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
    const verdicts = new Set<string>();
    for (let attempt = 0; attempt < 64; attempt += 1) {
      const forgery = rawMessage({
        header: [1, 0, 3],
        keys: [SystemProgram.programId, ata({ address: sender }), ata(bob), usdc, token, new PublicKey(MEMO)],
        blockhash: parts.blockhash,
        instructions: [
          { program: 4, accounts: [1, 3, 2, 0], data: scene.payToken().data },
          { program: 5, accounts: [], data: Buffer.from(`${attempt}`) },
        ],
      });
      for (const signature of forged) {
        verdicts.add(await verdict(scene.ledger, wire(forgery, [signature]), payment));
      }
    }
    expect([...verdicts]).toEqual(["bad_signature"]);
  });

  test("attack: a sender for whom no key can exist is bad_signature", async ({ scene }) => {
    const { parts } = scene;
    const [program] = PublicKey.findProgramAddressSync([Buffer.from("vault")], keyOf(scene.mallory));
    const payment = { ...scene.sol, sender: program.toBase58() as Address };
    const forgery = rawMessage({ ...parts, keys: [program, ...parts.keys.slice(1)] });
    expect(await scene.judgeBytes(payment, forgery)).toBe("bad_signature");
  });
});

describe("W3: signers", () => {
  const coSigned = (scene: Payment): RawMessage => ({
    ...scene.parts,
    header: [2, 1, 1],
    keys: [keyOf(scene.alice), keyOf(scene.mallory), keyOf(scene.bob), SystemProgram.programId],
    instructions: [{ program: 3, accounts: [0, 2], data: scene.paySol().data }],
  });

  test("attack: another pays the fee, the sender signing second: sender_not_signer", async ({ scene }) => {
    const { alice, mallory, sol } = scene;
    expect(await scene.judge(sol, [scene.paySol()], { signers: [mallory, alice] })).toBe("sender_not_signer");
  });

  test("attack: another sender's payment, signed by that sender, is sender_not_signer", async ({ scene }) => {
    const { mallory, sol } = scene;
    const instructions = [scene.paySol({ from: mallory })];
    expect(await scene.judge(sol, instructions, { signers: [mallory] })).toBe("sender_not_signer");
  });

  test("attack: the sender named but not signing, another in the sender's place, is sender_not_signer", async ({
    scene,
  }) => {
    const { alice, mallory, sol } = scene;
    const instructions = [unsignedBy(alice, scene.paySol())];
    expect(await scene.judge(sol, instructions, { signers: [mallory] })).toBe("sender_not_signer");
  });

  test("attack: a co-signer is content_mismatch", async ({ scene }) => {
    expect(await scene.judgeBytes(scene.sol, rawMessage(coSigned(scene)), [scene.alice, scene.mallory])).toBe(
      "content_mismatch",
    );
  });

  test("attack: a co-signer who is still to sign is missing_signature", async ({ scene }) => {
    const message = rawMessage(coSigned(scene));
    const cosigned = { ...scene, message };
    expect(await judgeSigned(cosigned, signatureOf(message, scene.alice), ZEROS)).toBe("missing_signature");
    expect(await judgeSigned(cosigned, ZEROS, signatureOf(message, scene.mallory))).toBe("missing_signature");
  });

  test("attack: the signatures of two signers exchanged, or one used for both, are bad_signature", async ({
    scene,
  }) => {
    const message = rawMessage(coSigned(scene));
    const cosigned = { ...scene, message };
    const [own, other] = [signatureOf(message, scene.alice), signatureOf(message, scene.mallory)];
    expect(await judgeSigned(cosigned, other, own)).toBe("bad_signature");
    expect(await judgeSigned(cosigned, own, own)).toBe("bad_signature");
  });

  test("attack: a reference key that must sign is content_mismatch", async ({ scene }) => {
    const pay = scene.paySol();
    pay.keys.push({ pubkey: keyOf(scene.mallory), isSigner: true, isWritable: false });
    expect(await scene.judge(scene.sol, [pay], { signers: [scene.alice, scene.mallory] })).toBe(
      "content_mismatch",
    );
  });

  test("attack: a memo that another must sign is content_mismatch", async ({ scene }) => {
    const memo = instruction(MEMO, Buffer.from("hi"), [keyOf(scene.mallory)]);
    for (const key of memo.keys) key.isSigner = true;
    const signers = [scene.alice, scene.mallory];
    expect(await scene.judge(scene.sol, [scene.paySol(), memo], { signers })).toBe("content_mismatch");
  });

  test("attack: a memo naming one who did not sign can be verified, but the chain refuses it", async ({
    scene,
  }) => {
    const memo = instruction(MEMO, Buffer.from("hi"), [keyOf(scene.mallory)]);
    const transaction = await signed(scene, {
      signers: [scene.alice],
      instructions: [scene.paySol({ amount: AMOUNT }), memo],
    });
    const answer = await scene.ledger.verifyPayment(transaction, scene.sol);
    if ("refused" in answer) throw new Error(answer.refused);
    const fault = await scene.ledger.simulatePayment(answer.verified, scene.sol);
    expect(fault).toMatchObject({ kind: "would_fail", reason: "program_error" });
  });
});
