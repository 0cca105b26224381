/** For each rule the break that is possible without it. */
import type { Break } from "../expectations.ts";
import { CAN_END } from "../explore.ts";
import type { ChainRule, Scenario } from "./scenario.ts";
import { ONE_CHUNK, TWO_CHUNKS } from "./worlds.ts";

/** One for each rule, but those that a test tells at length. */
export const BREAKS: readonly Break<ChainRule, Scenario>[] = [
  {
    without: "K1: nothing closes a marker",
    in: { chunks: ONE_CHUNK },
    promise: "a is paid once",
    acts: "3 comes → chunk 0 pays a and the fee → it is final → the marker of chunk 0 is closed → it is final → chunk 0 pays a",
  },
  {
    without: "K2: the rent goes in the same transaction",
    in: { chunks: ONE_CHUNK },
    promise: "a is paid once",
    acts: "3 comes → chunk 0 pays a and the fee → it is final → chunk 0 pays a",
  },
  {
    without: "K3: the cut is stored",
    in: { chunks: TWO_CHUNKS },
    promise: "the fee is taken once",
    acts: "4 comes → chunk 0 of cut 0 pays the fee → it is final → chunk 0 of cut 1 pays the fee",
  },
  {
    without: "K4: the length tells whom it paid",
    in: { chunks: ONE_CHUNK },
    promise: "b, who was told paid, is paid",
    acts: "3 comes → chunk 0 pays a and the fee → it is final → it is told",
  },
  {
    without: "K4: every reader counts the members alike",
    in: { chunks: TWO_CHUNKS },
    promise: "a, who was told paid, is paid",
    acts: "4 comes → chunk 0 pays the fee → it is final → it is told",
  },
  {
    without: "K4: a foreign marker is told by its own transactions",
    in: { chunks: ONE_CHUNK, thief: ["forges"], deposits: [4] },
    promise: "a, who was told paid, is paid",
    acts: "4 comes → the thief makes the marker of chunk 0 with length 5 and takes all → it is final → it is told",
  },
  {
    without: "K5: the fee goes with chunk 0",
    in: { chunks: ONE_CHUNK },
    promise: "the fee is taken once",
    acts: "3 comes → chunk 0 pays a → it is final → a rest takes the fee → it is final → a rest takes the fee",
  },
  {
    without: "K5: in an order of one chunk the fee goes never alone",
    in: { chunks: ONE_CHUNK },
    promise: "an order of one chunk that pays nobody takes no fee",
    acts: "3 comes → chunk 0 pays the fee",
  },
  {
    without: "K6: later chunks wait for the final go",
    in: { chunks: TWO_CHUNKS },
    promise: "an order that is refused pays nobody",
    acts: "4 comes → chunk 0 pays nobody → it is final → chunk 1 pays c",
  },
  {
    without: "K7: rests wait until all is decided",
    in: { chunks: ONE_CHUNK },
    promise: "a, who was told unpaid, is not paid",
    acts: "3 comes → a rest gives 3 to the sender → it is final → all are told unpaid → 3 comes → chunk 0 pays a and the fee → it is final",
  },
  {
    without: "K8: what is given up gets its marker",
    in: { chunks: TWO_CHUNKS },
    promise: "c, who was told unpaid, is not paid",
    acts: "4 comes → chunk 0 pays the fee → it is final → chunk 1 pays c → a person gives up what is not decided, and it is told unpaid → it is final",
  },
  {
    without: "K9: only what is final is told",
    in: { chunks: ONE_CHUNK },
    promise: "a, who was told paid, is paid",
    acts: "3 comes → chunk 0 pays a and the fee → it is told → it vanishes on a fork",
  },
  {
    without: "K10: one liar is not believed",
    in: { chunks: TWO_CHUNKS },
    promise: "an order that is refused pays nobody",
    acts: "4 comes → chunk 0 pays nobody → it is final → chunk 1 pays c",
  },
  {
    without: "K11: leaving out is an outcome",
    in: { chunks: ONE_CHUNK, unpayable: [1] },
    promise: CAN_END,
    acts: "",
  },
  {
    without: "K12: what goes elsewhere has a marker",
    in: { chunks: ONE_CHUNK, redirects: 1 },
    promise: "no more goes elsewhere than was approved",
    acts: "3 comes → chunk 0 pays a and the fee → it is final → a person approves 1 elsewhere as r0 → 3 comes → r0 gives 1 to another address → it is final → r0 gives 1 to another address",
  },
  {
    without: "K12: number and sum are fixed when approved",
    in: { chunks: ONE_CHUNK, redirects: 1 },
    promise: "no more goes elsewhere than was approved",
    acts: "3 comes → chunk 0 pays a and the fee → it is final → a person approves 1 elsewhere as r0 → 3 comes → r0 gives 4 to another address",
  },
];
