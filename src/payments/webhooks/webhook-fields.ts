/** Checks the URL and the events that a caller gives for a webhook. */
import { PaymentError } from "../../errors.ts";
import type { AllowAddress } from "./sending/address-guard.ts";
import type { DenyList } from "./sending/deny-list.ts";
import { NOTICE_EVENTS, type NoticeEvent } from "./sending/notice-body.ts";
import { parseReceiverUrl } from "./sending/receiver-url.ts";

/** The host's own rules for where webhooks may be. */
export interface ReceiverRules {
  readonly allowAddress?: AllowAddress;
  readonly deny?: DenyList;
}

/** The URL in its normal form, or `INVALID_URL` with the reason. */
export function readUrl(putativeUrl: string, { allowAddress, deny }: ReceiverRules): string {
  const read = parseReceiverUrl(putativeUrl, allowAddress, deny);
  if ("ok" in read) return read.ok.href;
  // A URL may carry a password; the error does not repeat it.
  const url = putativeUrl.slice(0, 256).replace(/\/\/[^/@]*@/, "//***@");
  throw new PaymentError("INVALID_URL", { url, reason: read.refused });
}

/** Known events without duplicates, or `INVALID_EVENTS`. */
export function readEvents(putativeEvents: readonly string[]): readonly NoticeEvent[] {
  const known = (event: string): event is NoticeEvent => (NOTICE_EVENTS as readonly string[]).includes(event);
  const invalid = putativeEvents.filter((event) => !known(event));
  if (putativeEvents.length === 0 || invalid.length > 0) {
    throw new PaymentError("INVALID_EVENTS", { invalid, allowed: NOTICE_EVENTS });
  }
  return [...new Set(putativeEvents.filter(known))];
}

/** Reads a known event. Throws `INVALID_EVENTS`. */
export function readEvent(putativeEvent: string): NoticeEvent {
  const [event] = readEvents([putativeEvent]);
  if (event === undefined) throw new Error("one event was read as none");
  return event;
}
