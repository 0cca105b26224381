/** A node that does not answer at first, and serves one chain or another later. */
import type { LocalChain } from "../../src/local/index.ts";
import type { EndpointOptions, Fetch } from "../../src/solana/index.ts";
import { turns } from "../kit/engine-world.ts";
import type { VirtualClock } from "../kit/virtual-clock.ts";

/** What a node answers: nothing, each call with 403; nothing at all, so that who asks waits; or for a chain. */
export type Serving = "refuses" | "hangs" | Pick<LocalChain, "fetch">;

export interface LateNode {
  readonly option: EndpointOptions;
  serves: Serving;
  /** The methods it was asked for, in order, while it served a chain or not. */
  readonly asked: string[];
  /** How often it was asked to send bytes. */
  sent(): number;
}

export function lateNode(serves: Serving = "refuses", host = "late.example"): LateNode {
  const asked: string[] = [];
  const fetch: Fetch = async (input, init) => {
    const { method } = JSON.parse(typeof init?.body === "string" ? init.body : "{}") as { method: string };
    asked.push(method);
    if (node.serves === "refuses") return new Response("", { status: 403 });
    if (node.serves === "hangs") return new Promise<never>(() => {});
    return node.serves.fetch(input, init);
  };
  const node: LateNode = {
    option: { url: `http://${host}`, fetch },
    serves,
    asked,
    sent: () => asked.filter((method) => method === "sendTransaction").length,
  };
  return node;
}

const STEP_MS = 1_000;
const TURNS_A_STEP = 25;

/** Lets time pass while what is due waits on purpose. */
export async function live(clock: VirtualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP_MS) {
    clock.advance(STEP_MS);
    await turns(TURNS_A_STEP);
  }
}

/** The answer of something that waits for time to pass. */
export async function living<T>(clock: VirtualClock, ending: Promise<T>): Promise<T> {
  let isOver = false;
  const ended = ending.finally(() => (isOver = true));
  ended.catch(() => {});
  while (!isOver) await live(clock, STEP_MS);
  return ended;
}
