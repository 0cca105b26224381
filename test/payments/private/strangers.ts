/** A stranger with money, who does to addresses and markers whatever the chain lets anybody do. */
// modules: private
import {
  AccountLayout,
  createAssociatedTokenAccountIdempotentInstruction,
  createInitializeAccount3Instruction,
  createInitializeMint2Instruction,
  createMintToCheckedInstruction,
  createSyncNativeInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
  MINT_SIZE,
  NATIVE_MINT,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from "@solana/web3.js";
import bs58 from "bs58";
import type { Address } from "../../../src/core/address.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import type { ServiceFixture } from "../../kit/service-fixture.ts";
import { keyOf, signed } from "../../solana/signed-transaction.ts";
import type { LivedOrder } from "./lived-order.ts";
import type { StrangerAct } from "./random-acts.ts";

export interface Stranger {
  readonly wallet: Wallet;
  /** A mint of its own, that is none of the service's assets. */
  readonly mint: Address;
  /** What the chain refuses is not done. */
  act(order: Pick<LivedOrder, "address" | "sent">, act: StrangerAct): Promise<void>;
}

const DECIMALS = 6;
const WEALTH = { lamports: 10_000_000_000_000n, usdc: 1_000_000n, usdt: 1_000_000n };

/** There is one in a life; its mint is made at once. */
export async function stranger(world: ServiceFixture): Promise<Stranger> {
  const { chain, ledger, mints } = world;
  const wallet = world.wallet("a stranger", WEALTH);
  const own = keyOf(wallet);
  const mint = Keypair.fromSeed(new Uint8Array(32).fill(201));
  let sent = 0;

  const send = async (
    instructions: readonly TransactionInstruction[],
    ...others: Keypair[]
  ): Promise<boolean> => {
    sent += 1;
    // Two equal transactions over one blockhash would be one.
    const unique = SystemProgram.transfer({ fromPubkey: own, toPubkey: own, lamports: sent });
    const signers = [wallet, ...others];
    const bytes = Buffer.from(
      await signed(world, { signers, instructions: [...instructions, unique] }),
      "base64",
    );
    await ledger.broadcast(bytes).catch(() => undefined);
    const [status] = await ledger.statuses([bs58.encode(bytes.subarray(1, 65))]);
    return status?.error === null;
  };
  const rent = async (bytes: number): Promise<number> => Number(await ledger.rentMinimum(bytes));
  const make = async (account: Keypair, space: number): Promise<TransactionInstruction> =>
    SystemProgram.createAccount({
      fromPubkey: own,
      newAccountPubkey: account.publicKey,
      lamports: await rent(space),
      space,
      programId: TOKEN_PROGRAM_ID,
    });
  const give = (to: PublicKey, lamports: number): TransactionInstruction =>
    SystemProgram.transfer({ fromPubkey: own, toPubkey: to, lamports });
  const openAssociated = (owner: PublicKey, of: PublicKey): readonly [PublicKey, TransactionInstruction] => {
    const account = getAssociatedTokenAddressSync(of, owner, true);
    return [account, createAssociatedTokenAccountIdempotentInstruction(own, account, owner, of)];
  };

  const made = await make(mint, MINT_SIZE);
  await send([made, createInitializeMint2Instruction(mint.publicKey, DECIMALS, own, null)], mint);
  chain.advance(2);

  const giveDust = (
    to: PublicKey,
    { units, on }: Extract<StrangerAct, { does: "give dust" }>,
  ): Promise<boolean> => {
    if (on === "address") return send([give(to, units)]);
    const tokens = new PublicKey(mints[on === "USDT" ? "USDT" : "USDC"]);
    const account = getAssociatedTokenAddressSync(tokens, to, true);
    if (on === "account of USDC") return send([give(account, units)]);
    const from = getAssociatedTokenAddressSync(tokens, own);
    return send([createTransferCheckedInstruction(from, tokens, account, own, units, DECIMALS)]);
  };

  const act: Stranger["act"] = async ({ address, sent: came }, what) => {
    const to = new PublicKey(address);
    switch (what.does) {
      case "give to markers":
        for (const seed of ["0", "1", "r0"]) {
          await send([give(new PublicKey(ledger.markerOf(address as Address, seed)), what.lamports)]);
        }
        return;
      case "give dust":
        if (await giveDust(to, what)) {
          came[what.on === "USDC" || what.on === "USDT" ? what.on : "SOL"] += BigInt(what.units);
        }
        return;
      case "name":
        for (let time = 0; time < what.times; time++) await send([naming(own, to)]);
        return;
      case "open": {
        const account = Keypair.generate();
        const initialise = createInitializeAccount3Instruction(
          account.publicKey,
          new PublicKey(mints[what.asset]),
          to,
        );
        await send([await make(account, AccountLayout.span), initialise], account);
        return;
      }
      case "give wrapped SOL": {
        const [account, open] = openAssociated(to, NATIVE_MINT);
        await send([open, give(account, what.lamports), createSyncNativeInstruction(account)]);
        return;
      }
      case "give foreign tokens": {
        const [account, open] = openAssociated(to, mint.publicKey);
        const units = BigInt(what.units);
        const issue = createMintToCheckedInstruction(mint.publicKey, account, own, units, DECIMALS);
        await send([open, issue]);
        return;
      }
    }
  };
  return { wallet, mint: mint.publicKey.toBase58() as Address, act };
}

/** A transfer from somebody to itself that names somebody else. */
function naming(own: PublicKey, named: PublicKey): TransactionInstruction {
  const { programId, keys, data } = SystemProgram.transfer({ fromPubkey: own, toPubkey: own, lamports: 1 });
  const also = { pubkey: named, isSigner: false, isWritable: true };
  return new TransactionInstruction({ programId, keys: [...keys, also], data });
}
