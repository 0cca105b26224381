/** Answers of a node with one kind of value in them that is something else: any method, any field. */
import fc from "fast-check";
import bs58 from "bs58";
import type { RpcRequest } from "../../../src/local/index.ts";

/** Every method that the service asks a node for. */
const METHODS = [
  "getAccountInfo",
  "getBlock",
  "getBlockTime",
  "getBlocks",
  "getEpochInfo",
  "getFeeForMessage",
  "getFirstAvailableBlock",
  "getGenesisHash",
  "getLatestBlockhash",
  "getMinimumBalanceForRentExemption",
  "getMultipleAccounts",
  "getRecentPrioritizationFees",
  "getSignatureStatuses",
  "getSignaturesForAddress",
  "getSlot",
  "getTokenAccountsByOwner",
  "getTransaction",
  "isBlockhashValid",
  "simulateTransaction",
] as const;

/** What stands in the place of a value of each kind. */
export interface Mutation {
  readonly method: (typeof METHODS)[number];
  readonly of: "numbers" | "addresses" | "data" | "flags" | "lists" | "objects";
  readonly says: "nothing" | "more" | "less" | "another";
}

export const anyMutation: fc.Arbitrary<Mutation> = fc.record({
  method: fc.constantFrom(...METHODS),
  of: fc.constantFrom("numbers", "addresses", "data", "flags", "lists", "objects"),
  says: fc.constantFrom("nothing", "more", "less", "another"),
});

/** Makes the lie out of the honest answer; `isMeant` chooses among its values by where they stand. */
export function mutated(
  { method, of, says }: Mutation,
  request: RpcRequest,
  isMeant: (place: string) => boolean,
): (honest: unknown) => unknown {
  if (request.method !== method) return (honest) => honest;
  const asked = JSON.stringify(request.params);
  const retell = (value: unknown, place: string): unknown => {
    if (kindOf(value) === of && isMeant(`${asked} ${place}`)) return MUTATIONS[of][says](value as never);
    if (Array.isArray(value)) return value.map((each, index) => retell(each, `${place} ${index}`));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, retell(each, `${place} ${name}`)]),
    );
  };
  return (honest) => retell(honest, "");
}

function kindOf(value: unknown): Mutation["of"] | null {
  if (typeof value === "number") return "numbers";
  if (typeof value === "boolean") return "flags";
  // Data and its encoding are a list of two texts.
  if (Array.isArray(value)) return value[1] === "base64" ? "data" : "lists";
  if (typeof value === "string") return isAddress(value) ? "addresses" : null;
  return typeof value === "object" && value !== null ? "objects" : null;
}

const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{32,88}$/;
const KEY_BYTES = 32;

function isAddress(text: string): boolean {
  return BASE58.test(text);
}

/** Somebody who has to do with nothing. */
const SOMEBODY = bs58.encode(new Uint8Array(KEY_BYTES).fill(77));
/** Where a token account has its owner and its amount. */
const OWNER_AT = 32;
const AMOUNT_AT = 64;
const MANY = 1_000_000;

type Says = Mutation["says"];

const MUTATIONS: Readonly<Record<Mutation["of"], Readonly<Record<Says, (honest: never) => unknown>>>> = {
  numbers: {
    nothing: () => 0,
    more: (honest: number) => honest + MANY,
    less: (honest: number) => Math.floor(honest / 2),
    another: (honest: number) => honest + 1,
  },
  addresses: {
    nothing: () => null,
    more: (honest: string) => `${honest}1`,
    less: (honest: string) => honest.slice(1),
    another: () => SOMEBODY,
  },
  data: {
    nothing: () => ["", "base64"],
    more: retold((data) => {
      if (data.length >= AMOUNT_AT + 8) data.writeBigUInt64LE(1_000_000_000n, AMOUNT_AT);
    }),
    less: retold((data) => {
      if (data.length >= AMOUNT_AT + 8) data.writeBigUInt64LE(1n, AMOUNT_AT);
    }),
    another: retold((data) => {
      if (data.length >= AMOUNT_AT) data.set(bs58.decode(SOMEBODY), OWNER_AT);
    }),
  },
  flags: {
    nothing: () => null,
    more: () => true,
    less: () => false,
    another: (honest: boolean) => !honest,
  },
  lists: {
    nothing: () => [],
    more: (honest: readonly unknown[]) => [...honest, ...honest],
    less: (honest: readonly unknown[]) => honest.slice(1),
    another: (honest: readonly unknown[]) => honest.toReversed(),
  },
  objects: {
    nothing: () => null,
    more: (honest: object) => ({ ...honest, err: { InstructionError: [5, { Custom: 0 }] } }),
    less: (honest: object) => ({ ...honest, err: null }),
    another: () => ({}),
  },
};

function retold(rewrite: (data: Buffer) => void): (honest: readonly [string, string]) => unknown {
  return ([text, encoding]) => {
    const data = Buffer.from(text, "base64");
    rewrite(data);
    return [data.toString("base64"), encoding];
  };
}
