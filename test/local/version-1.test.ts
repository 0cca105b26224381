/** Transactions of version 1 on the local chain: run, told and kept like others, and refused where they are none. */
import { Connection, type Keypair } from "@solana/web3.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { LocalChain } from "paystate/local";
import { bytesOfVersion1, ENOUGH } from "../kit/version-1.ts";
import { runsOf } from "../kit/thorough.ts";
import { connect, keyOf, rpc, SOL, somebody, stillChain, transfer } from "./kit.ts";

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

interface Sending {
  readonly chain: LocalChain;
  readonly alice: Keypair;
  readonly recipient: ReturnType<typeof somebody>;
}

/** One SOL, with a bid of 1,234 lamports, and a co-signer where one is named. */
async function paying(
  { chain, alice, recipient }: Sending,
  settings: Parameters<typeof bytesOfVersion1>[0]["settings"] = { ...ENOUGH, priorityFeeLamports: 1_234n },
): Promise<Uint8Array> {
  const { blockhash } = await connect(chain).getLatestBlockhash();
  const instructions = [transfer(alice, recipient, SOL)];
  return bytesOfVersion1({ signers: [alice], instructions, settings, blockhash });
}

async function sending(): Promise<Sending> {
  const chain = await stillChain();
  const alice = keyOf(chain.createWallet("alice", { lamports: 10n * SOL }));
  chain.advance(40);
  return { chain, alice, recipient: somebody() };
}

test.for(["in this process", "over HTTP"] as const)(
  "N6: %s a transaction of version 1 is priced, simulated, sent and told to those who know its version",
  async (way) => {
    const world = await sending();
    const { chain, alice, recipient } = world;
    const url = way === "over HTTP" ? (await chain.listen({ host: "127.0.0.1", port: 0 })).url : null;
    const connection = url === null ? connect(chain) : new Connection(url, "confirmed");
    const bytes = await paying(world);
    const message = base64(bytes.subarray(0, -64));
    expect((await rpc(chain, "getFeeForMessage", message, { commitment: "confirmed" })).result).toMatchObject(
      {
        value: 6_234,
      },
    );
    const simulated = await rpc(chain, "simulateTransaction", base64(bytes), {
      encoding: "base64",
      commitment: "confirmed",
      sigVerify: true,
    });
    expect(simulated.result).toMatchObject({ value: { err: null } });
    const signature = await connection.sendRawTransaction(bytes);
    chain.advance(1);
    expect(await connection.getBalance(recipient)).toBe(Number(SOL));
    expect(await connection.getBalance(alice.publicKey)).toBe(Number(9n * SOL) - 6_234);
    const landed = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 1 });
    expect(landed).toMatchObject({ version: 1, meta: { err: null, fee: 6_234 } });
    expect(landed?.transaction.message).toMatchObject({
      version: 1,
      transactionConfig: {
        priorityFee: 1_234,
        computeUnitLimit: ENOUGH.computeUnitLimit,
        loadedAccountsDataSizeLimit: ENOUGH.loadedAccountsDataSizeLimit,
        heapSize: null,
      },
    });
    const block = await connection.getBlock(landed?.slot ?? 0, { maxSupportedTransactionVersion: 1 });
    expect(block?.transactions.map(({ version }) => version)).toEqual([1]);
    for (const config of [{ maxSupportedTransactionVersion: 0 }, {}] as object[]) {
      expect(
        (
          await rpc(chain, "getTransaction", signature, {
            encoding: "base64",
            commitment: "confirmed",
            ...config,
          })
        ).error,
      ).toMatchObject({
        code: -32015,
      });
    }
  },
);

test("N6: a transaction of version 1 that does not say how much it may compute or load does nothing", async () => {
  const world = await sending();
  const { computeUnitLimit, loadedAccountsDataSizeLimit } = ENOUGH;
  for (const [settings, err] of [
    [{ computeUnitLimit }, "MaxLoadedAccountsDataSizeExceeded"],
    [{ loadedAccountsDataSizeLimit }, { InstructionError: [0, "ComputationalBudgetExceeded"] }],
  ] as const) {
    const encoded = base64(await paying(world, settings));
    const config = { encoding: "base64", commitment: "confirmed" };
    const { result } = await rpc(world.chain, "simulateTransaction", encoded, config);
    expect(result).toMatchObject({ value: { err } });
    await rpc(world.chain, "sendTransaction", encoded, { ...config, skipPreflight: true });
    world.chain.advance(1);
  }
  expect(await connect(world.chain).getBalance(world.recipient)).toBe(0);
});

test("attack: damaged transactions of version 1 are refused, and the process goes on", async () => {
  const world = await sending();
  const sound = await paying(world, { ...ENOUGH, heapSize: 64 * 1024, priorityFeeLamports: 5n });
  const damaged = fc
    .tuple(
      fc.array(fc.tuple(fc.nat(sound.length - 1), fc.nat(255)), { maxLength: 4 }),
      fc.nat(sound.length),
      fc.uint8Array({ maxLength: 70 }),
    )
    .map(([changes, length, tail]) => {
      const bytes = Uint8Array.from([...sound.slice(0, length), ...tail]);
      for (const [index, value] of changes) if (index < bytes.length) bytes[index] = value;
      if (bytes.length > 0) bytes[0] = 0x81;
      return bytes;
    });
  await fc.assert(
    fc.asyncProperty(damaged, async (bytes) => {
      const encoded = base64(bytes);
      await rpc(world.chain, "sendTransaction", encoded, { encoding: "base64" });
      await rpc(world.chain, "sendTransaction", encoded, { encoding: "base64", skipPreflight: true });
      await rpc(world.chain, "simulateTransaction", encoded, {
        encoding: "base64",
        replaceRecentBlockhash: true,
      });
      await rpc(world.chain, "getFeeForMessage", encoded);
      expect((await rpc(world.chain, "getHealth")).result).toBe("ok");
    }),
    { numRuns: runsOf(300) },
  );
});
