/** Somebody who has got hold of the keys of addresses: takes what lies there, or makes markers that pay nobody. */
// modules: private
import type { Address } from "../../../src/core/address.ts";
import type { Move } from "../../../src/ledger/routing.ts";
import { keypairSigner, signTransaction } from "../../../src/ledger/sign-transaction.ts";
import { depositKeys } from "../../../src/payments/frame/secrets/deposit-keys.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { TEST_MASTER_SECRET, type ServiceFixture } from "../../kit/service-fixture.ts";
import type { LivedOrder } from "./lived-order.ts";
import type { TheftAct } from "./random-acts.ts";
import { ASSETS, type Asset } from "./random-life.ts";

const WEALTH = { lamports: 100_000_000_000n, usdc: 1n, usdt: 1n };

/** What a thief needs of an order. */
type Robbed = Pick<LivedOrder, "id" | "address" | "words" | "stolen" | "forged">;

export interface Thief {
  readonly wallet: Wallet;
  /** What the chain refuses is not done; what it takes is written down with the order. */
  act(order: Robbed, act: TheftAct): Promise<void>;
}

export function thief(world: ServiceFixture): Thief {
  const { ledger, chain, mints } = world;
  const wallet = world.wallet("a thief", WEALTH);
  const keys = depositKeys([TEST_MASTER_SECRET], () => chain.genesisHash);

  const send = async ({ id }: Robbed, move: Move): Promise<boolean> => {
    const unsigned = await ledger.buildTransaction({ feePayer: wallet.address, moves: [move] });
    const signers = [keypairSigner(wallet.secretKey), keys.signer({ masterVersion: 1, transactionId: id })];
    const { bytes, signature } = await signTransaction(unsigned, signers);
    await ledger.broadcast(bytes).catch(() => undefined);
    const [status] = await ledger.statuses([signature]);
    return status?.error === null;
  };
  const heldBy = async (address: Address): Promise<Readonly<Record<Asset, bigint>>> => {
    const { funds } = await ledger.funds([address], [mints.USDC, mints.USDT], "confirmed");
    const [SOL, USDC = 0n, USDT = 0n] = [funds[0]?.lamports ?? 0n, ...(funds[0]?.tokens ?? [])];
    return { SOL, USDC, USDT };
  };

  return {
    wallet,
    async act(order, act) {
      const base = order.address as Address;
      if (act.does === "forge") {
        const { chunk, length } = act;
        const lamports = await ledger.rentMinimum(length);
        const seed = String(chunk);
        const forged = { does: "buy" as const, base, seed, length, payer: wallet.address, lamports };
        if (await send(order, forged)) order.forged.set(chunk, length);
        return;
      }
      const asset = ASSETS[(ASSETS.indexOf(order.words.asset) + act.asset) % ASSETS.length] ?? "SOL";
      const amount = (await heldBy(base))[asset] / BigInt(act.part);
      if (amount === 0n) return;
      const mint = asset === "SOL" ? null : mints[asset];
      const decimals = asset === "SOL" ? 9 : 6;
      const taken = {
        does: "transfer" as const,
        mint,
        decimals,
        from: base,
        to: wallet.address,
        amount,
        accountPayer: null,
      };
      if (await send(order, taken)) order.stolen[asset] += amount;
    },
  };
}
