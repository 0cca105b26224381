/** Acts that say who is not paid: an order declined, a chunk foreclosed, an order concluded. */
import type { OrderEvent } from "../../../../machines/order-context.ts";
import { formatAmount } from "../../../core/amount.ts";
import type { PrivateWrite } from "../private-storage.ts";
import type { LevelRecord } from "../tables.ts";
import { refusal, type Acting, type CommandOf, type Confirmation, type OrderAct } from "./acting.ts";

const DECLINE: OrderEvent = { type: "DECLINE" };

const foreclosing = (chunk: number): OrderEvent => ({ type: "FORECLOSE", chunk });

/** Refuses the whole order before its go, or after its go is gone from the chain. */
export function decline(acting: Acting<CommandOf<"decline">>): OrderAct {
  const { look, standing } = acting;
  if (look.view.order.state === "waiting") throw refusal(acting, "waits for its deposit: cancel it");
  if (standing.isRefused) throw refusal(acting, "is refused already");
  if (standing.hasGo) throw refusal(acting, "is being paid: foreclose the chunks that are open");
  return { act: "decline", what: {}, event: DECLINE, writes: [], confirmation: confirmationOf(acting, [0]) };
}

/** Gives up the recipients of one later chunk. */
export function foreclose(acting: Acting<CommandOf<"foreclose">>): OrderAct {
  const { command, standing, look } = acting;
  const { chunk } = command;
  const { cut } = look.terms;
  if (chunk >= cut.length) throw refusal(acting, `has chunks 0 to ${cut.length - 1}`);
  if (!standing.hasGo) throw refusal(acting, "is not decided as a whole: decline it");
  if (!standing.openChunks.includes(chunk)) throw refusal(acting, `has its chunk ${chunk} decided already`);
  const confirmation = confirmationOf(acting, [chunk]);
  return { act: "foreclose", what: { chunk }, event: foreclosing(chunk), writes: [], confirmation };
}

/** Gives up what is not decided, and writes off what is missing by this very reading. */
export function conclude(acting: Acting<CommandOf<"conclude">>): OrderAct {
  const { look, standing, parts, confirmed } = acting;
  const missing = look.view.levels.filter((level) => level.missing > 0n);
  if (missing.length === 0) throw refusal(acting, "misses nothing");
  const changed = look.facts.levels.filter(({ judgement }) => judgement !== null);
  const isAsTold = missing.every(({ mint }) => changed.every(({ row }) => row.mint !== mint));
  if (!isAsTold || look.facts.isUnclear) {
    throw refusal(acting, "misses another amount now: look again in a minute");
  }
  const sum = missing.reduce((total, level) => total + level.missing, 0n);
  if (confirmed !== null && confirmed !== sum) {
    throw refusal(acting, "misses another amount than was asked for: ask anew");
  }
  const chunks = openOf(acting);
  const confirmation = confirmationOf(acting, chunks);
  const amounts = missing.map(({ mint, missing: told }) => {
    const asset = parts.assets.named(mint);
    return [asset.symbol, formatAmount(told, asset.decimals)] as const;
  });
  return {
    act: "conclude",
    what: { missing: Object.fromEntries(amounts), chunks },
    first: standing.hasGo ? chunks.map(foreclosing) : [],
    event: chunks.includes(0) ? DECLINE : null,
    writes: missing.map(writtenOff),
    confirmation: confirmation && { ...confirmation, sum },
  };
}

function writtenOff({ id, writtenOff: before, missing }: LevelRecord): PrivateWrite {
  const set = { writtenOff: before + missing, missing: 0n, short: false };
  return { table: "levels", id, set };
}

/** Chunks that are given up: the whole order before its go, every open chunk after it. */
function openOf({ look, standing }: Acting): readonly number[] {
  if (standing.hasGo) return standing.openChunks;
  const { state, overState } = look.view.order;
  return state === "deciding" || state === "paying" || overState === "paying" ? [0] : [];
}

/** A transfer that is out may still land: giving it up takes a second word. */
function confirmationOf({ look }: Acting, chunks: readonly number[]): Confirmation | null {
  const isOut = look.view.transfers.some(
    ({ kind, n, state }) => kind === "chunk" && state === "out" && chunks.includes(n),
  );
  return isOut ? { by: "any" } : null;
}
