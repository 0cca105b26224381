/** Lists in pages, newest first: a page names its last element to be gone on from. */
import { PaymentError } from "../errors.ts";

/** One page of a list. `hasMore` says whether another page follows; a page may be shorter than its limit, or empty. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly hasMore: boolean;
  /** `startingAfter` of the next page, where the last element of this one is not to be named. */
  readonly nextAfter?: string;
}

/** The first `limit` of what was found; a reader that asks for one more knows whether there is another page. */
export function pageOf<T>(found: readonly T[], limit: number): Page<T> {
  return { data: found.slice(0, limit), hasMore: found.length > limit };
}

/** The refusal of a `startingAfter` that is not in the list. Another account's element is as good as none. */
export function notInList(element: string): PaymentError<"VALIDATION_ERROR"> {
  const message = `is no ${element} of this list`;
  return new PaymentError("VALIDATION_ERROR", { fields: [{ path: "startingAfter", message }] });
}
