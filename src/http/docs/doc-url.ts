/** Where the page of the API tells what to do about an error. */
import type { ErrorCode } from "../../errors/error-table.ts";

/** The section of a code, relative to the service: a host may have mounted it below a path of its own. */
export function docUrlOf(code: ErrorCode): string {
  return `/v1/docs#${code}`;
}
