/** The second Solana SDK, @solana/kit, unmodified: calls, confirmation, subscriptions, lookup tables. */
import { createTransferCheckedInstruction, getAssociatedTokenAddressSync } from "@solana/spl-token";
import {
  AccountRole,
  address,
  airdropFactory,
  appendTransactionMessageInstructions,
  assertIsTransactionWithBlockhashLifetime,
  compressTransactionMessageUsingAddressLookupTables,
  createKeyPairSignerFromBytes,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  createTransactionMessage,
  fetchAddressesForLookupTables,
  getSignatureFromTransaction,
  type Instruction,
  isSolanaError,
  type KeyPairSigner,
  lamports,
  pipe,
  sendAndConfirmTransactionFactory,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
} from "@solana/kit";
import {
  AddressLookupTableProgram,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
} from "@solana/web3.js";
import { expect, test } from "vitest";
import type { Funds, LocalChain } from "paystate/local";
import { SOL, somebody } from "./kit.ts";
import { listening, livingChain } from "./sockets.ts";

/** A chain and kit's two clients of it. */
async function kitWorld() {
  const chain = await livingChain();
  const { url, webSocketUrl } = await listening(chain);
  const rpc = createSolanaRpc(url);
  const rpcSubscriptions = createSolanaRpcSubscriptions(webSocketUrl);
  const sendAndConfirm = sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions });
  const latest = async () => (await rpc.getLatestBlockhash({ commitment: "confirmed" }).send()).value;
  const confirm = async (transaction: Awaited<ReturnType<typeof signTransactionMessageWithSigners>>) => {
    assertIsTransactionWithBlockhashLifetime(transaction);
    await sendAndConfirm(transaction, { commitment: "confirmed" });
    return getSignatureFromTransaction(transaction);
  };
  /** Signs, sends and waits; answers the signature. */
  const run = async (version: "legacy" | 0, payer: KeyPairSigner, instructions: Instruction[]) => {
    const lifetime = await latest();
    const message = pipe(
      createTransactionMessage({ version }),
      (draft) => setTransactionMessageFeePayerSigner(payer, draft),
      (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
      (draft) => appendTransactionMessageInstructions(instructions, draft),
    );
    return confirm(await signTransactionMessageWithSigners(message));
  };
  /** The same with accounts taken from lookup tables. */
  const runWithTables = async (payer: KeyPairSigner, instructions: Instruction[], tables: Tables) => {
    const lifetime = await latest();
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (draft) => setTransactionMessageFeePayerSigner(payer, draft),
      (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
      (draft) => appendTransactionMessageInstructions(instructions, draft),
      (draft) => compressTransactionMessageUsingAddressLookupTables(draft, tables),
    );
    return confirm(await signTransactionMessageWithSigners(message));
  };
  return { chain, rpc, rpcSubscriptions, run, runWithTables };
}

type Tables = Awaited<ReturnType<typeof fetchAddressesForLookupTables>>;

/** A wallet whose funds are confirmed. */
function signerOf(chain: LocalChain, name: string, funds: Funds): Promise<KeyPairSigner> {
  const { secretKey } = chain.createWallet(name, funds);
  chain.advance(2);
  return createKeyPairSignerFromBytes(secretKey);
}

/** The instruction as kit writes it, signed by the payer of the transaction where it needs a signature. */
function forKit({ programId, keys, data }: TransactionInstruction): Instruction {
  const role = (isSigner: boolean, isWritable: boolean): AccountRole => {
    if (isSigner) return isWritable ? AccountRole.WRITABLE_SIGNER : AccountRole.READONLY_SIGNER;
    return isWritable ? AccountRole.WRITABLE : AccountRole.READONLY;
  };
  return {
    programAddress: address(programId.toBase58()),
    accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({
      address: address(pubkey.toBase58()),
      role: role(isSigner, isWritable),
    })),
    data: Uint8Array.from(data),
  };
}

function pay(from: KeyPairSigner, to: PublicKey, amount: bigint): Instruction {
  return forKit(
    SystemProgram.transfer({ fromPubkey: new PublicKey(from.address), toPubkey: to, lamports: amount }),
  );
}

test.each(["legacy", 0] as const)("a %s transfer is confirmed and found in the history", async (version) => {
  const { chain, rpc, run } = await kitWorld();
  const alice = await signerOf(chain, "alice", { lamports: 10n * SOL });
  const bob = somebody();
  const signature = await run(version, alice, [pay(alice, bob, SOL)]);

  const bobs = address(bob.toBase58());
  expect((await rpc.getBalance(bobs, { commitment: "confirmed" }).send()).value).toBe(SOL);
  const { value } = await rpc.getSignatureStatuses([signature]).send();
  expect(value[0]?.err).toBeNull();
  expect(["confirmed", "finalized"]).toContain(value[0]?.confirmationStatus);
  const [newest] = await rpc.getSignaturesForAddress(bobs, { commitment: "confirmed" }).send();
  expect(newest?.signature).toBe(signature);
  const landed = await rpc
    .getTransaction(signature, {
      commitment: "confirmed",
      encoding: "jsonParsed",
      maxSupportedTransactionVersion: 0,
    })
    .send();
  expect(landed?.version).toBe(version);
  expect(landed?.meta?.fee).toBe(5000n);
  expect(landed?.transaction.message.instructions).toMatchObject([
    { programId: SystemProgram.programId.toBase58(), accounts: [alice.address, bob.toBase58()] },
  ]);
});

