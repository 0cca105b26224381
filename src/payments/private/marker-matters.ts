/** Matters of an order's markers and money: noted in the commit of what it tells. */
import { noteMatter, type NotedKind, type NotedMatter } from "./noted-matters.ts";
import type { PrivateContext, PrivateStorage, PrivateWrite } from "./private-storage.ts";
import type { ChunkRecord } from "./tables.ts";
import type { OrderLook } from "./look.ts";
import { shapeOf } from "./protocol/cut.ts";
import { isPaid, NOBODY, outcomeOf } from "./protocol/outcome.ts";

interface NotingParts extends Pick<PrivateContext, "clock"> {
  readonly storage: Pick<PrivateStorage, "matters">;
}

/** A matter of an order, and what was seen of it, as a sentence without its period. */
export interface OrderMatter extends Pick<NotedMatter, "detail" | "isLasting"> {
  readonly kind: NotedKind;
}

/** One row a kind, however much there is of it. */
export async function noteMatters(
  { storage, clock }: NotingParts,
  { view: { order } }: Pick<OrderLook, "view">,
  matters: readonly OrderMatter[],
): Promise<readonly PrivateWrite[]> {
  const since = clock.now();
  const kinds = [...new Set(matters.map(({ kind }) => kind))];
  const writes = kinds.map((kind) => {
    const those = matters.filter((matter) => matter.kind === kind);
    const details = those.flatMap(({ detail }) => detail ?? []);
    return noteMatter(storage, {
      kind,
      order,
      since,
      ...(details.length === 0 ? {} : { detail: details.join("; ") }),
      isLasting: those.every(({ isLasting }) => isLasting === true),
    });
  });
  return (await Promise.all(writes)).flat();
}

/** The matters of a newly told marker: a length that says nothing, or a go without its fee (K5). */
export function mattersOf(
  { terms }: Pick<OrderLook, "terms">,
  { k, length, paid }: ChunkRecord,
): readonly OrderMatter[] {
  if (length === null) return [];
  const outcome = outcomeOf(shapeOf(terms, k), length);
  const unknown = `no order ever says what marker ${k} of ${length} bytes says`;
  if (outcome === null) return [{ kind: "unexplained", detail: unknown }];
  const isFeePaid = paid?.includes(0) ?? isPaid(outcome, 0);
  return k > 0 || length === NOBODY || terms.fee === 0n || isFeePaid ? [] : [{ kind: "fee_left_out" }];
}

/** Markers of another program, by which nothing is concluded. */
export function foreignMarkers({ facts }: Pick<OrderLook, "facts">): readonly OrderMatter[] {
  return facts.chunks
    .filter(({ marker }) => marker === "foreign")
    .map(({ k }) => ({
      kind: "unexplained",
      detail: `marker ${k} belongs to another program`,
      isLasting: true,
    }));
}
