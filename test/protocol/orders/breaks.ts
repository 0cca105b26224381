/** For each rule, and for rows of the table, the break that is possible without it. */
import { CAN_END } from "../explore.ts";
import { ORDER, type OrderEdge, type OrderEventName, type OrderPlace } from "./edges.ts";
import type { Happening, OrderRule, Scenario } from "./scenario.ts";

/** What happens where a rule or a row is left out, or leads elsewhere. */
export interface Break {
  readonly name: string;
  readonly in: Scenario;
  readonly edges?: readonly OrderEdge[];
  readonly promise: string;
  /** The shortest way, with an arrow between its steps. */
  readonly acts: string;
}

function withoutRow(place: OrderPlace | "over", event: OrderEventName): readonly OrderEdge[] {
  const isTaken = (each: OrderPlace): boolean => each === place || each.startsWith(`${place}.`);
  return ORDER.map((row) =>
    row.on === event ? { ...row, in: row.in.filter((each) => !isTaken(each)) } : row,
  );
}

const leading = (event: OrderEventName, from: OrderPlace, to: Partial<OrderEdge>): readonly OrderEdge[] =>
  ORDER.map((row) => (row.on === event && row.in.includes(from) ? { ...row, ...to } : row));

const one = (...happens: readonly Happening[]): Scenario => ({ copies: "one", happens });
const ANY: Scenario = { copies: "any" };
const SMALL: Scenario = { copies: "one", isSmall: true };

const rule = (without: OrderRule, scenario: Scenario): Pick<Break, "name" | "in"> => ({
  name: `without ${without}`,
  in: { ...scenario, without },
});
const row = (
  event: OrderEventName,
  place: OrderPlace | "over",
  scenario: Scenario,
): Omit<Break, "promise" | "acts"> => ({
  name: `without ${event} in ${place}`,
  in: scenario,
  edges: withoutRow(place, event),
});

