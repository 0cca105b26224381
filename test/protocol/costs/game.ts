/**
 * What strangers can cost the sponsor by dust, races, swept wallets, late money, emptied payees and the loan. They move
 * between a reading and the landing of its rest, and between that and the next reading, for some rounds; then they are quiet,
 * and the service ends.
 */
import type { Beginning, CostRule } from "./beginnings.ts";
import { FEE, networkOf, rentOf, SIGNATURE, TOKEN_ACCOUNT_BYTES } from "./costs.ts";
import { keyOf, type Move, type Position, Stranger } from "./position.ts";
import { type FailureCost, type Landed, type Rest, Rests } from "./rest.ts";

/** How it is played. */
export interface Play {
  /** What the others' loss counts: at 1, a play is won that costs the sponsor more than it costs them. */
  readonly ratio: number;
  readonly rounds: number;
  readonly failures: FailureCost;
  readonly without: CostRule | null;
}

/** The best play from a position on. What is lost is below 0. */
export interface Best {
  /** What the sponsor loses, less `ratio` times what the others lose. */
  readonly score: number;
  readonly sponsor: number;
  readonly others: number;
  readonly acts: string;
}

/** So many rests are made when nobody moves any more: more than ever find something to do. */
const QUIET_RESTS = 3;

/** What one score must be above another. */
const LEAST = 1e-9;

/** The game of one beginning. */
export class Game {
  readonly #beginning: Beginning;
  readonly #play: Play;
  readonly #rests: Rests;
  readonly #stranger: Stranger;
  readonly #rate: number;
  readonly #account: number;
  readonly #knownReads = new Map<string, Best>();
  readonly #knownMoves = new Map<string, Best>();

  constructor(beginning: Beginning, play: Play) {
    this.#beginning = beginning;
    this.#play = play;
    this.#rate = beginning.rate * beginning.rise;
    this.#account = rentOf(this.#rate, TOKEN_ACCOUNT_BYTES);
    this.#rests = new Rests(beginning, play.without);
    this.#stranger = new Stranger(beginning.asset, this.#rate);
  }

  /** How many positions were looked at. */
  get positions(): number {
    return this.#knownReads.size;
  }

  /** The best play, or null if the order is refused and not worth its marker: then nothing is bought. */
  best(): Best | null {
    const start = this.#start();
    return start === null ? null : this.#plus(start, this.#moves(start.position, this.#play.rounds), "");
  }

  /** What is there when all is decided, and what both sides have spent by then. */
  #start(): Landed | null {
    const { rate, asset, hasAccount, hasLamports, order } = this.#beginning;
    const isTokens = asset === "tokens";
    const own = isTokens ? rentOf(rate, TOKEN_ACCOUNT_BYTES) : null;
    const spent = SIGNATURE + (own ?? 0) + (hasAccount ? this.#account : 0);
    const money = order.decision === "refused" ? order.value : order.left;
    const position: Position = {
      account: own,
      hasTokens: isTokens && money > 0,
      tokens: isTokens ? money : 0,
      lamports: isTokens ? 0 : money,
      loan: order.decision === "go" && !isTokens ? 2 * rentOf(this.#rate, 0) : 0,
      hasAccount,
      hasLamports,
      isFirst: true,
      mode: "asserted",
      hasLateMoney: false,
    };
    if (order.decision === "go") {
      const network = networkOf({ rate: this.#rate, asset, chunks: 1 });
      const marker = rentOf(this.#rate, order.extraBytes);
      return { position, sponsor: network - marker - FEE - position.loan, others: -spent - money - network };
    }
    const rest = this.#rests.of(position);
    const leg = isTokens ? rest?.tokens : rest?.lamports;
    if (leg === undefined || leg === null || money <= leg.cost) return null;
    return { position, sponsor: -rentOf(this.#rate, 1) - FEE, others: -spent - money };
  }

  /** The strangers move, and the service reads. */
  #moves(position: Position, rounds: number): Best {
    return known(this.#knownMoves, `${keyOf(position)} ${rounds}`, () =>
      best(
        this.#stranger.movesFrom(position).map((move) => {
          const moved = { position: move.position, sponsor: 0, others: move.gain };
          return this.#plus(moved, this.#reads(move.position, rounds), `[${move.act}] `);
        }),
      ),
    );
  }

  /** The service reads and signs, the strangers move, and it lands; or they are quiet from here on. */
  #reads(position: Position, rounds: number): Best {
    return known(this.#knownReads, `${keyOf(position)} ${rounds}`, () => {
      const quiet = this.#quiet(position, QUIET_RESTS);
      if (rounds === 0) return quiet;
      const rest = this.#rests.of(position);
      const name = rest === null ? "waits " : `${rest.isBare ? "bare" : "asserted"} `;
      const moved = this.#stranger.movesFrom(position).map((move) => {
        const landed = this.#landed(rest, move);
        return this.#plus(landed, this.#moves(landed.position, rounds - 1), `[${move.act}] ${name}`);
      });
      return best([quiet, ...moved]);
    });
  }

  /** What a rest leaves that lands after a move; without one the next reading is for an asserted rest. */
  #landed(rest: Rest | null, { act, position, gain }: Move): Landed {
    if (rest === null) return { position: { ...position, mode: "asserted" }, sponsor: 0, others: gain };
    const landed = this.#rests.land(rest, position, this.#play.failures);
    // Dust that came after the reading is still there.
    const hasTokens = landed.position.hasTokens || (rest.isBare && act.includes("dust of tokens"));
    return { ...landed, position: { ...landed.position, hasTokens }, others: landed.others + gain };
  }

  /** The service alone, until nothing is left to do. */
  #quiet(position: Position, rests: number): Best {
    const rest = rests === 0 ? null : this.#rests.of(position);
    if (rest !== null) {
      const landed = this.#rests.land(rest, position, this.#play.failures);
      return this.#plus(landed, this.#quiet(landed.position, rests - 1), "rest; ");
    }
    if (position.mode === "bare" && rests > 0) {
      return this.#quiet({ ...position, mode: "asserted" }, rests - 1);
    }
    // The sender closes his account in the end.
    const others = position.hasAccount ? this.#account : 0;
    return { score: this.#play.ratio * others, sponsor: 0, others, acts: "end" };
  }

  #plus({ sponsor, others }: Omit<Landed, "position">, then: Best, acts: string): Best {
    return {
      score: then.score - sponsor + this.#play.ratio * others,
      sponsor: then.sponsor + sponsor,
      others: then.others + others,
      acts: `${acts}${then.acts}`,
    };
  }
}

function best(plays: readonly Best[]): Best {
  return plays.reduce((one, other) => (other.score > one.score + LEAST ? other : one));
}

function known(all: Map<string, Best>, key: string, find: () => Best): Best {
  let value = all.get(key);
  if (value === undefined) {
    value = find();
    all.set(key, value);
  }
  return value;
}
