/** Sets limits on amounts, for one account or for every account. */
import { z } from "zod";
import { formatAmount, parseAmount } from "../../../core/amount.ts";
import type { Assets, Token } from "../../frame/assets/assets.ts";
import { isoTime } from "../../frame/iso-time.ts";
import { OperatorRefused } from "../../frame/acts/act.ts";
import {
  type ActContext,
  accountOfGate,
  type Direction,
  type IntakeRules,
  type Limit,
} from "../../frame/intake/rules.ts";
import type { GateAct } from "./gate-act.ts";
import { accountIdField, mintOf, type GateParts } from "./gate-rule-storage.ts";

/** The wanted limits. Amounts are decimal strings in whole units of the asset. */
export interface SetLimitsRequest {
  /** Left out: every account, counted separately. A limit of an account replaces that of all accounts. */
  readonly accountId?: string | undefined;
  /** A symbol or a mint. */
  readonly asset: string;
  /** The most that one transaction may move; no limit when left out. */
  readonly perTransaction?: string | undefined;
  /** The most that an account may move within any 24 hours; no limit when left out. */
  readonly perDay?: string | undefined;
  /**
   * `in`: what the account gives; `out`: what its recipients get. Both, counted separately, when left out. They differ
   * for swaps only: a send gives what its recipients get, and fees are not counted.
   */
  readonly direction?: Direction | undefined;
}

/** A limit, as it is listed. */
export interface LimitEntry extends ActContext {
  readonly accountId?: string;
  /** The symbol of the asset. */
  readonly asset: string;
  readonly direction: Direction;
  /** Whole units; null where there is none. */
  readonly perTransaction: string | null;
  readonly perDay: string | null;
  /** ISO 8601 in UTC. */
  readonly since: string;
}

/** Limits on amounts. */
export interface LimitCommands {
  /**
   * Sets the limits of an asset in place of those before; with neither amount the limit ends. A transaction counts when it
   * is taken, and still counts when it is cancelled or fails. A limit on a day counts what was taken before it was set.
   */
  setLimits(limits: SetLimitsRequest, by: ActContext): Promise<void>;
  /** Every limit, those of all accounts first. */
  limits(): Promise<readonly LimitEntry[]>;
}

const amountField = z.string().min(1).max(64).optional();

const wantedLimits = z.strictObject({
  accountId: accountIdField.optional(),
  asset: z.string().min(1).max(128),
  perTransaction: amountField,
  perDay: amountField,
  direction: z.enum(["in", "out"]).optional(),
});

/** A command to set limits, checked and in base units. */
interface ReadLimits {
  readonly accountId: string | null;
  readonly asset: Token;
  readonly directions: readonly Direction[];
  readonly perTransaction: bigint | null;
  readonly perDay: bigint | null;
}

export const SET_LIMITS: GateAct<GateParts, SetLimitsRequest, void> = {
  act: "set_limits",
  given: wantedLimits,
  what: (given) => ({ ...given }),
  decide({ assets, clock }, given, by) {
    const wanted = limitsIn(assets, given);
    const next = limitsOf(wanted).map((limit): Limit => ({ ...limit, ...by, since: clock.now() }));
    return {
      accountId: wanted.accountId,
      told: undefined,
      change: (rules) => ({ ...rules, limits: replaced(rules, wanted, next) }),
    };
  },
};

export async function listLimits(parts: GateParts): Promise<readonly LimitEntry[]> {
  const entries = [...(await parts.gates.all())].map(([id, { limits }]) => {
    const accountId = accountOfGate(id);
    return limits.map((limit) => shown(parts.assets, limit, accountId));
  });
  return entries.flat().toSorted((a, b) => ((a.accountId ?? "") < (b.accountId ?? "") ? -1 : 1));
}

/** Throws `OperatorRefused` that names the field. */
function limitsIn(assets: Assets, command: SetLimitsRequest): ReadLimits {
  const { accountId = null, direction, ...named } = command;
  const asset = assets.named(mintOf(assets, named.asset));
  const perTransaction = readAmountOf(asset, "perTransaction", named.perTransaction);
  const perDay = readAmountOf(asset, "perDay", named.perDay);
  if (perTransaction !== null && perDay !== null && perTransaction > perDay) {
    throw new OperatorRefused("perTransaction is more than perDay: a day would never have room for it");
  }
  const directions: readonly Direction[] = direction === undefined ? ["in", "out"] : [direction];
  return { accountId, asset, directions, perTransaction, perDay };
}

/** A limit for each direction; an empty list when both amounts are absent, which ends existing limits. */
function limitsOf({
  asset,
  directions,
  perTransaction,
  perDay,
}: ReadLimits): readonly Omit<Limit, "since" | keyof ActContext>[] {
  if (perTransaction === null && perDay === null) return [];
  return directions.map((direction) => ({
    mint: asset.mint,
    direction,
    perTransaction: perTransaction === null ? null : String(perTransaction),
    perDay: perDay === null ? null : String(perDay),
  }));
}

/** The limits of a gate with `next` in place of those on the same asset and direction. */
function replaced(
  { limits }: IntakeRules,
  { asset, directions }: ReadLimits,
  next: readonly Limit[],
): readonly Limit[] {
  const others = limits.filter((each) => each.mint !== asset.mint || !directions.includes(each.direction));
  if (next.length === 0 && others.length === limits.length) {
    throw new OperatorRefused(`there is no limit on ${asset.symbol} to end: give perTransaction or perDay`);
  }
  return [...others, ...next];
}

function shown(
  assets: Assets,
  { mint, perTransaction, perDay, since, ...limit }: Limit,
  accountId: string | null,
): LimitEntry {
  const asset = assets.ofMint(mint);
  const whole = (amount: string | null): string | null =>
    amount === null ? null : formatAmount(BigInt(amount), asset?.decimals ?? 0);
  return {
    ...(accountId === null ? {} : { accountId }),
    asset: asset?.symbol ?? mint,
    ...limit,
    perTransaction: whole(perTransaction),
    perDay: whole(perDay),
    since: isoTime(since),
  };
}

function readAmountOf(asset: Token, field: string, text: string | undefined): bigint | null {
  if (text === undefined) return null;
  const read = parseAmount(text, asset.decimals);
  if ("amount" in read) return read.amount;
  throw new OperatorRefused(
    `${field}: ${text} is no amount of ${asset.symbol} (${read.fault}): expected a decimal string such as "12.5"`,
  );
}
