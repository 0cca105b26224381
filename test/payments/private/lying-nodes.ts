/** Nodes of one chain that each tell it in their own way: what they forgot, what they invent, what they keep to themselves. */
import bs58 from "bs58";
import type { EndpointOptions } from "../../../src/solana/index.ts";
import { signatureOf } from "../../../src/solana/rpc/landed-transaction.ts";
import type { ChainFixture } from "../../kit/chain-fixture.ts";

/** A call as a node receives it, and what the honest answer to it would be. Asking for that carries the call out. */
export interface Asked {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly truth: () => Promise<unknown>;
}

/** What a node answers in the place of the truth; undefined where it has nothing to hide. */
export type Lie = (asked: Asked) => Promise<unknown> | undefined;

/** A node whose lies come and go. */
export interface LyingNode {
  readonly endpoint: EndpointOptions;
  /** The first lie that has an answer is told. Returns what ends this one. */
  tell(lie: Lie): () => void;
}

/** A node of the chain. What one of them tells or takes is not known to the others. */
export function lyingNode(chain: ChainFixture["chain"], name: string): LyingNode {
  const lies = new Set<Lie>();
  const url = `http://${name}.example`;
  const answer = async (body: string): Promise<Response> => {
    const { id, method, params } = JSON.parse(body) as {
      readonly id: unknown;
      readonly method: string;
      readonly params?: readonly unknown[];
    };
    const honest = (): Promise<Response> => chain.fetch(url, { body });
    const truth = async (): Promise<unknown> => {
      const { result, error } = (await (await honest()).json()) as { result?: unknown; error?: unknown };
      if (error !== undefined) throw new Error(`${method} fails: ${JSON.stringify(error)}`);
      return result;
    };
    for (const lie of lies) {
      const told = lie({ method, params: params ?? [], truth });
      if (told !== undefined) return Response.json({ jsonrpc: "2.0", id, result: await told });
    }
    return honest();
  };
  return {
    endpoint: { url, fetch: async (_url, init) => answer(typeof init?.body === "string" ? init.body : "") },
    tell(lie) {
      lies.add(lie);
      return () => void lies.delete(lie);
    },
  };
}

interface WithContext {
  readonly context: { readonly slot: number };
  readonly value: readonly unknown[];
}

interface Told {
  readonly slot: number;
}

/** Something else than the truth about one method. */
function about(
  method: string,
  retell: (honest: unknown, params: readonly unknown[]) => unknown,
): (asked: Asked) => Promise<unknown> | undefined {
  const retold = async ({ params, truth }: Asked): Promise<unknown> => retell(await truth(), params);
  return (asked) => (asked.method === method ? retold(asked) : undefined);
}

/** The first of several lies that has an answer. */
function anyOf(...lies: readonly Lie[]): Lie {
  return (asked) => {
    for (const lie of lies) {
      const told = lie(asked);
      if (told !== undefined) return told;
    }
    return undefined;
  };
}

/** It was set up from a snapshot: of what happened before this slot it knows the outcome, and not that it happened. */
export function withoutHistoryBefore(first: number): Lie {
  const isKnown = (told: unknown): boolean => told !== null && (told as Told).slot >= first;
  return anyOf(
    about("getSignatureStatuses", (honest) => {
      const { context, value } = honest as WithContext;
      return { context, value: value.map((each) => (isKnown(each) ? each : null)) };
    }),
    about("getTransaction", (honest) => (isKnown(honest) ? honest : null)),
    about("getSignaturesForAddress", (honest) => (honest as readonly Told[]).filter(isKnown)),
    about("getFirstAvailableBlock", () => first),
  );
}

/** It knows of no transaction, and says that it has all history. */
export const deniesTransactions: Lie = anyOf(
  about("getSignatureStatuses", (honest) => {
    const { context, value } = honest as WithContext;
    return { context, value: value.map(() => null) };
  }),
  about("getTransaction", () => null),
  about("getSignaturesForAddress", () => []),
);

/** Of these signatures it says that they are finalized, with this error, or without one where it is null. */
export function reportsFinalized(
  outcome: unknown,
  isMeant: (signature: string) => Promise<boolean> = async () => true,
): Lie {
  return about("getSignatureStatuses", async (honest, params) => {
    const { context, value } = honest as WithContext;
    const told = { slot: context.slot, confirmations: null, err: outcome, confirmationStatus: "finalized" };
    const isToldOf = await Promise.all((params[0] as readonly string[]).map(isMeant));
    return { context, value: value.map((each, index) => (isToldOf[index] === true ? told : each)) };
  });
}

/** Its answers to this method are of no use. */
export function garbles(method: string): Lie {
  return about(method, () => "garbled");
}

/** Each transaction it tells as one that this stranger alone has signed, under the signature that was asked for. */
export function renamesSigners(stranger: string): Lie {
  return about("getTransaction", (honest, [signature]) => {
    if (honest === null) return null;
    const message = [Uint8Array.of(1, 0, 0, 1), bs58.decode(stranger), new Uint8Array(32), Uint8Array.of(0)];
    const bytes = Buffer.concat([Uint8Array.of(1), bs58.decode(String(signature)), ...message]);
    return { ...(honest as object), transaction: [bytes.toString("base64"), "base64"] };
  });
}

