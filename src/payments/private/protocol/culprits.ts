/**
 * The culprit of an error (K11): a closed table. A payee is left out by it alone, on evidence; an error that it does not name
 * blames nobody.
 */
import type { TransferKind } from "../../../../machines/transfer.ts";
import { SOL_MINT, type Address } from "../../../core/address.ts";
import type { FaultStep, OrderFault } from "../../../ledger/order-fault.ts";
import { placesOf } from "./cut.ts";
import type { Leg, Role } from "./legs.ts";
import type { OrderView } from "./rows.ts";
import type { OrderTerms } from "./terms.ts";

/** Why a transaction cannot be now and is tried again. `unexplained`: after an hour a person is told. */
export type NotNow = "low_purse" | "rent" | "levels" | "desk" | "read_again" | "unexplained";

/**
 * The next act. `stands`: the marker is there, read it. `leave_out`: these members of the chunk. `held`: a person looks.
 * `without_cost`: sign without the leg that withholds the cost. `bare`: dust came, sign without the assertion.
 */
export type Verdict =
  | { readonly kind: "stands" | "held" | "without_cost" | "bare" }
  | { readonly kind: "leave_out"; readonly places: readonly number[] }
  | { readonly kind: "not_now"; readonly reason: NotNow };

/** A failed transaction; `k` is of a chunk, else null. */
export interface FailedTransfer {
  readonly kind: TransferKind;
  readonly k: number | null;
  readonly legs: readonly Leg[];
  readonly fault: OrderFault;
}

/** The account that pays, gives, or lacks lamports; `marker`: none of the others. */
type Party = "sponsor" | "order" | "payee" | "sender" | "desk" | "marker";

/** The keys of the table. */
interface Case {
  readonly kind: TransferKind;
  readonly step: FaultStep | null;
  readonly role: Role | null;
  readonly payer: Party | null;
  readonly named: Party | null;
}

/** A row of the table; what its case leaves out may be anything. */
interface Row extends Partial<Case> {
  readonly row: number;
  readonly errors?: readonly (number | OrderFault["error"])[];
  readonly verdict: Exclude<Verdict["kind"], "not_now"> | NotNow | "payee" | "missing_payees" | "either_end";
}

const UNUSABLE = [17, "missing_account"] as const;

/** The first row that fits counts. */
const TABLE: readonly Row[] = [
  { row: 1, step: "allocate", errors: [0], verdict: "stands" },
  { row: 2, step: "fund", errors: [1], verdict: "low_purse" },
  { row: 2, role: "loan", payer: "sponsor", errors: [1], verdict: "low_purse" },
  { row: 3, named: "sponsor", errors: ["rent", "fee"], verdict: "low_purse" },
  { row: 4, named: "marker", errors: ["rent"], verdict: "rent" },
  { row: 5, kind: "chunk", step: "create", errors: [0], verdict: "payee" },
  { row: 5, step: "create", errors: [0], verdict: "held" },
  { row: 6, step: "create", payer: "sponsor", errors: [1], verdict: "low_purse" },
  { row: 7, kind: "chunk", step: "create", payer: "order", errors: [1], verdict: "payee" },
  { row: 8, step: "create", payer: "order", errors: [1], verdict: "read_again" },
  { row: 9, kind: "chunk", named: "order", errors: ["rent"], verdict: "missing_payees" },
  { row: 10, kind: "chunk", named: "payee", errors: ["rent"], verdict: "leave_out" },
  { row: 11, kind: "chunk", step: "pay", errors: ["readonly_lamports"], verdict: "payee" },
  { row: 16, role: "cost", step: "pay", errors: UNUSABLE, verdict: "without_cost" },
  { row: 15, role: "sender", step: "pay", errors: UNUSABLE, verdict: "held" },
  { row: 15, role: "receiver", step: "pay", errors: UNUSABLE, verdict: "held" },
  { row: 15, named: "sender", errors: ["rent"], verdict: "read_again" },
  { row: 12, step: "pay", errors: UNUSABLE, verdict: "either_end" },
  { row: 14, role: "desk", step: "pay", verdict: "desk" },
  { row: 14, named: "desk", verdict: "desk" },
  { row: 13, step: "pay", payer: "order", errors: [1], verdict: "levels" },
  { row: 17, step: "close", errors: [11], verdict: "bare" },
  { row: 17, step: "empty", errors: [0], verdict: "bare" },
];

