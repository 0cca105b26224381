/**
 * Marks answers of the chain for the compiler: said by one node, or by as many as must agree. Marks exist in types
 * alone: a marked value is used like an unmarked value, and an unmarked value never gets a mark by itself.
 */
import type { Address } from "../core/address.ts";

/** Names the mark; no value has such a property. */
declare const believed: unique symbol;

/** The mark of an answer from at least one endpoint. */
export interface HintBrand {
  readonly [believed]: "one" | "enough";
}

/** The mark of an answer from enough endpoints. */
export interface EvidenceBrand extends HintBrand {
  readonly [believed]: "enough";
}

/**
 * A hint: the answer of one node. A hint may start a look, order a queue or fill a page that names the node. Code that moves
 * money, ends a status or prices a quote does not compile with a hint. Each part of an answer carries the mark; null carries
 * none, because null concludes nothing.
 *
 * @example
 * ```ts
 * import type { Evidence, Hint } from "paystate/ledger";
 *
 * const credit = (lamports: Evidence<bigint>) => lamports + 0n;
 * const atOneNode = (lamports: Hint<bigint>) => {
 *   // @ts-expect-error -- one node said so
 *   credit(lamports);
 * };
 * console.log(typeof atOneNode); // function
 * ```
 */
export type Hint<T> = Marked<T, HintBrand>;

/**
 * Evidence: what as many endpoints vouch for as must agree. Where a single endpoint is configured, its word is all there
 * is. Evidence can stand where a hint is enough. A part that is a hint by itself stays one.
 *
 * @example
 * ```ts
 * import type { Evidence } from "paystate/ledger";
 *
 * // A sum of evidence is a bare number again: what decides takes the evidence and computes by itself.
 * const twice = (rent: Evidence<bigint>): bigint => 2n * rent;
 * console.log(typeof twice); // function
 * ```
 */
export type Evidence<T> = Marked<T, EvidenceBrand>;

type Leaf = string | number | bigint | boolean | Uint8Array;

/** A type with a mark on each of its parts, but for null and undefined, which conclude nothing. */
type Marked<T, Mark> = T extends null | undefined | HintBrand
  ? T
  : T extends Leaf
    ? T & Mark
    : T extends readonly unknown[]
      ? { readonly [Key in keyof T]: Marked<T[Key], Mark> }
      : T extends object
        ? { readonly [Key in keyof T]: MarkedPart<T[Key], Mark> } & Mark
        : T;

/** A word of a list, such as the kind of an object, is left as it is: by it the compiler tells objects apart. */
type MarkedPart<T, Mark> = T extends string
  ? T extends Address
    ? T & Mark
    : string extends T
      ? T & Mark
      : T
  : Marked<T, Mark>;

/** Evidence of any type. */
export type SomeEvidence =
  EvidenceBrand | readonly [SomeEvidence | null, ...(SomeEvidence | null)[]] | readonly EvidenceBrand[];
