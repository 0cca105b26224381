/** Lists in pages, newest first: a page names its last element to be gone on from. */
import { type PaymentError, fieldError } from "../../errors/errors.ts";

/** A page of a list. `hasMore` says whether another page follows; a page may be shorter than its limit, or empty. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly hasMore: boolean;
  /** `startingAfter` of the next page, where the last element of this one is not to be named. */
  readonly nextAfter?: string;
}

/** The first `limit` elements found. A reader that asks for `limit + 1` elements learns whether a next page exists. */
export function pageOf<T>(found: readonly T[], limit: number): Page<T> {
  return { data: found.slice(0, limit), hasMore: found.length > limit };
}

/** The refusal of a `startingAfter` that is not in the list. Another account's element counts as unknown. */
export function notInList(element: string): PaymentError<"VALIDATION_ERROR"> {
  const message = `is no ${element} of this list`;
  return fieldError("startingAfter", message);
}
