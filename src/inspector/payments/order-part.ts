/** A branch of an order's tree, and how branches are made. */

export interface OrderPart {
  /** The kind, such as `delivery`. */
  readonly is: string;
  /** The instance with a page of its own; null where the branch has none. */
  readonly id: string | null;
  /** A second page beside its own; null without one. */
  readonly to: { readonly words: string; readonly page: string; readonly id: string } | null;
  readonly state: string;
  /** A short addition, such as a signature; null without one. */
  readonly note: string | null;
  readonly below: readonly OrderPart[];
}

/** A payroll has hundreds of rows, and its page says how many more there are. */
const MAX_BRANCHES = 50;

export function branch(own: Pick<OrderPart, "is" | "state"> & Partial<OrderPart>): OrderPart {
  return { id: null, to: null, note: null, below: [], ...own };
}

export function bounded<Item>(
  items: readonly Item[],
  name: string,
  branchOf: (item: Item) => OrderPart,
): readonly OrderPart[] {
  const more = items.length - MAX_BRANCHES;
  const shown = items.slice(0, MAX_BRANCHES).map(branchOf);
  return more > 0 ? [...shown, branch({ is: `${more} more ${name}`, state: "not shown here" })] : shown;
}
