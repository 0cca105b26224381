/** For each rule of the levels' model the break that is possible without it. */
import type { Break } from "../expectations.ts";
import { CAN_END } from "../explore.ts";
import type { LevelsRule, Scenario } from "./scenario.ts";

/** At least one for each rule. */
export const BREAKS: readonly Break<LevelsRule, Scenario>[] = [
  {
    without: "K15: a rest is booked by its own signature",
    in: { deposits: [8, 3], thief: "steals" },
    promise: "no more is booked than went to the sender",
    acts: "reads → 8 comes → the other process reads → the other process signs a rest of 8 → its bytes die → books the rest by the balance",
  },
  {
    without: "K15: nothing is evaluated while a rest is out",
    in: { deposits: [8, 3] },
    promise: "nothing is told missing in an honest life",
    acts: "8 comes → reads → signs a rest of 8 → the rest of 8 lands → the witness behind follows → reads → lists the history → reads → it is short, once → reads → tells 8 missing",
  },
  {
    without: "K15: no reading counts that is older than the last booking",
    in: { deposits: [8, 3] },
    promise: "no more is told received than came",
    acts: "8 comes → the witness behind follows → reads → signs a rest of 8 → reads → the rest of 8 lands → the witness behind follows → the other process reads → the other process books the rest → the level is 16",
  },
  {
    without: "K15: deposits' own signatures are listed",
    in: { deposits: [8], thief: "steals" },
    promise: CAN_END,
    acts: "8 comes → the thief takes 8",
  },
  {
    without: "K15: a deposit is what the witnesses say at least",
    in: { deposits: [8], endpoints: { kind: "one of two lies" } },
    promise: "no more is told received than came",
    acts: "reads, one witness says 13 → the level is 13",
  },
  {
    without: "K15: a shortage is what the witnesses say at most",
    in: { deposits: [8], endpoints: { kind: "one of two lies" } },
    promise: "nothing is told missing in an honest life",
    acts: "8 comes → reads, one witness says 13 → the level is 8 → reads, one witness says 0 → it is short, once → reads, one witness says 0 → tells 8 missing",
  },
  {
    without: "K15: witnesses need not say the same",
    in: { deposits: [8], thief: "steals", endpoints: { kind: "two honest", second: "behind for ever" } },
    promise: CAN_END,
    acts: "8 comes",
  },
  {
    without: "K15: two of the three count, not all",
    in: { deposits: [8], history: "none", endpoints: { kind: "own slots", asked: 3, lies: [0] } },
    promise: CAN_END,
    acts: "8 comes",
  },
  {
    without: "K15: two of the three count, not all",
    in: { deposits: [8], thief: "steals", endpoints: { kind: "own slots", asked: 3, lies: [13] } },
    promise: CAN_END,
    acts: "8 comes → the thief takes 8",
  },
  {
    without: "K15: each answer counts with its own slot",
    in: { deposits: [8], endpoints: { kind: "own slots", asked: 3, lies: [0, 5, 13] } },
    promise: "nothing is told missing in an honest life",
    acts: "8 comes → reads, the liar says 0 → the other process reads, the liar says 13 → the other process the level is 8 → it is short, once → reads, the liar says 0 → tells 8 missing",
  },
  {
    without: "K15: each answer counts with its own slot",
    in: { deposits: [8], endpoints: { kind: "own slots", asked: 2, lies: [0, 5, 13] } },
    promise: "nothing is told missing in an honest life",
    acts: "8 comes → reads, the liar says 0 → the other process reads, the liar says 13 → the other process the level is 8 → it is short, once → reads, the liar says 0 → tells 8 missing",
  },
  {
    without: "K15: answers are at most 150 slots apart",
    in: { deposits: [8], thief: "steals", endpoints: { kind: "own slots", asked: 3, lies: [13] } },
    promise: CAN_END,
    acts: "8 comes → the thief takes 8",
  },
];
