/** A Solana node that nobody here wrote, with two stablecoins, whose blocks pass by the machine's clock. */
import { associatedTokenAddress } from "../../../src/local/funding.ts";
import { keypairSigner, type Signer } from "../../../src/ledger/sign-transaction.ts";
import type { Address } from "../../../src/core/address.ts";
import { SurfpoolNode } from "./surfpool-node.ts";

export { HAS_SURFPOOL } from "./surfpool-node.ts";

/** A wallet with its key. */
export interface SurfnetWallet extends Signer {
  readonly secretKey: Uint8Array;
}

/** A node with two stablecoins of its own. */
export interface SurfnetWorld {
  readonly rpcUrl: string;
  readonly mints: { readonly USDC: Address; readonly USDT: Address };
  wallet(funds: { readonly lamports?: bigint; readonly usdc?: bigint }): Promise<SurfnetWallet>;
  fundTokens(owner: string, amount: bigint): Promise<void>;
  /** The newest one at confirmed. */
  blockhash(): Promise<string>;
  /** Closes the owner's associated account of USDC. */
  closeTokens(owner: string): Promise<void>;
  /** What the owner's associated account of USDC holds at finalized. */
  usdcOf(owner: string): Promise<bigint>;
  close(): void;
}

const FEATURE_OWNER = "Feature111111111111111111111111111111111111";
const TRANSACTIONS_V1_FEATURE = "txv1aq4pp281K9um3tnPgkfX8UqtFT6wcVW3hNezGLL";
const SLOT_MS = 50;

/** Starts a node. */
export async function surfnet(): Promise<SurfnetWorld> {
  const node = new SurfpoolNode({ every: SLOT_MS });
  // Its runtime takes version 1. The account by which a cluster says so is not there, as it is on a network.
  const active = Buffer.from([1, ...Buffer.alloc(8)]);
  const feature = { lamports: 953_520, data: active, program: FEATURE_OWNER };
  await node.setAccount(TRANSACTIONS_V1_FEATURE, feature);
  const mints = { USDC: await node.newMint("token"), USDT: await node.newMint("token") };
  const fundTokens = async (owner: string, amount: bigint): Promise<void> => {
    const account = { mint: mints.USDC, owner, amount, program: "token" } as const;
    await node.setTokens(associatedTokenAddress(owner, mints.USDC), account);
  };
  return {
    rpcUrl: node.rpcUrl,
    mints,
    fundTokens,
    async wallet({ lamports = 0n, usdc = 0n }) {
      const secretKey = node.newKey();
      const wallet = { ...keypairSigner(secretKey), secretKey };
      if (lamports > 0n) await node.setLamports(wallet.address, lamports);
      if (usdc > 0n) await fundTokens(wallet.address, usdc);
      return wallet;
    },
    closeTokens: (owner) => node.setLamports(associatedTokenAddress(owner, mints.USDC), 0n),
    async blockhash() {
      const told = await node.call("getLatestBlockhash", [{ commitment: "confirmed" }]);
      return (told as { readonly value: { readonly blockhash: string } }).value.blockhash;
    },
    async usdcOf(owner) {
      const asked = [owner, { mint: mints.USDC }, { encoding: "jsonParsed", commitment: "finalized" }];
      const { value } = (await node.call("getTokenAccountsByOwner", asked)) as {
        readonly value: readonly ParsedAccount[];
      };
      return value.reduce(
        (sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount),
        0n,
      );
    },
    close: () => node.close(),
  };
}

interface ParsedAccount {
  readonly account: {
    readonly data: {
      readonly parsed: { readonly info: { readonly tokenAmount: { readonly amount: string } } };
    };
  };
}
