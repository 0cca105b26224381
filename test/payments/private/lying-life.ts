/** A life of private mode in which the nodes lie: as data, drawn at random. */
import fc from "fast-check";
import { type ToldLie, anyToldLie } from "./random-lies.ts";
import { anyHappening, anyOrder, type Happening, type OrderWords } from "./random-life.ts";

/** What happens besides: from now on these lies are told and no others; none are, when there are none. */
export type LyingHappening =
  | Exclude<Happening, { does: "restore" | "rent" }>
  | { readonly does: "lie"; readonly lies: readonly ToldLie[] };

export interface LyingLife {
  readonly orders: readonly (OrderWords | "swap")[];
  readonly happenings: readonly LyingHappening[];
}

const MAX_ORDERS = 3;
const MAX_HAPPENINGS = 12;

const lie = fc
  .array(anyToldLie, { minLength: 1, maxLength: 4 })
  .map((lies): LyingHappening => ({ does: "lie", lies }));

const isPlain = (happening: Happening): happening is Exclude<Happening, { does: "restore" | "rent" }> =>
  happening.does !== "restore" && happening.does !== "rent";

/** Each order is paid for, most of them with enough to pay everybody twice; the rest is chance. */
export const anyLyingLife: fc.Arbitrary<LyingLife> = fc
  .array(
    fc.oneof({ weight: 4, arbitrary: anyOrder }, { weight: 1, arbitrary: fc.constant("swap" as const) }),
    {
      minLength: 1,
      maxLength: MAX_ORDERS,
    },
  )
  .chain((orders) => {
    const paid = fc.tuple(
      ...orders.map((_, order) =>
        fc
          .constantFrom<("exact" | "over")[]>("exact", "over", "over")
          .map((howMuch) => ({ does: "deposit", order, howMuch, asset: 0, by: 1 }) as const),
      ),
    );
    const happening = fc.oneof(
      { weight: 2, arbitrary: lie },
      { weight: 3, arbitrary: anyHappening(orders.length).filter(isPlain) },
    );
    return fc.record({
      orders: fc.constant(orders),
      happenings: fc
        .tuple(
          fc.array(happening, { maxLength: 3 }),
          paid,
          lie,
          fc.array(happening, { minLength: 2, maxLength: MAX_HAPPENINGS }),
        )
        .map((parts) => parts.flat()),
    });
  });
