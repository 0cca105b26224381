/** Endpoints of one local chain with faults of their own: one lies or has forgotten while the other is honest. */
import type { EndpointOptions, Fetch } from "../../src/solana/index.ts";
import type { Fault, LocalChain, RpcRequest } from "../../src/local/index.ts";

/** What goes wrong with a call to one endpoint. */
export type OddRule = (request: RpcRequest) => Fault | undefined;

/** An endpoint whose faults can be changed. */
export interface OddEndpoint {
  readonly option: Exclude<EndpointOptions, string>;
  /** Undefined: it is honest. */
  rule: OddRule | undefined;
  /** The methods it was asked for, in order. */
  readonly calls: string[];
}

/** Makes an endpoint by this name. Its calls carry the name behind their last parameter, where no method reads. */
export function oddEndpoint(chain: LocalChain, name: string, rule?: OddRule): OddEndpoint {
  const calls: string[] = [];
  const fetch: Fetch = async (input, init) => {
    const call = JSON.parse(typeof init?.body === "string" ? init.body : "") as { params?: unknown[] };
    const body = JSON.stringify({ ...call, params: [...(call.params ?? []), { endpoint: name }] });
    return await chain.fetch(input, { ...init, body });
  };
  const endpoint: OddEndpoint = { option: { url: `http://${name}.example`, fetch }, rule, calls };
  chain.faults.add((request) => {
    const marker = request.params.at(-1) as { readonly endpoint?: string } | undefined;
    if (marker?.endpoint !== name) return undefined;
    calls.push(request.method);
    return endpoint.rule?.(request);
  });
  return endpoint;
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
