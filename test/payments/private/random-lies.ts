/** Lies that nodes tell at random: as data, so that a life with them can be repeated, and as the rule of an endpoint. */
import fc from "fast-check";
import type { Fault, RpcRequest } from "../../../src/local/index.ts";
import type { OddRule } from "../../kit/odd-endpoints.ts";
import { anyMutation, mutated, type Mutation } from "./mutated-answers.ts";

/** What a node says instead of the truth, about some of what it is asked for. */
export type Lie =
  | { readonly about: "statuses"; readonly says: "unknown" | "failed" | "final" | "processed" }
  | { readonly about: "receipts"; readonly says: "unknown" | "failed" | "nothing moved" }
  | { readonly about: "listings"; readonly says: "empty" | "failed" | "halved" | "invented" }
  | { readonly about: "accounts"; readonly says: "absent" | "rich" | "poor" | "others" }
  | { readonly about: "heights"; readonly blocks: number }
  | { readonly about: "slots"; readonly slots: number }
  | { readonly about: "time"; readonly seconds: number }
  | { readonly about: "blockhashes"; readonly says: "invented" | "valid" | "expired" }
  | { readonly about: "simulations"; readonly says: "well" | "poor" | "payee fails" }
  | { readonly about: "sending"; readonly says: "dropped" | "error" | "answer lost" }
  | { readonly about: "rent"; readonly times: number }
  /** It was restored from a snapshot of so many slots ago. */
  | { readonly about: "history"; readonly slots: number }
  | { readonly about: "lag"; readonly slots: number }
  | { readonly about: "everything"; readonly says: "null" | "refusal" | "error" | "silence" }
  /** Anything in the answers to one method is something else. */
  | { readonly about: "fields"; readonly mutation: Mutation };

/** So far ahead is the height that a liar tells at the most. */
export const MAX_TOLD_BLOCKS = 1_000_000;

/** Whom it is told by, and of which of the things that are asked for: one in so many, chosen by `grain`. */
export interface ToldLie {
  readonly lie: Lie;
  readonly by: 0 | 1 | "all";
  readonly oneIn: 1 | 2 | 4;
  readonly grain: number;
}

const words = <T extends string>(...all: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...all);
const saying = <A extends Lie["about"], T extends string>(about: A, ...all: readonly T[]) =>
  fc.record({ about: fc.constant(about), says: words(...all) });

const anyLie: fc.Arbitrary<Lie> = fc.oneof(
  saying("statuses", "unknown", "failed", "final", "processed"),
  saying("receipts", "unknown", "failed", "nothing moved"),
  saying("listings", "empty", "failed", "halved", "invented"),
  saying("accounts", "absent", "rich", "poor", "others"),
  fc.record({
    about: fc.constant("heights" as const),
    blocks: fc.constantFrom(-200, 151, 1_000, MAX_TOLD_BLOCKS),
  }),
  fc.record({ about: fc.constant("slots" as const), slots: fc.constantFrom(-100, 40, 5_000) }),
  fc.record({ about: fc.constant("time" as const), seconds: fc.constantFrom(-3_600, 1_860, 86_400) }),
  saying("blockhashes", "invented", "valid", "expired"),
  saying("simulations", "well", "poor", "payee fails"),
  saying("sending", "dropped", "error", "answer lost"),
  fc.record({ about: fc.constant("rent" as const), times: fc.constantFrom(0, 2, 1_000) }),
  fc.record({ about: fc.constant("history" as const), slots: fc.integer({ min: 0, max: 300 }) }),
  fc.record({ about: fc.constant("lag" as const), slots: fc.constantFrom(3, 40, 100) }),
  saying("everything", "null", "refusal", "error", "silence"),
);
const anyMutated: fc.Arbitrary<Lie> = anyMutation.map((mutation) => ({ about: "fields", mutation }));

/** Most are told by all endpoints at once. */
export const anyToldLie: fc.Arbitrary<ToldLie> = fc.record({
  lie: fc.oneof({ weight: 2, arbitrary: anyLie }, { weight: 1, arbitrary: anyMutated }),
  by: fc.constantFrom<(0 | 1 | "all")[]>("all", "all", "all", 0, 1),
  oneIn: fc.constantFrom<(1 | 2 | 4)[]>(1, 1, 2, 4),
  grain: fc.nat({ max: 1_000 }),
});

