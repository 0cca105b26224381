/** The small worlds that the model is searched in. Amounts are a few units, deposits are larger than the order needs. */
import type { Copy, Order } from "./messages.ts";
import type { Scenario } from "./model.ts";
import { PROTOCOL } from "./rules.ts";

const order: Order = { kind: "payout", amounts: [1, 1, 1], fee: 1, unpayable: [] };
const copy: Copy = { name: "first", chunks: [[0, 1, 2]], onFailure: "isolate", refundCost: 0 };

/** Three payees in one transaction. Every reader lies about the words of payouts and refunds. */
export const ONE_CHUNK: Scenario = {
  order,
  rules: PROTOCOL,
  copies: [copy],
  deposits: [20],
  excess: 0,
  reader: "honest",
  forks: false,
  closes: false,
  restores: false,
};

/** Three payees in two chunks. */
export const TWO_CHUNKS: Scenario = { ...ONE_CHUNK, copies: [{ ...copy, chunks: [[0, 1], [2]] }] };

/** Four payees in two chunks, one of whom no transaction can pay. */
export const UNPAYABLE: Scenario = {
  ...ONE_CHUNK,
  order: { ...order, amounts: [1, 1, 1, 1], unpayable: [1] },
  copies: [
    {
      ...copy,
      chunks: [
        [0, 1],
        [2, 3],
      ],
    },
  ],
};

/** Two copies of the database whose software would split the order, and treat failures, each in its own way. */
export const TWO_COPIES: Scenario = {
  ...TWO_CHUNKS,
  copies: [...TWO_CHUNKS.copies, { ...copy, name: "second", chunks: [[0], [1, 2]], onFailure: "halve" }],
};

/** One chunk, and two copies that treat a failed payee each in its own way. */
export const TWO_WAYS: Scenario = {
  ...ONE_CHUNK,
  copies: [copy, { ...copy, name: "second", onFailure: "halve" }],
};

/** Two copies of the database that withhold different costs from a refund. */
export const TWO_COSTS: Scenario = {
  ...ONE_CHUNK,
  order: { ...order, amounts: [2, 2] },
  copies: [
    { ...copy, chunks: [[0, 1]] },
    { ...copy, name: "second", chunks: [[0, 1]], refundCost: 1 },
  ],
};

/** A swap that may be priced again before it is made. */
export const SWAP: Scenario = {
  ...ONE_CHUNK,
  order: { ...order, kind: "swap", amounts: [2] },
  copies: [{ ...copy, chunks: [[0]] }],
};

/** Two payees, three deposits, two refunds of excess that are judged by honest readings. */
export const EXCESS: Scenario = {
  ...ONE_CHUNK,
  order: { ...order, amounts: [1, 1] },
  copies: [{ ...copy, chunks: [[0, 1]] }],
  deposits: [4, 1, 1],
  excess: 2,
};

/** The same, where blocks may be lost. */
export const EXCESS_AND_FORKS: Scenario = { ...EXCESS, deposits: [4, 2], forks: true };

/** The same, where readers lie about excess too. */
export const LYING_READER: Scenario = { ...EXCESS, reader: "lies" };

/** Two chunks, and a sweep after them that closes the markers. Then more money comes. */
export const CLOSING: Scenario = {
  ...EXCESS,
  copies: [{ ...copy, chunks: [[0], [1]] }],
  deposits: [4, 4],
  excess: 0,
  closes: true,
};

/** The same, and an older copy of the database is restored at some moment. */
export const RESTORED: Scenario = { ...CLOSING, restores: true };

/** Everything at once: too large for every run. */
export const EVERYTHING: Scenario = {
  ...TWO_COPIES,
  copies: [
    ...TWO_CHUNKS.copies,
    { ...copy, name: "second", chunks: [[0], [1, 2]], onFailure: "halve", refundCost: 1 },
  ],
  order: { ...order, amounts: [2, 2, 2] },
  deposits: [8, 3],
  excess: 2,
  forks: true,
  closes: true,
  restores: true,
};

/** Five payees in two chunks, one of whom no transaction can pay. */
export const FIVE_PAYEES: Scenario = {
  ...ONE_CHUNK,
  order: { ...order, amounts: [1, 1, 1, 1, 1], unpayable: [2] },
  copies: [
    {
      ...copy,
      chunks: [
        [0, 1, 2],
        [3, 4],
      ],
    },
  ],
};
