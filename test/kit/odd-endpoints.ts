/** Endpoints of one local chain with faults of their own, and the rules that odd nodes follow. */
import type { Clock } from "../../src/core/runtime.ts";
import type { EndpointOptions } from "../../src/solana/index.ts";
import type { Fault, FaultRule, LocalChain } from "../../src/local/index.ts";
import { NodeProxy, wayTo, type Odd, type ProxyRule } from "./node-proxy.ts";

/** What goes wrong with a call to one endpoint. */
export type OddRule = FaultRule;

/** An endpoint whose faults can be changed. */
export type OddEndpoint = NodeProxy & { readonly option: Exclude<EndpointOptions, string> };

/** Makes an endpoint by this name. */
export function oddEndpoint(chain: LocalChain, name: string, rule?: OddRule): OddEndpoint {
  const proxy = new NodeProxy(wayTo(chain), rule);
  return Object.assign(proxy, { option: { url: `http://${name}.example`, fetch: proxy.fetch } });
}

/** Decides by the number of a call, from 0, how many slots the node that it meets is behind. */
export type SlotsBehind = (call: number) => number;

/** The first call and every second one after it meet a node that is `slots` behind. */
export const everySecond =
  (slots: number): SlotsBehind =>
  (call) =>
    call % 2 === 0 ? slots : 0;

/** One URL stands for several nodes, some of which are a few slots behind the others. */
export function pool(behind: SlotsBehind): OddRule {
  let calls = 0;
  return () => {
    const slots = behind(calls);
    calls += 1;
    return slots === 0 ? undefined : { kind: "lag", slots };
  };
}

/** Answers of what is no node of this chain, or not as it should be. */
export const ODD_ANSWERS: readonly Odd[] = [
  { kind: "error", code: -32602, message: "Invalid params" },
  { kind: "say", text: "<html>" },
  { kind: "say", text: "" },
  { kind: "lie", answer: () => "none" },
];

/** Every fifth answer is one of these, in turn. */
export function everyFifth(odd: readonly Odd[]): ProxyRule {
  let calls = 0;
  return () => {
    calls += 1;
    return calls % 5 === 0 ? odd[(calls / 5) % odd.length] : undefined;
  };
}

/** It takes so many sends within any second, and refuses the others. */
export function sendLimit(
  clock: Pick<Clock, "now">,
  perSecond: number,
): OddRule & { readonly taken: number[] } {
  const taken: number[] = [];
  const rule: OddRule = ({ method }) => {
    if (method !== "sendTransaction") return undefined;
    const now = clock.now();
    if (taken.filter((at) => now - at < 1_000).length >= perSecond) {
      return { kind: "refuse", status: 429, headers: { "retry-after": "1" } };
    }
    taken.push(now);
    return undefined;
  };
  return Object.assign(rule, { taken });
}

/** It refuses every call. */
export const gone: OddRule = () => ({ kind: "refuse", status: 403 });

/** It was restored from a snapshot: nothing of before this slot is in its ledger. */
export function restoredAt(firstSlot: number): OddRule {
  return () => ({ kind: "restored", firstSlot });
}

/** It lies about one method. */
export function lyingAbout(method: string, answer: (honest: never) => unknown): OddRule {
  return (request) => (request.method === method ? { kind: "lie", answer: answer as never } : undefined);
}

/** It is honest, and the parameters of each call of this method are noted. */
export function noting(method: string): OddRule & { readonly params: readonly (readonly unknown[])[] } {
  const params: (readonly unknown[])[] = [];
  const rule: OddRule = (request) => {
    if (request.method === method) params.push(request.params);
    return undefined;
  };
  return Object.assign(rule, { params });
}

/** It takes transactions and passes none on. */
export const dropping: OddRule = ({ method }) =>
  method === "sendTransaction" ? { kind: "drop" } : undefined;

/** It knows no signature. */
export const noStatuses = lyingAbout(
  "getSignatureStatuses",
  ({ context, value }: { context: object; value: unknown[] }) => ({ context, value: value.map(() => null) }),
);

/** It lists no transaction of anybody. */
export const noLists = lyingAbout("getSignaturesForAddress", () => []);

/** It does what the first of these rules that has something to say says. */
export const allOf =
  (...rules: readonly OddRule[]): OddRule =>
  (request) =>
    rules.map((rule) => rule(request)).find((fault) => fault !== undefined);

/** It calls every signature finalized, in this slot, with this outcome. */
export function callingAllFinal(slot: number, err: unknown = null): OddRule {
  return lyingAbout("getSignatureStatuses", ({ context, value }: { context: object; value: unknown[] }) => ({
    context,
    value: value.map(() => ({ slot, confirmations: null, err, confirmationStatus: "finalized" })),
  }));
}

/** The lie of a node whose status index has a hole: every signature is unknown to it. */
export const NO_STATUSES: Fault = {
  kind: "lie",
  answer: (honest) => {
    const { context, value } = honest as { context: unknown; value: readonly unknown[] };
    return { context, value: value.map(() => null) };
  },
};
