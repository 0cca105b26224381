/** For each rule, and for rows of the table, the break that is possible without it. */
// modules: private
import { CAN_END } from "../explore.ts";
import { TRANSFER, type TransferEdge, type TransferEventName, type TransferPlace } from "./edges.ts";
import type { Scenario, TransferRule } from "./scenario.ts";

/** What happens where a rule or a row is left out. */
export interface Break {
  readonly name: string;
  readonly in: Scenario;
  readonly edges?: readonly TransferEdge[];
  readonly promise: string;
  /** The shortest way, with an arrow between its steps. */
  readonly acts: string;
}

const PLANNED: readonly TransferPlace[] = ["pausing", "signing"];

function row(event: TransferEventName, places: readonly TransferPlace[], sends: Scenario["sends"]) {
  const edges = TRANSFER.map((edge) =>
    edge.on === event ? { ...edge, in: edge.in.filter((place) => !places.includes(place)) } : edge,
  );
  return { name: `${sends}: without ${event} in ${places.join(" and ")}`, in: { sends }, edges };
}

function rule(without: TransferRule, sends: Scenario["sends"]) {
  return { name: `${sends}: without ${without}`, in: { sends, without } };
}

const withoutIf = TRANSFER.map(({ if: _, ...edge }): TransferEdge => edge);
export const BREAKS: readonly Break[] = [
  { ...row("MARK", ["out"], "go"), promise: CAN_END, acts: "" },
  { ...row("MARK", PLANNED, "go"), promise: CAN_END, acts: "another copy lands nobody" },
  { ...row("CULPRIT", ["signing", "out"], "later"), promise: CAN_END, acts: "a payee cannot take it" },
  {
    ...row("EXPIRED", ["out"], "go"),
    promise: CAN_END,
    acts: "the pause is over → SIGNED → the bytes of all die",
  },
  {
    ...row("GONE", ["done"], "go"),
    promise: CAN_END,
    acts: "all witnesses say that the marker stands → MARK",
  },
  {
    ...row("GONE_NOBODY", ["done"], "go"),
    promise: CAN_END,
    acts: "WANT_NOBODY → all witnesses say that the marker stands → MARK",
  },
  { ...row("OWN_SIGNATURE", ["out"], "rest"), promise: CAN_END, acts: "" },
  {
    ...row("EXPIRED", ["out"], "rest"),
    promise: CAN_END,
    acts: "the pause is over → SIGNED → the bytes of all die",
  },
  { ...row("NOTHING_LEFT", PLANNED, "rest"), promise: CAN_END, acts: "somebody takes it" },
  { ...row("STANDS", PLANNED, "redirect"), promise: CAN_END, acts: "another copy lands another act" },
  { ...row("DAY", PLANNED, "redirect"), promise: CAN_END, acts: "a day passes" },
  { ...row("WANT_NOBODY", PLANNED, "go"), promise: CAN_END, acts: "a hold opens" },
  {
    name: "go: a culprit is left out of nobody",
    in: { sends: "go" },
    edges: withoutIf,
    promise: "nobody is paid after a person wanted nobody",
    acts: "a payee cannot take it → the pause is over → SIGNED → WANT_NOBODY → the pause is over → SIGNED → CULPRIT → the pause is over → SIGNED",
  },
  {
    name: "later: a culprit is left out of nobody",
    in: { sends: "later" },
    edges: withoutIf,
    promise: "nobody is paid after a person wanted nobody",
    acts: "a payee cannot take it → the pause is over → SIGNED → WANT_NOBODY → the pause is over → SIGNED → CULPRIT → the pause is over → SIGNED",
  },
  {
    ...rule("K12: a marker with the act's mint and receiver is that act", "redirect"),
    promise: "an act is carried out once",
    acts: "another copy lands this act → STANDS",
  },
  {
    ...rule("K12: … whatever the sum", "redirect"),
    promise: "an act is carried out once",
    acts: "another copy lands this act, less → STANDS",
  },
  {
    ...rule("what is made again pays nobody where nobody was wanted", "go"),
    promise: "nobody is paid after a person wanted nobody",
    acts: "WANT_NOBODY → all witnesses say that the marker stands → MARK → all witnesses tell the truth → GONE → the pause is over → SIGNED",
  },
  {
    ...rule("a hold stops a go and a rest", "go"),
    promise: "nothing is signed under a hold",
    acts: "a hold opens → the pause is over → SIGNED",
  },
  {
    ...rule("a hold stops a go and a rest", "rest"),
    promise: "nothing is signed under a hold",
    acts: "a hold opens → the pause is over → SIGNED",
  },
  { ...rule("a hold stops nothing else", "go"), promise: CAN_END, acts: "a hold opens" },
  { ...rule("a hold stops nothing else", "later"), promise: CAN_END, acts: "a hold opens" },
];
