/** A Solana node that nobody here wrote: surfpool, which runs Agave's bank, in this process and offline. */
import { createRequire } from "node:module";
import bs58 from "bs58";
import type { Address } from "../../../src/core/address.ts";
import type { TokenProgram } from "../../../src/ledger/routing.ts";

/** How blocks pass: by the machine's clock, or one by one. */
type Blocks = { readonly every: number } | "one by one";

/** What the addon gives; it brings no types. */
interface Addon {
  readonly Surfnet: {
    startWithConfig(options: {
      readonly offline: boolean;
      readonly blockProductionMode: "clock" | "manual";
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

/** An account as it is set. */
interface SetAccount {
  readonly lamports: number;
  readonly data: Buffer;
  readonly program: string;
}

/** A token account as it is set. */
interface SetTokens {
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
  readonly program: TokenProgram;
}

/** The addresses of the token programs. */
const TOKEN_PROGRAMS: Readonly<Record<TokenProgram, string>> = {
  token: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  "token-2022": "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
};
const SYSTEM_PROGRAM = "1".repeat(32);
const ACCOUNT_RENT = 2_039_280;
const ONE_BY_ONE_MS = 400;
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

/** A new node. Accounts are written where they shall stand: nobody has to be paid for them. */
export class SurfpoolNode {
  readonly #addon: Addon;
  readonly #node: Surfnet;
  readonly #draining: NodeJS.Timeout;
  #slot = 0;
  #height = 0;

  constructor(blocks: Blocks) {
    const found = addon();
    if (found === null) throw new Error("surfpool runs on Linux with glibc on x64 only");
    this.#addon = found;
    this.#node = found.Surfnet.startWithConfig({
      offline: true,
      blockProductionMode: blocks === "one by one" ? "manual" : "clock",
      slotTimeMs: blocks === "one by one" ? ONE_BY_ONE_MS : blocks.every,
    });
    this.#draining = setInterval(() => this.#node.drainEvents(), DRAIN_MS);
  }

  get rpcUrl(): string {
    return this.#node.rpcUrl;
  }

  /** The slot and the height that transactions land in now, where blocks pass one by one. */
  get slot(): number {
    return this.#slot;
  }

  get height(): number {
    return this.#height;
  }

  /** Makes so many blocks, one in each slot. The addon's own function for that takes a new connection each time. */
  async pass(blocks: number): Promise<void> {
    if (this.#slot === 0) this.#slot = (await this.call("getSlot", [{ commitment: "processed" }])) as number;
    for (let block = 0; block < blocks; block += 1) {
      const travelled = await this.call("surfnet_timeTravel", [{ absoluteSlot: this.#slot + 1 }]);
      const { absoluteSlot, blockHeight } = travelled as Position;
      [this.#slot, this.#height] = [absoluteSlot, blockHeight];
    }
  }

  async call(method: string, params: readonly unknown[]): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "content-type": "application/json" };
    const answer = (await (await fetch(this.rpcUrl, { method: "POST", headers, body })).json()) as {
      readonly result?: unknown;
      readonly error?: unknown;
    };
    if (answer.error !== undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  }

  /** A new secret key. */
  newKey(): Uint8Array {
    return Uint8Array.from(this.#addon.Surfnet.newKeypair().secretKey);
  }

  /** A new address whose key nobody keeps. */
  newAddress(): Address {
    return this.#addon.Surfnet.newKeypair().publicKey as Address;
  }

  async setAccount(address: string, { lamports, data, program }: SetAccount): Promise<void> {
    const account = { lamports, data: data.toString("hex"), owner: program, executable: false };
    await this.call("surfnet_setAccount", [address, account]);
  }

  async setLamports(address: string, lamports: bigint): Promise<void> {
    const account = { lamports: Number(lamports), data: Buffer.alloc(0), program: SYSTEM_PROGRAM };
    await this.setAccount(address, account);
  }

  async setTokens(address: string, { mint, owner, amount, program }: SetTokens): Promise<void> {
    const data = Buffer.alloc(165);
    data.set(bs58.decode(mint), 0);
    data.set(bs58.decode(owner), 32);
    data.writeBigUInt64LE(amount, 64);
    data[STATE_AT] = 1;
    await this.setAccount(address, { lamports: ACCOUNT_RENT, data, program: TOKEN_PROGRAMS[program] });
  }

  async freeze(address: string): Promise<void> {
    const asked = [address, { encoding: "base64", commitment: "processed" }];
    const { value } = (await this.call("getAccountInfo", asked)) as { readonly value: EncodedAccount };
    const data = Buffer.from(value.data[0], "base64");
    data[STATE_AT] = 2;
    await this.setAccount(address, { lamports: value.lamports, data, program: value.owner });
  }

  /** A mint of six decimals, whose authority is nobody. */
  async newMint(program: TokenProgram): Promise<Address> {
    const address = this.newAddress();
    await this.setAccount(address, { lamports: 1_461_600, data: MINT, program: TOKEN_PROGRAMS[program] });
    return address;
  }

  close(): void {
    clearInterval(this.#draining);
    this.#node.stop();
  }
}

interface Position {
  readonly absoluteSlot: number;
  readonly blockHeight: number;
}

/** Where a token account says whether it is frozen. */
const STATE_AT = 108;

interface EncodedAccount {
  readonly lamports: number;
  readonly owner: string;
  readonly data: readonly [string, string];
}

const MINT = Buffer.alloc(82);
MINT.writeBigUInt64LE(10n ** 15n, 36);
MINT[44] = 6;
MINT[45] = 1;
