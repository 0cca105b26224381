/** What the service does with a transfer: it signs, and concludes what became of it. */
// modules: private
import { afterTransferEdge, type TransferEdge, transferEdgeOf, type TransferEventName } from "./edges.ts";
import type { Scenario, TransferRule } from "./scenario.ts";
import { canPay, type Move, type Moves, type Outcome, service, type TransferState } from "./state.ts";

/** What follows in one state. */
export class Program {
  readonly #state: TransferState;
  readonly #scenario: Scenario;
  readonly #edges: readonly TransferEdge[];

  constructor(state: TransferState, scenario: Scenario, edges: readonly TransferEdge[]) {
    this.#state = state;
    this.#scenario = scenario;
    this.#edges = edges;
  }

  /** Everything that the service may do now. */
  *moves(): Moves {
    const { kind, place, marker, isOwn } = this.#state;
    if (place === "ended") return;
    if (kind === "chunk" && (yield* this.#hear())) return;
    if (place === "pausing") yield service("the pause is over", { place: "signing" });
    if (kind === "redirect" && marker !== null) yield* this.#meet();
    if (kind !== "chunk" && isOwn) yield* this.#told("OWN_SIGNATURE");
    if (kind === "redirect" && this.#isOver()) yield* this.#told("DAY");
    yield* this.#wantNobody();
    if (place === "signing") yield* this.#sign();
    if (this.#isNothingLeft()) yield* this.#told("NOTHING_LEFT");
    if (place === "out") yield* this.#conclude();
  }

  /** An event of the chart with what is committed beside it; nothing where the table has no row. */
  *#told(event: TransferEventName, to: Partial<TransferState> = {}, by: Move["by"] = "service"): Moves {
    const edge = transferEdgeOf(this.#edges, this.#state, event);
    if (edge !== undefined) yield { act: event, by, to: { ...afterTransferEdge(edge, this.#state), ...to } };
  }

  #without(rule: TransferRule): boolean {
    return this.#scenario.without === rule;
  }

  /** What the marker of a chunk says; whether nothing else counts. */
  *#hear(): Generator<Move, boolean> {
    const { place, lie, marker, told, want: wanted } = this.#state;
    const shown = lie === "told" ? "all" : marker;
    if (place !== "done") {
      if (shown !== null) yield* this.#told("MARK", { told: shown });
      return shown !== null;
    }
    if (lie !== "over") return true;
    if (marker === null) {
      const isForgotten = this.#without("what is made again pays nobody where nobody was wanted");
      const isNobody = (wanted === "nobody" && !isForgotten) || told === "nobody";
      const want = isNobody ? "nobody" : (told as Outcome);
      yield* this.#told(isNobody ? "GONE_NOBODY" : "GONE", { want });
    } else if (marker !== told) yield service("a person sees what it says", { told: marker });
    return true;
  }

  /** The act's marker stands. */
  *#meet(): Moves {
    const { marker, bytes } = this.#state;
    const isThisAct = this.#without("K12: … whatever the sum")
      ? marker === "this act"
      : marker === "this act" || marker === "this act, less";
    const isSame = isThisAct && !this.#without("K12: a marker with the act's mint and receiver is that act");
    if (isSame) yield* this.#told("SAME_ACT");
    // Superseded, a person is asked anew, and approves it anew.
    else if (bytes.length === 0) yield* this.#told("STANDS", marker === "another act" ? {} : { sent: 2 });
  }

  #isOver(): boolean {
    const { isDayOver, marker, bytes } = this.#state;
    return isDayOver && marker === null && bytes.length === 0;
  }

  #isNothingLeft(): boolean {
    const { kind, balance, isOwn, bytes, marker } = this.#state;
    return kind !== "chunk" && balance === 0 && !isOwn && bytes.length === 0 && marker === null;
  }

  /** A person, who comes if a hold stops the order. */
  *#wantNobody(): Moves {
    const { kind, want, lie, isHeld } = this.#state;
    if (kind !== "chunk" || want === "nobody" || lie !== "none") return;
    yield* this.#told("WANT_NOBODY", { want: "nobody", isDeclined: true }, isHeld ? "service" : "world");
  }

  *#sign(): Moves {
    const { kind, want, bytes, hasPurse, balance, isHeld, payees } = this.#state;
    if (!hasPurse) yield* this.#told("NOT_NOW");
    if (kind === "chunk" && !canPay(this.#state, want)) yield* this.#leaveOut();
    if (kind !== "chunk" && payees < 2) yield* this.#told("HELD", { isHeld: true, payees: 2 });
    if (!hasPurse || this.#isStopped() || !this.#mayBeSigned()) return;
    if (kind !== "chunk" && balance < 2) return;
    const isUnderHold = isHeld && this.#isUnderHolds();
    const broken = isUnderHold ? "nothing is signed under a hold" : this.#brokenBySigning();
    yield* this.#told("SIGNED", { bytes: bytes.includes(want) ? bytes : [...bytes, want], broken });
  }

  #brokenBySigning(): string | null {
    const { isDeclined, want } = this.#state;
    return isDeclined && want !== "nobody" ? "nobody is paid after a person wanted nobody" : null;
  }

  /** A go that pays, and a rest. */
  #isUnderHolds(): boolean {
    const { sends } = this.#scenario;
    return sends === "rest" || (sends === "go" && this.#state.want !== "nobody");
  }

  #isStopped(): boolean {
    if (!this.#state.isHeld) return false;
    if (this.#without("a hold stops a go and a rest")) return false;
    return this.#isUnderHolds() || this.#without("a hold stops nothing else");
  }

  #mayBeSigned(): boolean {
    const { kind, marker, isDayOver, bytes, isOwn } = this.#state;
    if (marker !== null || (kind === "redirect" && isDayOver)) return false;
    return kind === "chunk" || (bytes.length === 0 && !isOwn);
  }

  *#leaveOut(): Moves {
    const isNobody = this.#state.payees === 0;
    yield* this.#told(isNobody ? "CULPRIT_NOBODY" : "CULPRIT", { want: isNobody ? "nobody" : "some" });
  }

  /** Of a chunk an old attempt, too, may end with a payee's error. */
  *#conclude(): Moves {
    const { kind, bytes, want, payees, isOwn, hasPurse } = this.#state;
    const isOpen = bytes.length > 0;
    if (kind === "chunk") {
      if ([...bytes, want].some((each) => !canPay(this.#state, each))) yield* this.#leaveOut();
    } else if (payees < 2 && !isOwn && !isOpen) yield* this.#told("HELD", { isHeld: true, payees: 2 });
    if (!hasPurse && !isOwn && (kind === "chunk" || !isOpen)) yield* this.#told("NOT_NOW");
    if (!isOpen && !isOwn) yield* this.#told("EXPIRED");
  }
}
