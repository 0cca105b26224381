/** The worst of all plays of the game, over all beginnings. */
import { type Beginning, beginningsOf, LEFT_OUT } from "./beginnings.ts";
import { rentOf } from "./costs.ts";
import { type Best, Game, type Play } from "./game.ts";

/** What the worst play costs both sides, in lamports, and how it goes. */
export interface Worst extends Best {
  readonly beginning: Beginning;
}

/** A lamport is rounding, not a loss. */
const LEAST_SCORE = 1;

/** The play in which the sponsor loses most beyond `ratio` times what the others lose, or null if there is none. */
export function worstOf(play: Play, rates: readonly number[]): Worst | null {
  let worst: Worst | null = null;
  for (const beginning of rates.flatMap((rate) => beginnings(play, rate))) {
    const best = new Game(beginning, play).best();
    if (best !== null && best.score > (worst?.score ?? LEAST_SCORE)) worst = { ...best, beginning };
  }
  return worst;
}

/** Eleven payees of one lamport each may be left out by who lets them be so small. */
function beginnings({ without }: Play, rate: number): Beginning[] {
  if (without !== "K11: a SOL recipient gets at least rent(0)") {
    return [...beginningsOf(rate, LEFT_OUT, rentOf(rate, 0))];
  }
  return [...beginningsOf(rate, [[11, 184]], 1)];
}
