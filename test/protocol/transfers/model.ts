/** One transfer by the rows of its chart: chunk 0, a later chunk, a rest or an act, among other copies of any age. */
// modules: private
import type { Step, System } from "../explore.ts";
import { TRANSFER, type TransferEdge } from "./edges.ts";
import { Program } from "./program.ts";
import type { Scenario } from "./scenario.ts";
import { type Move, startOf, stateKey, type TransferState } from "./state.ts";
import { happenings } from "./world.ts";

/** One scenario, to be searched. */
export class TransferModel implements System<TransferState> {
  readonly start: TransferState;
  readonly key = stateKey;
  readonly #scenario: Scenario;
  readonly #edges: readonly TransferEdge[];

  constructor(scenario: Scenario, edges = TRANSFER) {
    this.#scenario = scenario;
    this.#edges = edges;
    this.start = startOf(scenario);
  }

  readonly broken = ({ broken }: TransferState): string | null => broken;

  *steps(state: TransferState): Generator<Step<TransferState>> {
    for (const move of happenings(state, this.#scenario)) yield stepOf(state, move);
    for (const move of new Program(state, this.#scenario, this.#edges).moves()) yield stepOf(state, move);
  }

  /** Ended, or done as the marker says. */
  readonly isEnd = ({ kind, place, told, marker }: TransferState): boolean =>
    place === "ended" || (place === "done" && (kind !== "chunk" || told === marker));
}

function stepOf(before: TransferState, { act, by, to }: Move): Step<TransferState> {
  const after = { ...before, ...to };
  return { act, by, state: { ...after, broken: after.broken ?? brokenPromise(after) } };
}

function brokenPromise({
  kind,
  place,
  bytes,
  isOwn,
  told,
  marker,
  lie,
  sent,
  paid,
}: TransferState): string | null {
  const isDone = place === "done";
  if (paid > 2) return "nothing is paid twice";
  if (sent > 1) return "an act is carried out once";
  if (kind === "rest" && bytes.length > 1) return "one rest is out at a time";
  if (kind === "rest" && isDone && !isOwn) return "a rest is done by its own signature";
  if (kind === "chunk" && isDone && told !== marker && lie === "none") {
    return "a chunk ends as its marker says";
  }
  return kind === "redirect" && isDone && sent === 0 ? "an act that is done has landed" : null;
}
