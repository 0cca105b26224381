/** A relay that only sends, for a tip, in front of the local chain. */
import { SystemInstruction, SystemProgram, TransactionInstruction, VersionedMessage } from "@solana/web3.js";
import { splitTransaction } from "../../src/ledger/wire-format.ts";
import type { Address } from "../../src/address.ts";
import type { EndpointSettings, Fetch } from "../../src/solana/index.ts";
import type { LocalChain } from "../../src/local/index.ts";

/** The relay, and what it was sent. */
export interface TipRelay {
  readonly option: EndpointSettings;
  /** The bytes that it was sent, in base64, each once. */
  readonly sent: Set<string>;
}

/** Makes a relay that wants so many lamports to one of its accounts. */
export function tipRelay(
  chain: Pick<LocalChain, "fetch">,
  accounts: readonly Address[],
  lamports: bigint,
): TipRelay {
  const sent = new Set<string>();
  const fetch: Fetch = async (url, init) => {
    const { method, params } = JSON.parse(typeof init?.body === "string" ? init.body : "") as {
      readonly method: string;
      readonly params?: readonly unknown[];
    };
    if (method !== "sendTransaction") throw new Error(`a relay is not asked for ${method}`);
    sent.add(String(params?.[0]));
    return await chain.fetch(url, init);
  };
  return {
    option: { url: "http://relay.example", fetch, roles: ["send"], tip: { accounts, lamports } },
    sent,
  };
}

/** The last instruction of a transaction where it is a plain transfer: its payer, its receiver and its lamports. */
export function lastTransfer(
  bytes: Uint8Array,
): { readonly from: string; readonly to: string; readonly lamports: bigint } | null {
  const message = VersionedMessage.deserialize(splitTransaction(bytes)?.message ?? new Uint8Array());
  const keys = message.staticAccountKeys;
  const last = message.compiledInstructions.at(-1);
  const programId = keys[last?.programIdIndex ?? -1];
  if (last === undefined || programId?.equals(SystemProgram.programId) !== true) return null;
  const instruction = new TransactionInstruction({
    programId,
    keys: last.accountKeyIndexes.flatMap((index) => {
      const pubkey = keys[index];
      return pubkey === undefined ? [] : [{ pubkey, isSigner: false, isWritable: true }];
    }),
    data: Buffer.from(last.data),
  });
  if (SystemInstruction.decodeInstructionType(instruction) !== "Transfer") return null;
  const { fromPubkey, toPubkey, lamports } = SystemInstruction.decodeTransfer(instruction);
  return { from: fromPubkey.toBase58(), to: toPubkey.toBase58(), lamports };
}
