/** One proxy before a node, of the local chain or of any other: it does with each call what a rule says. */
import bs58 from "bs58";
import { type Clock, systemClock } from "../../src/core/runtime.ts";
import { splitTransaction } from "../../src/ledger/wire-format.ts";
import type { Fault, LocalChain, RpcRequest } from "../../src/local/index.ts";
import type { Fetch } from "../../src/solana/index.ts";

/** What a node knows of its chain's past: the node's own, which no answer in its place can show. */
export type OwnFault = Extract<Fault, { readonly kind: "lag" | "restored" }>;

/** What goes wrong with a call. `say`: what answers is no node. `twice`: the call is made again. */
export type Odd =
  | Fault
  | { readonly kind: "say"; readonly text: string; readonly status?: number }
  | { readonly kind: "twice" };

/** What goes wrong with a call to one node. */
export type ProxyRule = (request: RpcRequest) => Odd | undefined;

/** The way to a node that has this fault of its own, or none. */
export type NodeWay = (own?: OwnFault) => Fetch;

interface Call {
  readonly id?: unknown;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** A node whose faults can be changed. */
export class NodeProxy {
  /** Undefined: it is honest. */
  rule: ProxyRule | undefined;
  /** The methods it was asked for, in order. */
  readonly calls: string[] = [];
  readonly #way: NodeWay;
  readonly #clock: Clock;

  constructor(way: NodeWay, rule?: ProxyRule, clock: Clock = systemClock) {
    this.#way = way;
    this.rule = rule;
    this.#clock = clock;
  }

  readonly fetch: Fetch = async (url, init) => {
    const asked = JSON.parse(typeof init?.body === "string" ? init.body : "") as Call | readonly Call[];
    const calls = [asked].flat() as readonly Call[];
    const odds = calls.map(({ method, params = [] }) => {
      this.calls.push(method);
      return this.rule?.({ transport: "http", method, params });
    });
    if (odds.every((odd) => odd === undefined)) return await this.#way()(url, init);
    const answers = await Promise.all(
      calls.map((call, at) => {
        const pass = (way: Fetch): Promise<Response> => way(url, { ...init, body: JSON.stringify(call) });
        return this.#answer(call, odds[at], { pass, signal: init?.signal });
      }),
    );
    const [first] = answers;
    if (first === undefined || !Array.isArray(asked)) return first ?? Response.json([]);
    const refused = answers.find(({ ok }) => !ok);
    return refused ?? Response.json(await Promise.all(answers.map((answer) => answer.json())));
  };

  async #answer(call: Call, odd: Odd | undefined, { pass, signal }: OnTheWay): Promise<Response> {
    const answer = (told: object): Response => Response.json({ jsonrpc: "2.0", id: call.id, ...told });
    switch (odd?.kind) {
      case "lag":
      case "restored":
        return await pass(this.#way(odd));
      case "delay":
        await this.#clock.sleep(odd.ms, signal ?? undefined);
        return await pass(this.#way());
      case "refuse":
        return new Response("", { status: odd.status, headers: odd.headers ?? {} });
      case "say":
        return new Response(odd.text, {
          status: odd.status ?? 200,
          headers: { "content-type": "text/html" },
        });
      case "error":
        return answer({ error: { code: odd.code, message: odd.message, data: odd.data } });
      case "hang":
        return await untilAborted(signal);
      case "lose-answer":
        await (await pass(this.#way())).text();
        return new Response("", { status: odd.status });
      case "twice":
        await (await pass(this.#way())).text();
        return await pass(this.#way());
      case "lie": {
        const told = (await (await pass(this.#way())).json()) as { readonly result?: unknown };
        return Response.json("result" in told ? { ...told, result: odd.answer(told.result) } : told);
      }
      case "drop":
        if (call.method === "sendTransaction") return answer({ result: signatureOf(call.params?.[0]) });
        return await pass(this.#way());
      case undefined:
        return await pass(this.#way());
    }
  }
}

/** How a call goes on. */
interface OnTheWay {
  readonly pass: (way: Fetch) => Promise<Response>;
  readonly signal: AbortSignal | null | undefined;
}

/** The way to the nodes of a local chain, in this process or over its listener: a fault of their own stands behind the last parameter. */
export function wayTo(chain: Pick<LocalChain, "fetch" | "faults">, reach: Fetch = chain.fetch): NodeWay {
  chain.faults.add(({ params }) => (params.at(-1) as { readonly own?: OwnFault } | null | undefined)?.own);
  return (own) => async (url, init) => {
    if (own === undefined) return await reach(url, init);
    const call = JSON.parse(typeof init?.body === "string" ? init.body : "") as Call;
    const body = JSON.stringify({ ...call, params: [...(call.params ?? []), { own }] });
    return await reach(url, { ...init, body });
  };
}

/** The first signature of a transaction in base64. */
export function signatureOf(bytes: unknown): string {
  const [first = new Uint8Array()] = splitTransaction(Buffer.from(String(bytes), "base64"))?.signatures ?? [];
  return bs58.encode(first);
}

function untilAborted(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(new Error("the call ended without an answer", { cause: signal?.reason }));
    if (signal?.aborted === true) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
