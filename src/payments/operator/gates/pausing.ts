/** Pausing and resuming what is newly taken; what is under way ends, and reads and cancels work. */
import { z } from "zod";
import type { Clock } from "../../../runtime.ts";
import { isoTime } from "../../iso-time.ts";
import type { Assets } from "../../assets/assets.ts";
import { readActedBy, readCommand } from "../act.ts";
import type { ActedBy } from "../../acted-by.ts";
import { OperatorRefused } from "../operator-refused.ts";
import type { GateBook } from "./gate-book.ts";
import { accountOfGate } from "../../intake/rules.ts";
import type { Pause, PauseScope } from "../../intake/rules.ts";

/** What is paused: what fits every field that is given; everything when none is. */
export interface PausedScope {
  readonly mode?: "wallet" | "private" | undefined;
  /** A symbol or a mint; what gives it or gets it is paused. */
  readonly asset?: string | undefined;
  readonly type?: "send" | "swap" | "payroll" | undefined;
  readonly accountId?: string | undefined;
}

/** One pause as it is listed. */
export interface PausedEntry extends ActedBy {
  readonly mode?: "wallet" | "private";
  /** Its symbol. */
  readonly asset?: string;
  readonly type?: "send" | "swap" | "payroll";
  readonly accountId?: string;
  /** ISO 8601 in UTC. */
  readonly since: string;
}

/** Pausing what is newly taken. */
export interface Pausing {
  /** Pauses; a scope that is paused already is refused, so that nobody resumes what another has paused. */
  pause(scope: PausedScope, by: ActedBy): Promise<PausedEntry>;
  /** Ends the pause of exactly this scope; refused when there is none. */
  resume(scope: PausedScope, by: ActedBy): Promise<void>;
  /** Every pause, oldest first. */
  paused(): Promise<readonly PausedEntry[]>;
}

/** An account's id, as hosts may choose them. */
export const accountIdField = z.string().min(1).max(128);

const pausedScope = z.strictObject({
  mode: z.enum(["wallet", "private"]).optional(),
  asset: z.string().min(1).max(128).optional(),
  type: z.enum(["send", "swap", "payroll"]).optional(),
  accountId: accountIdField.optional(),
});

export function createPausing({
  gates,
  clock,
  assets,
}: {
  readonly gates: GateBook;
  readonly clock: Clock;
  readonly assets: Assets;
}): Pausing {
  const read = (given: PausedScope): { scope: PauseScope; accountId: string | null } => {
    const { mode, asset, type, accountId = null } = readCommand(pausedScope, given);
    const mint = asset === undefined ? undefined : mintOf(assets, asset);
    const scope: PauseScope = {
      ...(mode === undefined ? {} : { mode }),
      ...(mint === undefined ? {} : { mint }),
      ...(type === undefined ? {} : { type }),
    };
    return { scope, accountId };
  };

  const shown = ({ mint, since, ...pause }: Pause, accountId: string | null): PausedEntry => ({
    ...pause,
    ...(mint === undefined ? {} : { asset: assets.ofMint(mint)?.symbol ?? mint }),
    ...(accountId === null ? {} : { accountId }),
    since: isoTime(since),
  });

  return {
    async pause(given, by) {
      const { scope, accountId } = read(given);
      const { actor, reason } = readActedBy(by);
      const pause: Pause = { ...scope, actor, reason, since: clock.now() };
      const entry = shown(pause, accountId);
      await gates.change(
        accountId,
        (rules) => {
          if (rules.pauses.some((each) => isSameScope(each, scope))) {
            throw new OperatorRefused(`${inWords(entry)} is paused already`);
          }
          return { ...rules, pauses: [...rules.pauses, pause] };
        },
        { by: { actor, reason }, act: "pause", what: given as Readonly<Record<string, unknown>> },
      );
      return entry;
    },

    async resume(given, by) {
      const { scope, accountId } = read(given);
      const acted = readActedBy(by);
      await gates.change(
        accountId,
        (rules) => {
          const pauses = rules.pauses.filter((each) => !isSameScope(each, scope));
          if (pauses.length === rules.pauses.length) {
            throw new OperatorRefused(`${inWords(given)} is not paused: name exactly what was paused`);
          }
          return { ...rules, pauses };
        },
        { by: acted, act: "resume", what: given as Readonly<Record<string, unknown>> },
      );
    },

    async paused() {
      const all = [...(await gates.all())].flatMap(([id, { pauses }]) =>
        pauses.map((pause) => shown(pause, accountOfGate(id))),
      );
      return all.toSorted((a, b) => (a.since < b.since ? -1 : 1));
    },
  };
}

/** The mint that a symbol or a mint names. Throws `OperatorRefused` for what is no asset of the service. */
export function mintOf(assets: Assets, asset: string): string {
  const found = assets.tokens.find(({ symbol, mint }) => symbol === asset || mint === asset);
  if (found !== undefined) return found.mint;
  const expected = assets.tokens.map(({ symbol }) => symbol).join(", ");
  throw new OperatorRefused(`asset: ${asset} is none of ${expected}`);
}

function isSameScope(one: PauseScope, other: PauseScope): boolean {
  return one.mode === other.mode && one.mint === other.mint && one.type === other.type;
}

function inWords({ mode, asset, type, accountId }: PausedScope): string {
  const named = [
    ["mode", mode],
    ["asset", asset],
    ["type", type],
    ["account", accountId],
  ].filter(([, value]) => value !== undefined);
  return named.length === 0 ? "the service" : named.map(([name, value]) => `${name} ${value}`).join(", ");
}
