/** Where a page of finished instances begins, as the statement for it takes it. */
import type { FinishedPage } from "../storage.ts";

/** The values of that statement. */
export interface FinishedValues extends Pick<FinishedPage, "until" | "limit"> {
  readonly updatedAt: number;
  readonly id: string;
}

/** The first page begins before every time and id. */
export function finishedValues({ until, after, limit }: FinishedPage): FinishedValues {
  const { updatedAt, id } = after ?? { updatedAt: Number.MIN_SAFE_INTEGER, id: "" };
  return { until, updatedAt, id, limit };
}
