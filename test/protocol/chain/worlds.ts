/** The orders and the surroundings that are searched. */
import type { Chunks } from "./payouts.ts";
import type { Scenario } from "./scenario.ts";

/** One chunk to a and b. */
export const ONE_CHUNK: Chunks = [[0, 1]];
/** Chunk 0 to a and b, chunk 1 to c. */
export const TWO_CHUNKS: Chunks = [[0, 1], [2]];

/** Every order that is searched, by a name. */
export const ORDERS: readonly (readonly [string, Chunks])[] = [
  ["one chunk: a, b", ONE_CHUNK],
  ["two chunks: a, b | c", TWO_CHUNKS],
  ["two chunks: a | b, c", [[0], [1, 2]]],
  ["three chunks: a | b | c", [[0], [1], [2]]],
];

/** Every surroundings, by a name. */
export const WORLDS: readonly (readonly [string, Omit<Scenario, "chunks">])[] = [
  ["late and stray money", {}],
  ["b can never be paid", { unpayable: [1] }],
  ["a thief with the key takes all once", { thief: ["steals"], deposits: [4, 1] }],
  ["two refunds elsewhere, which every copy may sign for ever", { redirects: 2, deposits: [4, 4, 1] }],
  ["neither the treasury nor a can be paid", { unpayable: ["the treasury", 0] }],
  [
    "a thief makes one marker of any length, and takes all or nothing",
    { thief: ["forges"], deposits: [4, 1] },
  ],
  [
    "a thief makes a marker and takes whatever comes",
    { thief: ["forges", "steals", "sweeps"], deposits: [4, 4] },
  ],
];
