/** Lists in pages, newest first: a page names its last element to be gone on from. */

/** One page of a list. `hasMore` says whether another page follows; a page may be shorter than its limit. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly hasMore: boolean;
}
