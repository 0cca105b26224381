/** People with money of their own, who pay it in wherever they like. */
import {
  AccountLayout,
  createInitializeAccount3Instruction,
  createTransferCheckedInstruction,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram } from "@solana/web3.js";
import bs58 from "bs58";
import type { Address } from "../../../src/core/address.ts";
import { keypairSigner, signTransaction } from "../../../src/ledger/sign-transaction.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import type { ServiceFixture } from "../../kit/service-fixture.ts";
import { signed } from "../../solana/signed-transaction.ts";
import type { Asset } from "./random-life.ts";

const WEALTH = { lamports: 10_000_000_000_000n, usdc: 1_000_000_000_000n, usdt: 1_000_000_000_000n };

export interface Payers {
  readonly wallets: readonly Wallet[];
  /** The number of the one whom the host refuses, if it refuses anybody. */
  readonly refused: number;
  /** Pays, opening the associated account where there is none; false when the chain did not take it. */
  pay(by: number, to: Address, asset: Asset, amount: bigint): Promise<boolean>;
  /** Pays into a new token account of this owner that is not its associated one. */
  payBeside(by: number, to: Address, asset: Exclude<Asset, "SOL">, amount: bigint): Promise<boolean>;
}

const REFUSED = 3;

/** Three of them, and one who is refused. */
export function payers(world: ServiceFixture): Payers {
  const { ledger, mints } = world;
  const wallets = [0, 1, 2, REFUSED].map((each) => world.wallet(`payer ${each}`, WEALTH));
  let payments = 0;
  let strays = 0;
  const decimalsOf = (asset: Asset): number => (asset === "SOL" ? 9 : 6);
  const payer = (by: number): Wallet => {
    const wallet = wallets[by];
    if (wallet === undefined) throw new RangeError(`there is no payer ${by}`);
    return wallet;
  };

  const hasLanded = async (bytes: Uint8Array): Promise<boolean> => {
    await ledger.broadcast(bytes).catch(() => undefined);
    // The first signature, behind the count of signatures, is the transaction's name.
    const [status] = await ledger.statuses([bs58.encode(bytes.subarray(1, 65))]);
    return status?.error === null;
  };

  return {
    wallets,
    refused: REFUSED,
    async pay(by, to, asset, amount) {
      payments += 1;
      const { address: from, secretKey } = payer(by);
      const mint = asset === "SOL" ? null : mints[asset];
      const unsigned = await ledger.buildTransaction({
        feePayer: from,
        moves: [
          {
            does: "transfer",
            mint,
            decimals: decimalsOf(asset),
            from,
            to,
            amount,
            accountPayer: mint === null ? null : from,
            // Two equal payments over one blockhash would be one.
            reference: bs58.encode(new Uint8Array(32).fill(payments)) as Address,
          },
        ],
      });
      return hasLanded((await signTransaction(unsigned, [keypairSigner(secretKey)])).bytes);
    },
    async payBeside(by, to, asset, amount) {
      const wallet = payer(by);
      const owner = new PublicKey(wallet.address);
      const mint = new PublicKey(mints[asset]);
      strays += 1;
      const account = Keypair.fromSeed(new Uint8Array(32).fill(strays));
      const from = new PublicKey(world.tokenAccountOf(wallet, asset));
      const bytes = await signed(world, {
        signers: [wallet, account],
        instructions: [
          SystemProgram.createAccount({
            fromPubkey: owner,
            newAccountPubkey: account.publicKey,
            lamports: Number(await ledger.rentMinimum(AccountLayout.span)),
            space: AccountLayout.span,
            programId: TOKEN_PROGRAM_ID,
          }),
          createInitializeAccount3Instruction(account.publicKey, mint, new PublicKey(to)),
          createTransferCheckedInstruction(from, mint, account.publicKey, owner, amount, decimalsOf(asset)),
        ],
      });
      return hasLanded(Buffer.from(bytes, "base64"));
    },
  };
}