/** It takes bytes, and gives them to nobody. */
export const swallowsBytes: Lie = ({ method, params }) =>
  method === "sendTransaction"
    ? Promise.resolve(signatureOf(Buffer.from(String(params[0]), "base64")))
    : undefined;

/** It takes bytes, gives them to nobody, and says that they landed with this error. Told by several, it is one lie. */
export function failsBytes(err: unknown): Lie {
  const taken = new Map<string, { readonly bytes: string; slot: number }>();
  const take: Lie = ({ method, params: [sent] }) => {
    if (method !== "sendTransaction") return undefined;
    const bytes = String(sent);
    const signature = signatureOf(Buffer.from(bytes, "base64"));
    if (!taken.has(signature)) taken.set(signature, { bytes, slot: 0 });
    return Promise.resolve(signature);
  };
  const tellStatus = about("getSignatureStatuses", (honest, [signatures]) => {
    const { context, value } = honest as WithContext;
    const told = (signatures as readonly string[]).map((signature, index) => {
      const landed = taken.get(signature);
      if (landed === undefined) return value[index];
      landed.slot ||= context.slot;
      return { slot: landed.slot, confirmations: null, err, confirmationStatus: "finalized" };
    });
    return { context, value: told };
  });
  const tellReceipt = about("getTransaction", (honest, [signature]) => {
    const landed = taken.get(String(signature));
    if (landed === undefined) return honest;
    const meta = { err, fee: 10_000, preBalances: [], postBalances: [] };
    return { slot: landed.slot, blockTime: 1, meta, transaction: [landed.bytes, "base64"], version: 0 };
  });
  return anyOf(take, tellStatus, tellReceipt);
}

/** It lists none of these transactions. */
export function omits(signatures: readonly string[]): Lie {
  return about("getSignaturesForAddress", (honest) =>
    (honest as readonly { readonly signature: string }[]).filter(
      ({ signature }) => !signatures.includes(signature),
    ),
  );
}

/** What has landed in these slots, the last one excluded, it lists later. */
export function listsOutside(hidden: { readonly from: number; readonly to: number }): Lie {
  return about("getSignaturesForAddress", (honest) =>
    (honest as readonly Told[]).filter(({ slot }) => slot < hidden.from || slot >= hidden.to),
  );
}

/** Of the accounts that the choice falls on it says that they do not exist. */
export function hidesAccounts(isHidden: (address: string) => Promise<boolean>): Lie {
  return about("getMultipleAccounts", async (honest, params) => {
    const { context, value } = honest as WithContext;
    const areHidden = await Promise.all((params[0] as readonly string[]).map(isHidden));
    return { context, value: value.map((each, index) => (areHidden[index] === true ? null : each)) };
  });
}

/** A lie about what is confirmed, and about nothing else. */
export function ofConfirmed(lie: Lie): Lie {
  return (asked) => {
    const [, query] = asked.params as readonly [unknown, { readonly commitment?: string }?];
    return query?.commitment === "confirmed" ? lie(asked) : undefined;
  };
}

/** Storage on the chain costs so many hundredths of what it does. */
export function tellsRent(percent: bigint): Lie {
  return about("getMultipleAccounts", (honest, params) => {
    const { context, value } = honest as WithContext;
    const asked = params[0] as readonly string[];
    return {
      context,
      value: value.map((each, index) => (asked[index] === RENT ? repriced(each, percent) : each)),
    };
  });
}

const RENT = "SysvarRent111111111111111111111111111111111";

function repriced(account: unknown, percent: bigint): unknown {
  const { data, ...rest } = account as { readonly data: readonly [string, string] };
  const bytes = Buffer.from(data[0], "base64");
  bytes.writeBigUInt64LE((bytes.readBigUInt64LE(0) * percent) / 100n, 0);
  return { ...rest, data: [bytes.toString("base64"), data[1]] };
}

/** Its blocks are so many higher than anybody else's. */
export function isAhead(blocks: number, commitment: "confirmed" | "finalized" = "finalized"): Lie {
  return aboutEnd(commitment, (honest) => {
    const info = honest as { readonly blockHeight: number };
    return { ...info, blockHeight: info.blockHeight + blocks };
  });
}

function aboutEnd(commitment: string, retell: (honest: unknown) => unknown): Lie {
  return about("getEpochInfo", (honest, [query]) =>
    (query as { readonly commitment?: string }).commitment === commitment ? retell(honest) : honest,
  );
}

/** Whatever is simulated would go through. */
export const simulatesAnything: Lie = about("simulateTransaction", (honest) => {
  const { context, value } = honest as { readonly context: unknown; readonly value: object };
  return { context, value: { ...value, err: null } };
});

/** Its newest blockhash is one that nobody else knows, and lives for ever. */
export function inventsBlockhash(blockhash: string): Lie {
  return anyOf(
    about("getLatestBlockhash", (honest) => {
      const { context } = honest as WithContext;
      return { context, value: { blockhash, lastValidBlockHeight: Number.MAX_SAFE_INTEGER } };
    }),
    about("getFeeForMessage", (honest) => ({ ...(honest as WithContext), value: 10_000 })),
  );
}
