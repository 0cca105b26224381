/** Nodes that answer what a test wrote down for them, and a way to let virtual time pass while they do. */
import type { Fetch } from "../../src/solana/index.ts";
import { CLOCK_SYSVAR, SYSVAR_OWNER } from "../../src/solana/programs.ts";
import type { VirtualClock } from "../kit/virtual-clock.ts";

/** A JSON-RPC call as a node receives it. */
export interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What a node does with one call. */
export type Reply = (call: Call) => Response | Promise<Response>;

/** A node with a script. */
export interface ScriptedNode {
  readonly fetch: Fetch;
  /** The methods it was asked for, in order, those of the survey not counted. */
  readonly calls: string[];
  /** How it answers when the survey looks how far it is. */
  look: Reply;
}

/** A node that answers each call with the next reply, the last one for ever, and the survey as it is told to. */
export function scriptedNode(...script: Reply[]): ScriptedNode {
  const calls: string[] = [];
  const node: ScriptedNode = {
    calls,
    look: endAt(1_000),
    fetch: async (_url, init) => {
      const call = JSON.parse(typeof init?.body === "string" ? init.body : "") as Call;
      if (isLook(call)) return await node.look(call);
      calls.push(call.method);
      const answer = script[Math.min(calls.length, script.length) - 1];
      if (answer === undefined) throw new Error("a scripted node needs a script");
      return await answer(call);
    },
  };
  return node;
}

function isLook({ method, params }: Call): boolean {
  return method === "getMultipleAccounts" && String(params[0]) === CLOCK_SYSVAR;
}

/** The newest block of a node: its slot, and its time, by default that of the virtual clock's start. */
export function endAt(slot: number, time = Date.UTC(2026, 0, 1)): Reply {
  const data = Buffer.alloc(40);
  data.writeBigUInt64LE(BigInt(slot), 0);
  data.writeBigInt64LE(BigInt(Math.floor(time / 1_000)), 32);
  const account = {
    lamports: 1,
    data: [data.toString("base64"), "base64"],
    owner: SYSVAR_OWNER,
    executable: false,
    rentEpoch: 0,
  };
  return result({ context: { slot }, value: [account] });
}

/** An answer with this result. */
export const result =
  (value: unknown): Reply =>
  (call) =>
    Response.json({ jsonrpc: "2.0", id: call.id, result: value });

/** A JSON-RPC error, in words that quote a key. */
export const rpcError =
  (code: number): Reply =>
  (call) =>
    Response.json({
      jsonrpc: "2.0",
      id: call.id,
      error: { code, message: "secret https://node.example/?api-key=k3y" },
    });

/** An HTTP status with a body that quotes a key. */
export const httpError =
  (status: number, headers: Record<string, string> = {}): Reply =>
  () =>
    new Response("secret k3y", { status, headers });

/** No connection, as Node's `fetch` says it. */
export const brokenConnection: Reply = () => {
  throw new TypeError("fetch failed: https://node.example/?api-key=k3y");
};

/** Takes the call and never answers. */
export const silence: Reply = () => new Promise<Response>(() => undefined);

/** Lets everything happen that waits for nothing but its turn. */
export async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Turns the clock in small steps until the promise settles, and says how much virtual time that took. Where real sockets
 * answer, the steps must be so small that no deadline passes meanwhile.
 */
export async function elapsed(clock: VirtualClock, work: Promise<unknown>, stepMs = 50): Promise<number> {
  const start = clock.now();
  let settled = false;
  const done = work.then(
    () => (settled = true),
    () => (settled = true),
  );
  while (!settled) {
    // A read leaves at the end of the turn in which it was asked for.
    await turns(4);
    if (!settled) clock.advance(stepMs);
  }
  await done;
  return clock.now() - start;
}