test("a token transfer moves base units, and the owner's accounts are listed", async () => {
  const { chain, rpc, run } = await kitWorld();
  const alice = await signerOf(chain, "alice", { lamports: SOL, usdc: 9_000_000n });
  const bob = await signerOf(chain, "bob", { usdc: 0n });
  const mint = new PublicKey(chain.mints.USDC);
  const [from, to] = [alice, bob].map((owner) =>
    getAssociatedTokenAddressSync(mint, new PublicKey(owner.address)),
  );
  if (from === undefined || to === undefined) throw new Error("Two token accounts were expected.");
  const transfer = createTransferCheckedInstruction(
    from,
    mint,
    to,
    new PublicKey(alice.address),
    2_500_000n,
    6,
  );
  await run(0, alice, [forKit(transfer)]);
  const balance = await rpc
    .getTokenAccountBalance(address(to.toBase58()), { commitment: "confirmed" })
    .send();
  expect(balance.value).toEqual({ amount: "2500000", decimals: 6, uiAmount: 2.5, uiAmountString: "2.5" });
  const listed = await rpc
    .getTokenAccountsByOwner(
      bob.address,
      { mint: address(chain.mints.USDC) },
      { commitment: "confirmed", encoding: "jsonParsed" },
    )
    .send();
  expect(listed.value[0]?.account.data.parsed.info).toMatchObject({
    owner: bob.address,
    tokenAmount: { amount: "2500000" },
  });
});

test("a transaction that fails preflight is told with its code and its instruction's error", async () => {
  const { chain, run } = await kitWorld();
  const alice = await signerOf(chain, "alice", { lamports: SOL });
  const failure: unknown = await run(0, alice, [pay(alice, somebody(), 5n * SOL)]).catch(
    (error: unknown) => error,
  );
  expect(
    isSolanaError(failure, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE),
  ).toBe(true);
  expect((failure as Error).cause).toMatchObject({ context: { code: 1, index: 0 } });
});

test("an airdrop is asked for and waited for", async () => {
  const { rpc, rpcSubscriptions } = await kitWorld();
  const recipientAddress = address(somebody().toBase58());
  const airdrop = airdropFactory({ rpc, rpcSubscriptions });
  await airdrop({ commitment: "confirmed", lamports: lamports(3_000_000n), recipientAddress });
  expect((await rpc.getBalance(recipientAddress, { commitment: "confirmed" }).send()).value).toBe(3_000_000n);
});

test("a lookup table of the real program is made, filled, read and used", async () => {
  const { chain, rpc, run, runWithTables } = await kitWorld();
  const alice = await signerOf(chain, "alice", { lamports: 10n * SOL });
  const authority = new PublicKey(alice.address);
  const bob = somebody();
  // One whose hash the block that runs the instruction knows already.
  const recentSlot = await rpc.getSlot({ commitment: "finalized" }).send();
  const [create, table] = AddressLookupTableProgram.createLookupTable({
    authority,
    payer: authority,
    recentSlot,
  });
  const addresses = [bob, ...Array.from({ length: 19 }, somebody)];
  const extend = AddressLookupTableProgram.extendLookupTable({
    lookupTable: table,
    authority,
    payer: authority,
    addresses,
  });
  await run(0, alice, [forKit(create), forKit(extend)]);
  // New entries count from the slot after the one that they were written in.
  chain.advance(2);
  const tableAddress = address(table.toBase58());
  const tables = await fetchAddressesForLookupTables([tableAddress], rpc, { commitment: "confirmed" });
  expect(tables[tableAddress]).toEqual(addresses.map(String));
  const signature = await runWithTables(
    alice,
    addresses.map((recipient) => pay(alice, recipient, 2_000_000n)),
    tables,
  );
  const landed = await rpc
    .getTransaction(signature, {
      commitment: "confirmed",
      encoding: "json",
      maxSupportedTransactionVersion: 0,
    })
    .send();
  expect(landed?.meta?.loadedAddresses.writable.toSorted()).toEqual(addresses.map(String).toSorted());
  const held = await rpc.getBalance(address(bob.toBase58()), { commitment: "confirmed" }).send();
  expect(held.value).toBe(2_000_000n);
});

test("what a node tells about itself and its blocks has the form that kit expects", async () => {
  const { chain, rpc } = await kitWorld();
  chain.fund(somebody().toBase58(), { lamports: SOL });
  chain.advance(5);
  const slot = await rpc.getSlot({ commitment: "processed" }).send();
  expect(await rpc.getGenesisHash().send()).toBe(chain.genesisHash);
  expect(await rpc.getHealth().send()).toBe("ok");
  expect(await rpc.getVersion().send()).toMatchObject({ "feature-set": 0 });
  expect(await rpc.getBlockHeight({ commitment: "processed" }).send()).toBeLessThan(slot);
  const epoch = await rpc.getEpochInfo({ commitment: "processed" }).send();
  expect(epoch.absoluteSlot).toBeGreaterThanOrEqual(slot);
  expect(epoch.transactionCount).toBe(1n);
  const { value: latest } = await rpc.getLatestBlockhash({ commitment: "confirmed" }).send();
  const valid = await rpc.isBlockhashValid(latest.blockhash, { commitment: "confirmed" }).send();
  expect(valid.value).toBe(true);
  expect(await rpc.getBlockTime(1000n).send()).toBeGreaterThan(1_700_000_000n);
  expect(await rpc.getMinimumBalanceForRentExemption(0n).send()).toBeGreaterThan(0n);
  expect(await rpc.getRecentPrioritizationFees().send()).toHaveLength(150);
  expect(await rpc.getBlocks(1000n, 1000n, { commitment: "confirmed" }).send()).toEqual([1000n]);
  const block = await rpc
    .getBlock(1000n, { commitment: "confirmed", maxSupportedTransactionVersion: 0 })
    .send();
  expect(block?.parentSlot).toBe(999n);
  const supply = await rpc.getTokenSupply(address(chain.mints.USDC)).send();
  expect(supply.value.decimals).toBe(6);
});
