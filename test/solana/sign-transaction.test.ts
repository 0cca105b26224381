/** Collecting signatures: whoever signs, near or far, is checked, and no key shows anywhere. */
import { agreed } from "../../src/ledger/agreed.ts";
import { createHash } from "node:crypto";
import { inspect } from "node:util";
import { Keypair, VersionedTransaction } from "@solana/web3.js";
import { ed25519 } from "@noble/curves/ed25519";
import bs58 from "bs58";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Address } from "../../src/core/address.ts";
import type { UnsignedTransaction } from "../../src/ledger/routing.ts";
import {
  keypairSigner,
  SigningFailed,
  signTransaction,
  type Signer,
} from "../../src/ledger/sign-transaction.ts";
import { routingFixture } from "./routing/routing-fixture.ts";
import { runsOf } from "../kit/thorough.ts";

const secret = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);
const alice = keypairSigner(secret(1));
const bob = keypairSigner(secret(2));
const carol = keypairSigner(secret(3));
const unsigned: UnsignedTransaction = {
  message: Uint8Array.from({ length: 200 }, (_, index) => index),
  signers: [alice.address, bob.address],
  blockhash: "11111111111111111111111111111111",
  lastValidBlockHeight: 150,
  firstSlot: 7,
  networkFee: agreed(10_000n),
  priorityFee: 0n,
};

describe("keypairSigner", () => {
  test("has the address of web3.js and the signature of another library, from the seed or from the 64 bytes of a key file", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.uint8Array({ maxLength: 100 }),
        async (seed, message) => {
          const keypair = Keypair.fromSeed(seed);
          for (const signer of [keypairSigner(seed), keypairSigner(keypair.secretKey)]) {
            expect(signer.address).toBe(keypair.publicKey.toBase58());
            const signature = Uint8Array.from(ed25519.sign(message, seed));
            expect(await signer.sign(message)).toEqual(signature);
          }
        },
      ),
      { numRuns: runsOf(20) },
    );
  });

  test("refuses any other length and another key's public half, without quoting the key", () => {
    const keyFile = Keypair.fromSeed(secret(7)).secretKey;
    const mixed = Uint8Array.from([...secret(8), ...keyFile.subarray(32)]);
    for (const bytes of [new Uint8Array(), secret(7).subarray(1), new Uint8Array(65).fill(7), mixed]) {
      expect(() => keypairSigner(bytes)).toThrow(TypeError);
      expect(() => keypairSigner(bytes)).toThrow(/^[a-z0-9 ,]+$/);
    }
  });

  test("H13: nothing printed or serialised from a signer shows its key, and wiping the given bytes changes nothing", async () => {
    const bytes = secret(0x5a);
    const signer = keypairSigner(bytes);
    const before = await signer.sign(unsigned.message);
    bytes.fill(0);
    expect(await signer.sign(unsigned.message)).toEqual(before);
    const shown = inspect(signer, { depth: 10, showHidden: true }) + JSON.stringify(signer);
    for (const form of ["5a5a5a", "WlpaWl", "90, 90"]) expect(shown).not.toContain(form);
  });
});

describe("signTransaction", () => {
  test("puts the signatures in the order of the message, whatever the order of the signers", async () => {
    for (const signers of [
      [alice, bob],
      [carol, bob, alice],
    ]) {
      const signed = await signTransaction(unsigned, signers);
      const [first, second] = await Promise.all([alice.sign(unsigned.message), bob.sign(unsigned.message)]);
      expect([...signed.bytes]).toEqual([2, ...first, ...second, ...unsigned.message]);
      expect(signed).toMatchObject({
        signature: bs58.encode(first),
        messageHash: createHash("sha256").update(unsigned.message).digest("hex"),
        blockhash: unsigned.blockhash,
        lastValidBlockHeight: 150,
        firstSlot: 7,
      });
    }
  });

  test("a transaction that the ledger built is one that web3.js reads, and the chain takes", async () => {
    const fixture = await routingFixture();
    const deposit = fixture.party({ lamports: 10_000_000_000n });
    const { signed, landed } = await fixture.carryOut(
      fixture.plan(fixture.mark(deposit), fixture.sol(deposit, fixture.nobody(), 1_000_000_000n)),
      deposit,
    );
    expect(landed).toBeNull();
    const read = VersionedTransaction.deserialize(signed.bytes);
    expect(bs58.encode(read.signatures[0] ?? [])).toBe(signed.signature);
    expect(read.message.recentBlockhash).toBe(signed.blockhash);
    await fixture.close();
  });

  test("whoever is missing is named, and nobody else is asked to sign", async () => {
    let asked = 0;
    const counting: Signer = {
      address: alice.address,
      sign: (message) => {
        asked += 1;
        return alice.sign(message);
      },
    };
    const outcome = signTransaction(unsigned, [counting, carol]);
    await expect(outcome).rejects.toEqual(new SigningFailed(`nobody signs for ${bob.address}`));
    expect(asked).toBe(0);
  });

  test("a broken signer far away is caught: another key's signature, another message's, one bit off, too short", async () => {
    const good = await bob.sign(unsigned.message);
    const flipped = Uint8Array.from(good, (byte, index) => (index === 40 ? byte ^ 1 : byte));
    const wrong = [
      await carol.sign(unsigned.message),
      await bob.sign(unsigned.message.subarray(1)),
      flipped,
      good.subarray(1),
      Uint8Array.from([...good, 0]),
      new Uint8Array(64),
      new Uint8Array(),
    ];
    for (const signature of wrong) {
      const remote: Signer = { address: bob.address, sign: async () => signature };
      const outcome = signTransaction(unsigned, [alice, remote]);
      await expect(outcome).rejects.toBeInstanceOf(SigningFailed);
      await expect(outcome).rejects.toThrow(bob.address);
    }
  });

  test("a signer that rejects is heard, and one that writes into the message changes nothing", async () => {
    const refusal = new Error("the key service is closed");
    const closed: Signer = { address: bob.address, sign: () => Promise.reject(refusal) };
    await expect(signTransaction(unsigned, [alice, closed])).rejects.toBe(refusal);
    const scribbling: Signer = {
      address: bob.address,
      sign: async (message) => {
        const signature = await bob.sign(message);
        message.fill(0);
        return signature;
      },
    };
    const signed = await signTransaction(unsigned, [scribbling, alice]);
    expect([...signed.bytes.subarray(129)]).toEqual([...unsigned.message]);
  });

  test("W20: a user's signature over the same message is taken, and comes first when the user pays the fee", async () => {
    const signature = await alice.sign(unsigned.message);
    const signed = await signTransaction(unsigned, [bob], new Map([[alice.address, signature]]));
    expect(signed).toEqual(await signTransaction(unsigned, [alice, bob]));
  });

  test("W20: over an altered message nobody is asked to co-sign, nor with a signature of somebody who is not asked for", async () => {
    let asked = 0;
    const desk: Signer = {
      address: bob.address,
      sign: (message) => {
        asked += 1;
        return bob.sign(message);
      },
    };
    const altered = Uint8Array.from(unsigned.message, (byte, index) => (index === 100 ? byte ^ 1 : byte));
    const wrong = new Map<Address, Uint8Array>([[alice.address, await alice.sign(altered)]]);
    await expect(signTransaction(unsigned, [desk], wrong)).rejects.toBeInstanceOf(SigningFailed);
    const stranger = new Map<Address, Uint8Array>([[carol.address, await carol.sign(unsigned.message)]]);
    await expect(signTransaction(unsigned, [desk], stranger)).rejects.toThrow(alice.address);
    expect(asked).toBe(0);
  });
});
