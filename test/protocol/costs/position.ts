/** What lies at the order's address when the game of costs goes on, and what strangers may do about it. */
import { rentOf, SIGNATURE, TOKEN_ACCOUNT_BYTES } from "./costs.ts";

/** A position. All sums are in lamports; tokens count by what they are worth, and dust of them is worth nothing. */
export interface Position {
  /** The order's token account: its lamports, or null if there is none. */
  readonly account: number | null;
  readonly hasTokens: boolean;
  readonly tokens: number;
  /** Lamports of the sender's. */
  readonly lamports: number;
  /** Lamports that the sponsor has lent. */
  readonly loan: number;
  /** Whether the sender has a token account, and lamports in his wallet. */
  readonly hasAccount: boolean;
  readonly hasLamports: boolean;
  /** Whether no rest has borne what no quote paid. */
  readonly isFirst: boolean;
  readonly mode: "asserted" | "bare";
  readonly hasLateMoney: boolean;
}

/** Tells positions apart. */
export function keyOf(position: Position): string {
  const { account, tokens, lamports, loan, hasTokens, hasAccount, hasLamports, isFirst, mode, hasLateMoney } =
    position;
  const flags = [hasTokens, hasAccount, hasLamports, isFirst, mode === "bare", hasLateMoney];
  const bits = flags.reduce((sum, flag, bit) => (flag ? sum + 2 ** bit : sum), 0);
  return `${bits} ${account ?? "-"} ${tokens} ${lamports} ${loan}`;
}

/** What somebody does, what he gains by it (loses, below 0), and what is there then. */
export interface Move {
  readonly act: string;
  readonly gain: number;
  readonly position: Position;
}

const LATE_MONEY = 3_000_000;

/** The stranger is sender, depositor and payee at once. Rent is at the rate of now. */
export class Stranger {
  readonly #account: number;
  readonly #asset: "tokens" | "SOL";

  constructor(asset: "tokens" | "SOL", rate: number) {
    this.#asset = asset;
    this.#account = rentOf(rate, TOKEN_ACCOUNT_BYTES);
  }

  /** Nothing, one move, or two of which the second is quick. */
  movesFrom(position: Position): Move[] {
    const moves: Move[] = [{ act: "", gain: 0, position }];
    for (const first of [...this.#quick(position), ...this.#slow(position)]) {
      moves.push(first);
      for (const second of this.#quick(first.position)) {
        const act = `${first.act} + ${second.act}`;
        moves.push({ act, gain: first.gain + second.gain, position: second.position });
      }
    }
    return moves;
  }

  /** Moves for which there is time after another one. Each costs a signature. */
  #quick(position: Position): Move[] {
    const moves = [this.#paid("dust of tokens", this.#opened(position))];
    const [act, gain] = position.hasAccount
      ? (["closes", this.#account] as const)
      : (["opens", -this.#account] as const);
    moves.push(this.#paid(act, { gain, position: { ...position, hasAccount: !position.hasAccount } }));
    if (position.hasLamports) {
      moves.push(this.#paid("sweeps", { gain: 0, position: { ...position, hasLamports: false } }));
    }
    return moves;
  }

  #slow(position: Position): Move[] {
    const moves = [1, this.#account].map((sum) => {
      const more = { ...position, lamports: position.lamports + sum };
      return this.#paid(sum === 1 ? "dust of lamports" : "a rent of lamports", {
        gain: -sum,
        position: more,
      });
    });
    if (!position.hasLamports) {
      moves.push(this.#paid("fills", { gain: 0, position: { ...position, hasLamports: true } }));
    }
    if (!position.hasLateMoney) moves.push(this.#paid("late money", this.#late(position)));
    return moves;
  }

  #paid(act: string, { gain, position }: Omit<Move, "act">): Move {
    return { act, gain: gain - SIGNATURE, position };
  }

  /** The order's account has tokens, and is made for them if it is not there. */
  #opened(position: Position): Omit<Move, "act"> {
    if (position.account !== null) return { gain: 0, position: { ...position, hasTokens: true } };
    return { gain: -this.#account, position: { ...position, account: this.#account, hasTokens: true } };
  }

  #late(position: Position): Omit<Move, "act"> {
    const late = { ...position, hasLateMoney: true };
    if (this.#asset === "SOL") {
      return { gain: -LATE_MONEY, position: { ...late, lamports: position.lamports + LATE_MONEY } };
    }
    const opened = this.#opened(late);
    const tokens = position.tokens + LATE_MONEY;
    return { gain: opened.gain - LATE_MONEY, position: { ...opened.position, tokens } };
  }
}