export const BREAKS: readonly Break[] = [
  {
    ...row("GO", "over", ANY),
    promise: "GO has a row in over.idle",
    acts: "CANCEL → all is there → a go lands → LINE_CANCELLED → GO",
  },
  {
    ...row("GO", "refusing", ANY),
    promise: "GO has a row in refusing",
    acts: "all is there → FUNDED → DECLINE → a go lands → GO",
  },
  {
    ...row("NO_GO", "deciding", ANY),
    promise: "NO_GO has a row in deciding",
    acts: "all is there → FUNDED → a no-go lands → NO_GO",
  },
  {
    ...row("BELOW_COST", "refusing", ANY),
    promise: CAN_END,
    acts: "worth a refund is there → the window is over → WINDOW_OVER_REFUSED → costs rise",
  },
  {
    ...row("BELOW", "deciding", ANY),
    promise: CAN_END,
    acts: "all is there → FUNDED → the price falls below the minimum",
  },
  {
    ...row("BELOW_COST", "over", ANY),
    promise: CAN_END,
    acts: "CANCEL → worth a refund is there → LINE_CANCELLED → LATE → costs rise",
  },
  {
    ...row("MARKS", "paying", ANY),
    promise: "MARKS has a row in paying",
    acts: "all is there → a go lands → chunk 1 lands → GO → MARKS",
  },
  {
    ...row("MARKS", "over", ANY),
    promise: "MARKS has a row in over.paying",
    acts: "CANCEL → all is there → a go lands → chunk 1 lands → LINE_CANCELLED → GO → MARKS",
  },
  {
    ...row("DECIDED_SOME", "over", one("lies")),
    promise: CAN_END,
    acts: "all is there → the payers are screened → FUNDED → signs the go → all witnesses say noGo → a go lands → NO_GO → a rest lands",
  },
  {
    ...row("GONE", "over", one("lies")),
    promise: CAN_END,
    acts: "all witnesses say go → GO → MARKS → DECIDED_ALL",
  },
  { ...row("GONE_NOBODY", "over", one("lies")), promise: CAN_END, acts: "all witnesses say noGo → NO_GO" },
  {
    ...row("GONE_K", "over", one("lies")),
    promise: CAN_END,
    acts: "all is there → the payers are screened → FUNDED → signs the go → all witnesses say go → a go lands → GO → MARKS → DECIDED_ALL",
  },
  {
    ...row("GONE", "paying", one("lies")),
    promise: CAN_END,
    acts: "all witnesses say go → GO → all witnesses tell the truth",
  },
  {
    ...row("GONE_K", "paying", one("lies")),
    promise: CAN_END,
    acts: "all is there → the payers are screened → FUNDED → signs the go → all witnesses say go → a go lands → GO → MARKS → all witnesses tell the truth",
  },
  {
    ...row("DECLINE", "paying", one("lies")),
    promise: CAN_END,
    acts: "all witnesses say go → GO → all witnesses tell the truth",
  },
  {
    ...row("DECLINE", "over", one("lies")),
    promise: CAN_END,
    acts: "all witnesses say go → GO → MARKS → DECIDED_ALL",
  },
  {
    ...row("CULPRITS", "deciding", one("culprits")),
    promise: CAN_END,
    acts: "all is there → FUNDED → no payee of chunk 0 can take the money",
  },
  {
    ...row("LINE_FAILED", "closing", ANY),
    promise: CAN_END,
    acts: "too little is there → the window is over",
  },
  {
    name: "late money leaves over",
    in: ANY,
    edges: leading("LATE", "over.idle", { to: "refusing", status: "processing" }),
    promise: "a status never goes back",
    acts: "CANCEL → worth a refund is there → LINE_CANCELLED → LATE",
  },
  {
    name: "a later chunk that is gone is refused",
    in: one("lies"),
    edges: leading("GONE_K", "over.resting", { to: "over.refusing" }),
    promise: "MARKS has a row in over.refusing",
    acts: "all is there → the payers are screened → FUNDED → signs the go → a go lands → GO → signs chunk 1 → all witnesses say that chunk 1 stands → MARKS → DECIDED_ALL → all witnesses tell the truth → the marker of a row is missing, once → GONE_K → chunk 1 lands → MARKS",
  },
  {
    name: "a start ends what pays, too",
    in: one("set back"),
    edges: [
      ...ORDER,
      { in: ["paying"], on: "LINE_FAILED", to: "over.idle", status: "failed" },
      { in: ["paying"], on: "LINE_CANCELLED", to: "over.idle", status: "cancelled" },
    ],
    promise: "no start ends an order that pays",
    acts: "CANCEL → all is there → the line is written, then the database is set back → the payers are screened → FUNDED → signs the go → a go lands → GO → LINE_CANCELLED",
  },
  {
    ...rule("K17: a cancel reads whether a deposit is there", ANY),
    promise: "nothing is cancelled over a deposit",
    acts: "too little is there → CANCEL",
  },
  {
    ...rule("K16: what is not worth its refund ends at the window", ANY),
    edges: withoutRow("refusing", "BELOW_COST"),
    promise: CAN_END,
    acts: "too little is there → the window is over",
  },
  {
    ...rule("a refusal ends only when every attempt of chunk 0 is finalized-dead", SMALL),
    promise: "what is told failed or cancelled is not paid by this copy",
    acts: "all is there → the payers are screened → FUNDED → signs the go → DECLINE → BELOW_COST → a go lands → LINE_FAILED",
  },
  {
    ...rule("a hold stops a go", ANY),
    promise: "no go is signed under a hold or for unscreened payers",
    acts: "all is there → a hold opens → the payers are screened → FUNDED → signs the go",
  },
  {
    ...rule("no hold stops a no-go or a later chunk", ANY),
    promise: CAN_END,
    acts: "worth a refund is there → the window is over → a hold opens",
  },
  {
    ...rule("what is made again pays nobody where nobody was wanted", one("lies")),
    promise: "no go is signed where nobody was wanted",
    acts: "all is there → the payers are screened → FUNDED → DECLINE → all witnesses say go → GO → all witnesses tell the truth → the marker of a row is missing, once → GONE → signs the go",
  },
  {
    ...rule("nothing late is refused from the first reading without the marker on", one("lies")),
    promise: "of what is told completed the service signs for nobody only on a person's word",
    acts: "worth a refund is there → all witnesses say go → GO → MARKS → DECIDED_ALL → EMPTY → all witnesses tell the truth → LATE → signs the no-go → a no-go lands",
  },
  {
    ...rule("nothing is given back from the first reading without the marker on", one("lies")),
    promise: "what is told completed is not given back",
    acts: "worth a refund is there → the payers are screened → all witnesses say go → GO → MARKS → DECIDED_ALL → all witnesses tell the truth → a rest lands",
  },
  {
    ...rule("no go of culprits is refused before the order is", { ...SMALL, happens: ["culprits"] }),
    promise: CAN_END,
    acts: "all is there → FUNDED → no payee of chunk 0 can take the money",
  },
  {
    ...rule("only a person declines", one("screening")),
    promise: "a person has seen whom it refuses",
    acts: "all is there → history names a refused payer → FUNDED → DECLINE",
  },
  {
    ...rule("the window ends where each witness's reading leads to one row", one()),
    promise: "nothing ends as unpaid over money that came",
    acts: "worth a refund is there → the window is over → WINDOW_OVER",
  },
  {
    ...rule("a deposit is what both witnesses say at least", one()),
    promise: "nothing is decided without the deposit",
    acts: "FUNDED",
  },
  {
    ...rule("without a price the window refuses", one("prices")),
    promise: CAN_END,
    acts: "too little is there → the window is over → no price is known",
  },
  {
    ...rule("a rest waits for the screening of the payers", one("screening")),
    promise: "no refused wallet's money comes out",
    acts: "worth a refund is there → the window is over → history names a refused payer → WINDOW_OVER_REFUSED → signs the no-go → a no-go lands → NO_GO → a rest lands",
  },
  {
    ...rule("a rest waits for the screening of the sender", one("screening")),
    promise: "no refused wallet's money comes out",
    acts: "worth a refund is there → the window is over → the sender is refused → WINDOW_OVER_REFUSED → signs the no-go → a no-go lands → NO_GO → a rest lands",
  },
  {
    ...rule("a payer unknown for an hour is a hold", one("screening")),
    promise: CAN_END,
    acts: "worth a refund is there → the window is over",
  },
  {
    ...rule("a released payer stays released", one("screening")),
    promise: "a release stays",
    acts: "too little is there → a hold opens → a person releases it → history names a refused payer → screened anew",
  },
  {
    ...rule("a payer of dust needs no screening", one("screening")),
    promise: "nobody is asked about a stranger's dust",
    acts: "dust is there → dust is screened",
  },
];
