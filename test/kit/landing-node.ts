/** A node on whose chain many transactions land at once, and that takes its time for every answer. */
import bs58 from "bs58";
import type { Fetch } from "../../src/solana/index.ts";
import type { Clock } from "../../src/core/runtime.ts";

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** What a signature is on its chain; absent where nothing is set. */
export type OnChain = "finalized" | "confirmed" | "finalized without receipt";

/** A node, and what it was asked. */
export interface LandingNode {
  readonly fetch: Fetch;
  readonly chain: Map<string, OnChain>;
  /** Milliseconds for each answer; null: it is out, and refuses every call but sends. */
  latencyMs: number | null;
  /** Answered questions, by method; of those about one signature, the signature. */
  readonly asked: { readonly method: string; readonly signatures: readonly string[] }[];
  /** The most calls that waited for their answer at one time. */
  mostAtOnce: number;
  /** Is told of all bytes that are sent to it, in base64. */
  onSend: (bytes: string) => void;
}

const SLOT = 1_000;
const HEIGHT = 900;
const ADDRESS = "11111111111111111111111111111111";

// One signer, no instruction: header, two keys and a blockhash of zeros, and the number of instructions.
const MESSAGE = Buffer.concat([Buffer.from([1, 0, 1, 2]), Buffer.alloc(3 * 32), Buffer.from([0])]);

/** The answer for a landed transaction, asked for in base64. */
function receiptOf(signature: string): object {
  const bytes = Buffer.concat([Buffer.from([1]), bs58.decode(signature), MESSAGE]);
  const balances = { preBalances: [1, 1], postBalances: [1, 1], preTokenBalances: [], postTokenBalances: [] };
  const meta = { err: null, fee: 5_000, innerInstructions: [], logMessages: [], ...balances };
  return {
    slot: SLOT,
    blockTime: 1,
    version: "legacy",
    meta,
    transaction: [bytes.toString("base64"), "base64"],
  };
}

/** A node that answers after `latencyMs` of the given clock. */
export function landingNode(clock: Clock, latencyMs: number | null): LandingNode {
  let atOnce = 0;
  const node: LandingNode = {
    latencyMs,
    chain: new Map(),
    asked: [],
    mostAtOnce: 0,
    onSend: () => undefined,
    async fetch(_input, init) {
      const call = JSON.parse(typeof init?.body === "string" ? init.body : "") as Call;
      const isOut = node.latencyMs === null && call.method !== "sendTransaction";
      if (isOut) return new Response("", { status: 503 });
      const [first] = call.params ?? [];
      atOnce += 1;
      node.mostAtOnce = Math.max(node.mostAtOnce, atOnce);
      await clock.sleep(node.latencyMs ?? 0);
      atOnce -= 1;
      const { result, signatures } = answer(call.method, first);
      node.asked.push({ method: call.method, signatures });
      return Response.json({ jsonrpc: "2.0", id: call.id, result });
    },
  };
  const statusOf = (signature: string): object | null => {
    const state = node.chain.get(signature);
    if (state === undefined) return null;
    const confirmationStatus = state === "confirmed" ? "confirmed" : "finalized";
    return { slot: SLOT, confirmations: null, err: null, status: { Ok: null }, confirmationStatus };
  };
  const answer = (
    method: string,
    first: unknown,
  ): { readonly result: unknown; readonly signatures: readonly string[] } => {
    switch (method) {
      case "getSignatureStatuses": {
        const signatures = first as readonly string[];
        return { signatures, result: { context: { slot: SLOT }, value: signatures.map(statusOf) } };
      }
      case "getTransaction": {
        const signature = String(first);
        const isThere = node.chain.get(signature) === "finalized";
        return { signatures: [signature], result: isThere ? receiptOf(signature) : null };
      }
      case "getEpochInfo": {
        const epoch = { epoch: 0, slotIndex: SLOT, slotsInEpoch: 432_000 };
        return { signatures: [], result: { ...epoch, absoluteSlot: SLOT - 32, blockHeight: HEIGHT } };
      }
      case "getGenesisHash":
        return { signatures: [], result: ADDRESS };
      case "sendTransaction":
        node.onSend(String(first));
        return { signatures: [], result: ADDRESS };
      default:
        return { signatures: [], result: ADDRESS };
    }
  };
  return node;
}