/** Judges an error. Which accounts are missing or unusable is what the look's witnesses say. */
export function judge(view: OrderView, failed: FailedTransfer): Verdict {
  const { legs, fault, k } = failed;
  const leg = legs[fault.at?.move ?? -1] ?? null;
  const error = typeof fault.error === "object" ? fault.error.custom : fault.error;
  const found = caseOf(view.terms, failed, leg);
  const verdict = TABLE.find((row) => fits(row, found) && (row.errors?.includes(error) ?? true))?.verdict;
  switch (verdict) {
    case "stands":
    case "held":
    case "without_cost":
    case "bare":
      return { kind: verdict };
    case "payee":
      return leavingOut(legs, (each) => each === leg);
    case "leave_out":
      return leavingOut(legs, ({ move }) => move.does === "transfer" && move.to === fault.account);
    case "missing_payees": {
      const missing = unpayable(view, k ?? 0);
      return leavingOut(legs, ({ place }) => place !== null && missing.includes(place));
    }
    case "either_end":
      return judgeEnds(view, legs, leg);
    default:
      return { kind: "not_now", reason: verdict ?? "unexplained" };
  }
}

/** Unpriced payees of a chunk who have no account: they are left out before it is signed. */
export function unpayable({ terms, look }: OrderView, k: number): readonly number[] {
  return placesOf(terms, k).flatMap(({ member, to }, place) => {
    const isUnpriced = member !== null && !member.isPriced && terms.payMint !== SOL_MINT;
    return isUnpriced && look.isMissing(to, terms.payMint) ? [place] : [];
  });
}

function fits({ kind, step, role, payer, named }: Row, found: Case): boolean {
  return (
    (kind ?? found.kind) === found.kind &&
    (step ?? found.step) === found.step &&
    (role ?? found.role) === found.role &&
    (payer ?? found.payer) === found.payer &&
    (named ?? found.named) === found.named
  );
}

function caseOf({ sponsor, address, sender }: OrderTerms, failed: FailedTransfer, leg: Leg | null): Case {
  const { kind, legs, fault } = failed;
  const step = fault.at?.step ?? null;
  const desk = legs.find(({ role }) => role === "desk")?.move;
  const isPayee = (account: Address): boolean =>
    legs.some(({ place, move }) => place !== null && move.does === "transfer" && move.to === account);
  const partyOf = (account: Address | null): Party | null => {
    if (account === null) return null;
    if (account === sponsor) return "sponsor";
    if (account === address) return "order";
    if (isPayee(account)) return "payee";
    if (desk?.does === "transfer" && desk.from === account) return "desk";
    return account === sender ? "sender" : "marker";
  };
  const move = leg?.move;
  const payer = move?.does === "transfer" ? (step === "create" ? move.accountPayer : move.from) : null;
  return { kind, step, role: leg?.role ?? null, payer: partyOf(payer), named: partyOf(fault.account) };
}

/** A token transfer names two accounts, and its error does not say which of them cannot be used. */
function judgeEnds({ terms, look }: OrderView, legs: readonly Leg[], leg: Leg | null): Verdict {
  if (leg?.move.does !== "transfer" || leg.move.mint === null) return UNEXPLAINED;
  const { from, to, mint } = leg.move;
  // One that is missing is made before it is paid, if somebody is named to pay for it.
  const isMade = leg.move.accountPayer !== null && look.isMissing(to, mint);
  if (leg.place !== null && !isMade && look.isUnusable(to, mint)) {
    return leavingOut(legs, (each) => each === leg);
  }
  if (from === terms.address && look.isUnusable(from, mint)) return { kind: "held" };
  const isDesks = leg.role === "desk" || leg.role === "input";
  return isDesks ? { kind: "not_now", reason: "desk" } : UNEXPLAINED;
}

const UNEXPLAINED = { kind: "not_now", reason: "unexplained" } as const;

function leavingOut(legs: readonly Leg[], blames: (leg: Leg) => boolean): Verdict {
  const places = legs.flatMap((leg) => (leg.place !== null && blames(leg) ? [leg.place] : []));
  return places.length === 0 ? UNEXPLAINED : { kind: "leave_out", places };
}
