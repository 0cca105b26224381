/** Asks a signer of the host: one request for a message at a time, and a late answer is used for the same message. */
import { createHash } from "node:crypto";
import type { z } from "zod";
import type { Signer } from "../../ledger/sign-transaction.ts";
import { objectWith } from "../../core/options.ts";
import type { AskPart } from "./host-parts.ts";

const MIN_DEADLINE_MS = 1_000;
/** An hour: a person who approves may be at lunch. */
const MAX_DEADLINE_MS = 3_600_000;
/** Requests are remembered up to this number, and the oldest is forgotten first: a signature takes 64 bytes. */
const MOST_REQUESTS = 1_000;

/** An option that is a signer. */
export const signerOption: z.ZodType<Signer, Signer> = objectWith<Signer>(
  ["sign"],
  "a signer, such as keypairSigner(secretKey)",
).refine(
  ({ deadlineMs }) =>
    deadlineMs === undefined ||
    (Number.isInteger(deadlineMs) && deadlineMs >= MIN_DEADLINE_MS && deadlineMs <= MAX_DEADLINE_MS),
  { path: ["deadlineMs"], error: "expected whole milliseconds, 1,000 to 3,600,000" },
);

/**
 * The signer, called through `ask`. While a request for a message is open, other callers of the same bytes wait for its
 * answer. An answer that comes after the deadline is kept for the next caller of the same bytes.
 */
export function askedSigner(signer: Signer, part: string, ask: AskPart): Signer {
  const { address, deadlineMs } = signer;
  const deadline = deadlineMs === undefined ? undefined : { exactly: deadlineMs };
  const requests = new Map<string, Promise<Uint8Array>>();
  const requestOf = (key: string, make: () => Promise<Uint8Array>): Promise<Uint8Array> => {
    const open = requests.get(key);
    if (open !== undefined) return open;
    const made = make();
    requests.set(key, made);
    made.catch(() => requests.delete(key));
    const [oldest] = requests.keys();
    if (requests.size > MOST_REQUESTS && oldest !== undefined) requests.delete(oldest);
    return made;
  };
  return {
    address,
    async sign(message) {
      const key = createHash("sha256").update(message).digest("hex");
      const call = (signal: AbortSignal): Promise<Uint8Array> =>
        requestOf(key, async () => signer.sign(message, signal));
      const signature = await ask(part, call, deadline);
      requests.delete(key);
      return signature;
    },
  };
}