/** The rule of an endpoint that tells these lies; the first that has something to say of a call is told. */
export function rulesOf(lies: readonly ToldLie[], slot: () => number): OddRule {
  return (request) => {
    for (const told of lies) {
      const fault = faultOf(told, request, slot());
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
}

function faultOf(told: ToldLie, request: RpcRequest, slot: number): Fault | undefined {
  const { lie } = told;
  if (lie.about === "history") return { kind: "restored", firstSlot: Math.max(0, slot - lie.slots) };
  if (lie.about === "lag") return { kind: "lag", slots: lie.slots };
  if (lie.about === "sending") return request.method === "sendTransaction" ? SENDING[lie.says] : undefined;
  if (lie.about === "everything") {
    return isChosen(told, JSON.stringify(request.params)) ? EVERYTHING[lie.says] : undefined;
  }
  if (lie.about === "fields") return retold(mutated(lie.mutation, request, (name) => isChosen(told, name)));
  const tell = RETELLINGS[lie.about];
  return tell(lie as never, request.method, (name) => isChosen(told, name), request.params);
}

/** A transaction that never was. */
const INVENTED = { signature: "5".repeat(87), slot: 1, err: null, confirmationStatus: "finalized" };

const retold = (answer: (honest: never) => unknown): Fault => ({ kind: "lie", answer: answer as never });

const SENDING: Readonly<Record<"dropped" | "error" | "answer lost", Fault>> = {
  dropped: { kind: "drop" },
  error: { kind: "error", code: -32_002, message: "Transaction simulation failed: Blockhash not found" },
  "answer lost": { kind: "lose-answer", status: 502 },
};

const EVERYTHING: Readonly<Record<"null" | "refusal" | "error" | "silence", Fault>> = {
  null: retold(() => null),
  refusal: { kind: "refuse", status: 503 },
  error: { kind: "error", code: -32_603, message: "Internal error" },
  silence: { kind: "hang" },
};

/** Chance that answers the same for the same thing as long as the lie is told. */
function isChosen({ oneIn, grain }: ToldLie, name: string): boolean {
  let mixed = grain;
  for (const letter of name) mixed = Math.imul(mixed ^ (letter.codePointAt(0) ?? 0), 0x9e37_79b1) >>> 1;
  return (mixed >>> 8) % oneIn === 0;
}

interface WithValue<V> {
  readonly context: { readonly slot: number };
  readonly value: V;
}

interface Receipt {
  readonly slot: number;
  readonly meta: Readonly<Record<string, unknown>>;
}

interface AccountRow {
  readonly lamports: number;
  readonly data: readonly [string, string];
}

/** What somebody else's token account that is handed over looks like to the transaction that pays into it. */
const FAILED = { InstructionError: [5, { Custom: 0 }] };
const POOR = { InstructionError: [5, { Custom: 1 }] };

type Retelling<L> = (
  lie: L,
  method: string,
  isMeant: (name: string) => boolean,
  params: readonly unknown[],
) => Fault | undefined;
type Retold = Exclude<Lie["about"], "history" | "lag" | "sending" | "everything" | "fields">;

const RETELLINGS: { readonly [A in Retold]: Retelling<Extract<Lie, { about: A }>> } = {
  statuses({ says }, method, isMeant, params) {
    if (method !== "getSignatureStatuses") return undefined;
    return retold(({ context, value }: WithValue<readonly unknown[]>) => ({
      context,
      value: value.map((each, index) => {
        if (!isMeant(String((params[0] as readonly unknown[])[index]))) return each;
        if (says === "unknown") return null;
        const isFinal = says !== "processed";
        return {
          slot: context.slot,
          confirmations: isFinal ? null : 0,
          err: says === "failed" ? FAILED : null,
          confirmationStatus: isFinal ? "finalized" : "processed",
        };
      }),
    }));
  },
  receipts({ says }, method, isMeant, params) {
    if (method !== "getTransaction" || !isMeant(String(params[0]))) return undefined;
    if (says === "unknown") return retold(() => null);
    return retold((honest: Receipt | null) => {
      if (honest === null) return null;
      const { preBalances, preTokenBalances } = honest.meta;
      const untrue =
        says === "failed"
          ? { err: FAILED, status: { Err: FAILED } }
          : { postBalances: preBalances, postTokenBalances: preTokenBalances };
      return { ...honest, meta: { ...honest.meta, ...untrue } };
    });
  },
  listings({ says }, method, isMeant, params) {
    if (method !== "getSignaturesForAddress" || !isMeant(String(params[0]))) return undefined;
    return retold((honest: readonly object[]) => {
      if (says === "failed") return honest.map((row) => ({ ...row, err: FAILED }));
      if (says === "invented") return [{ ...honest[0], ...INVENTED }, ...honest];
      return says === "empty" ? [] : honest.filter((_, index) => index % 2 === 0);
    });
  },
  accounts({ says }, method, isMeant, params) {
    if (method === "getTokenAccountsByOwner") {
      if (says !== "absent" || !isMeant(String(params[0]))) return undefined;
      return retold(({ context }: WithValue<unknown>) => ({ context, value: [] }));
    }
    if (method === "getAccountInfo" && isMeant(String(params[0]))) {
      return retold((honest: WithValue<AccountRow | null>) => ({
        ...honest,
        value: retoldAccount(says, honest.value),
      }));
    }
    if (method !== "getMultipleAccounts") return undefined;
    return retold(({ context, value }: WithValue<readonly (AccountRow | null)[]>) => ({
      context,
      value: value.map((each, index) => {
        if (!isMeant(String((params[0] as readonly unknown[])[index]))) return each;
        return says === "others" ? (value[(index + 1) % value.length] ?? null) : retoldAccount(says, each);
      }),
    }));
  },
  heights({ blocks }, method) {
    if (method !== "getEpochInfo") return undefined;
    return retold((info: { readonly blockHeight: number; readonly absoluteSlot: number }) => ({
      ...info,
      blockHeight: Math.max(0, info.blockHeight + blocks),
      absoluteSlot: Math.max(0, info.absoluteSlot + blocks),
    }));
  },
  slots({ slots }, method) {
    if (method === "getSlot") return retold((slot: number) => Math.max(0, slot + slots));
    if (method === "getTransaction") {
      return retold((honest: Receipt | null) =>
        honest === null ? null : { ...honest, slot: Math.max(0, honest.slot + slots) },
      );
    }
    return retold((honest: unknown) => {
      if (typeof honest !== "object" || honest === null || !("context" in honest)) return honest;
      const { context, ...rest } = honest as WithValue<unknown>;
      return { context: { ...context, slot: Math.max(0, context.slot + slots) }, ...rest };
    });
  },
  time({ seconds }, method) {
    if (method === "getBlockTime") {
      return retold((time: number | null) => (time === null ? null : time + seconds));
    }
    if (method !== "getTransaction" && method !== "getBlock") return undefined;
    return retold((honest: { readonly blockTime: number } | null) =>
      honest === null ? null : { ...honest, blockTime: honest.blockTime + seconds },
    );
  },
  blockhashes({ says }, method) {
    if (method === "isBlockhashValid" && says !== "invented") {
      return retold((honest: WithValue<boolean>) => ({ ...honest, value: says === "valid" }));
    }
    if (method !== "getLatestBlockhash" || says !== "invented") return undefined;
    return retold(({ context }: WithValue<unknown>) => ({
      context,
      value: { blockhash: "11111111111111111111111111111112", lastValidBlockHeight: 4_000_000_000 },
    }));
  },
  simulations({ says }, method) {
    if (method !== "simulateTransaction") return undefined;
    const err = says === "well" ? null : says === "poor" ? POOR : FAILED;
    return retold((honest: WithValue<object>) => ({ ...honest, value: { ...honest.value, err } }));
  },
  rent({ times }, method, _isMeant, params) {
    if (method === "getMinimumBalanceForRentExemption") return retold((lamports: number) => lamports * times);
    const place =
      method === "getMultipleAccounts" ? (params[0] as readonly unknown[]).indexOf(RENT_SYSVAR) : -1;
    if (place < 0) return undefined;
    return retold(({ context, value }: WithValue<readonly (AccountRow | null)[]>) => ({
      context,
      value: value.map((row, index) => (index === place && row !== null ? repriced(row, times) : row)),
    }));
  },
};

const RENT_SYSVAR = "SysvarRent111111111111111111111111111111111";

/** The price of a byte stands first in the account of the rent. */
function repriced(row: AccountRow, times: number): AccountRow {
  const data = Buffer.from(row.data[0], "base64");
  data.writeBigUInt64LE(data.readBigUInt64LE(0) * BigInt(times), 0);
  return { ...row, data: [data.toString("base64"), row.data[1]] };
}

/** Where a token account has its amount. */
const AMOUNT_AT = 64;
const TOKEN_ACCOUNT_BYTES = 165;

/** An account with twice as much of everything, or half as much. */
function retoldAccount(
  says: "absent" | "rich" | "poor" | "others",
  row: AccountRow | null,
): AccountRow | null {
  if (row === null || says === "absent") return null;
  const isRich = says === "rich";
  const data = Buffer.from(row.data[0], "base64");
  if (data.length === TOKEN_ACCOUNT_BYTES) {
    const amount = data.readBigUInt64LE(AMOUNT_AT);
    data.writeBigUInt64LE(BigInt.asUintN(64, isRich ? amount * 2n : amount / 2n), AMOUNT_AT);
  }
  const lamports = isRich ? row.lamports * 2 : Math.floor(row.lamports / 2);
  return { ...row, lamports, data: [data.toString("base64"), row.data[1]] };
}
