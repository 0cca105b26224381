/** What must hold at every moment of an order, even when its readers were lied to. */
import type { Chain } from "./chain.ts";
import { type Fate, readFate } from "./fate.ts";
import type { Book, Order } from "./messages.ts";

/** What the promises are judged by. */
export interface Judge {
  readonly order: Order;
  readonly books: Books;
  /** What the payees may still get, and the fee. */
  owed(chain: Chain): number;
  /** Whether some payee is open and nothing that the protocol may sign would land, however much money there is. */
  isStuck(chain: Chain): boolean;
}

/** What the copies of the database know. */
export interface Books {
  readonly each: readonly Book[];
  /** What all copies know together. */
  readonly all: Book;
}

/** What must hold in every state. */
export type Promised = keyof typeof PROMISES;

const PROMISES = {
  "no payee is paid twice": ({ paid }: Chain) => paid.every((times) => times <= 1),
  "no amount is refunded twice": ({ refunded }: Chain) => refunded.every((times) => times <= 1),
  "no amount is both paid and refunded": movesOnce,
  "excess takes no money that is owed": (chain: Chain, judge: Judge) =>
    chain.closed.length > 0 || chain.excess === 0 || chain.balance >= judge.owed(chain),
  "the fee is taken once": (chain: Chain, judge: Judge) => chain.fee <= judge.order.fee,
  "the markers tell the truth": (chain: Chain, judge: Judge) =>
    chain.closed.length > 0 || saysTruth(readFate(chain, judge.books.all), chain),
  "every copy understands the markers": (chain: Chain, judge: Judge) =>
    chain.closed.length > 0 || judge.books.each.every((book) => readFate(chain, book).unknown.length === 0),
  "the order's marker guards the others while they are closed": (chain: Chain, judge: Judge) =>
    judge.books.all.roots.some(({ marker }) => chain.closed.includes(marker)) || movesOnce(chain),
  "no order is stuck": (chain: Chain, judge: Judge) => chain.closed.length > 0 || !judge.isStuck(chain),
};

function movesOnce({ paid, refunded }: Chain): boolean {
  return paid.every((times, payee) => times + (refunded[payee] ?? 0) <= 1);
}

/** All promises. */
export const EVERY_PROMISE = Object.keys(PROMISES) as Promised[];

function saysTruth(fate: Fate, { paid, refunded }: Chain): boolean {
  return paid.every(
    (times, payee) =>
      times === count(fate.paid, payee) && (refunded[payee] ?? 0) === count(fate.refunded, payee),
  );
}

function count(payees: readonly number[], wanted: number): number {
  return payees.filter((payee) => payee === wanted).length;
}

/** The first of the promises that this chain breaks, or null. */
export function brokenPromise(chain: Chain, judge: Judge, promises: readonly Promised[]): Promised | null {
  return promises.find((promised) => !PROMISES[promised](chain, judge)) ?? null;
}
