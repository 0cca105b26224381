/** A Solana node that nobody here wrote: surfpool, which runs Agave's bank, in this process and offline. */
import { createRequire } from "node:module";
import { keypairSigner, type Signer } from "../../src/ledger/sign-transaction.ts";
import type { Address } from "../../src/address.ts";

/** What the addon gives; it brings no types. */
interface Addon {
  readonly Surfnet: {
    startWithConfig(options: {
      readonly offline: boolean;
      readonly blockProductionMode: "clock";
      readonly slotTimeMs: number;
    }): Surfnet;
    newKeypair(): { readonly publicKey: string; readonly secretKey: readonly number[] };
  };
}

interface Surfnet {
  readonly rpcUrl: string;
  drainEvents(): unknown;
  stop(): void;
}

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
  /** What the owner's associated account of USDC holds at finalized. */
  usdcOf(owner: string): Promise<bigint>;
  close(): void;
}

const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const FEATURE_OWNER = "Feature111111111111111111111111111111111111";
const TRANSACTIONS_V1_FEATURE = "txv1aq4pp281K9um3tnPgkfX8UqtFT6wcVW3hNezGLL";
const SLOT_MS = 50;
/** The node stops where its events are not taken. */
const DRAIN_MS = 250;

/** The addon, or null on a machine that it was not built for. */
function addon(): Addon | null {
  try {
    return createRequire(import.meta.url)("@solana/surfpool-linux-x64-gnu") as Addon;
  } catch {
    return null;
  }
}

/** Whether the addon runs on this machine. */
export const HAS_SURFPOOL = addon() !== null;

/** Starts a node. */
export async function surfnet(): Promise<SurfnetWorld> {
  const found = addon();
  if (found === null) throw new Error("surfpool runs on Linux with glibc on x64 only");
  const node = found.Surfnet.startWithConfig({
    offline: true,
    blockProductionMode: "clock",
    slotTimeMs: SLOT_MS,
  });
  const draining = setInterval(() => node.drainEvents(), DRAIN_MS);
  const call = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "content-type": "application/json" };
    const answer = (await (await fetch(node.rpcUrl, { method: "POST", headers, body })).json()) as {
      readonly result?: unknown;
      readonly error?: unknown;
    };
    if (answer.error !== undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  };
  const keypair = (): SurfnetWallet => {
    const secretKey = Uint8Array.from(found.Surfnet.newKeypair().secretKey);
    return { ...keypairSigner(secretKey), secretKey };
  };
  const mintOf = async (): Promise<Address> => {
    const { address } = keypair();
    const account = {
      lamports: 1_461_600,
      data: MINT.toString("hex"),
      owner: TOKEN_PROGRAM,
      executable: false,
    };
    await call("surfnet_setAccount", [address, account]);
    return address;
  };
  // Its runtime takes version 1. The account by which a cluster says so is not there, as it is on a network.
  const feature = { lamports: 953_520, data: "01".padEnd(18, "0"), owner: FEATURE_OWNER, executable: false };
  await call("surfnet_setAccount", [TRANSACTIONS_V1_FEATURE, feature]);
  const mints = { USDC: await mintOf(), USDT: await mintOf() };
  const fundTokens = async (owner: string, amount: bigint): Promise<void> => {
    await call("surfnet_setTokenAccount", [owner, mints.USDC, { amount: Number(amount) }, TOKEN_PROGRAM]);
  };
  return {
    rpcUrl: node.rpcUrl,
    mints,
    fundTokens,
    async wallet({ lamports = 0n, usdc = 0n }) {
      const wallet = keypair();
      const account = { lamports: Number(lamports), data: "", owner: "1".repeat(32), executable: false };
      if (lamports > 0n) await call("surfnet_setAccount", [wallet.address, account]);
      if (usdc > 0n) await fundTokens(wallet.address, usdc);
      return wallet;
    },
    async blockhash() {
      const told = await call("getLatestBlockhash", [{ commitment: "confirmed" }]);
      return (told as { readonly value: { readonly blockhash: string } }).value.blockhash;
    },
    async usdcOf(owner) {
      const asked = [owner, { mint: mints.USDC }, { encoding: "jsonParsed", commitment: "finalized" }];
      const { value } = (await call("getTokenAccountsByOwner", asked)) as {
        readonly value: readonly ParsedAccount[];
      };
      return value.reduce(
        (sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount),
        0n,
      );
    },
    close() {
      clearInterval(draining);
      node.stop();
    },
  };
}

interface ParsedAccount {
  readonly account: {
    readonly data: {
      readonly parsed: { readonly info: { readonly tokenAmount: { readonly amount: string } } };
    };
  };
}

/** The data of a mint of six decimals, whose authority is nobody. */
const MINT = Buffer.alloc(82);
MINT.writeBigUInt64LE(10n ** 15n, 36);
MINT[44] = 6;
MINT[45] = 1;
