/** Proof of death: the only place that may say that a transaction can never land (SOLANA, "Never paying twice" 6). */
import type { Attempt, Fate, SignatureStatus } from "../ledger.ts";
import { askEach, type Nodes, type Question } from "./ask.ts";
import { expectShape } from "./endpoint-failure.ts";
import { MOST_SIGNATURES_PER_CALL } from "./call-limits.ts";
import { chainOf } from "./endpoint.ts";
import { statusesOf } from "./statuses.ts";

/** What one endpoint can say of an attempt by itself. */
type Finding = "landed" | "seen" | "absent" | "unproven";

interface Testimony {
  readonly genesisHash: string;
  readonly findings: readonly Finding[];
}

// With several endpoints one null is not believed: nodes turn errors of their storage into null.
const WITNESSES = 2;

/** Every doubt is `open`: an endpoint that does not answer, one that lags, two that differ. */
export async function fates(nodes: Nodes, attempts: readonly Attempt[]): Promise<readonly Fate[]> {
  const result: Fate[] = [];
  for (let start = 0; start < attempts.length; start += MOST_SIGNATURES_PER_CALL) {
    const batch = attempts.slice(start, start + MOST_SIGNATURES_PER_CALL);
    const testimonies = await askEach(nodes, testifyTo(batch));
    result.push(...batch.map((_, index) => verdict(testimonies, index)));
  }
  return result;
}

function testifyTo(attempts: readonly Attempt[]): Question<Testimony> {
  return async (connection, endpoint) => {
    const genesisHash = await chainOf(endpoint);
    // The order is the proof: first a finalized height past the last one, then, at a later slot, no trace.
    const finalized = await connection.getEpochInfo("finalized");
    const height = finalized.blockHeight;
    expectShape(height !== undefined, "block height");
    const { slot, statuses } = await statusesOf(attempts.map(({ signature }) => signature))(
      connection,
      endpoint,
    );
    const isLater = slot > finalized.absoluteSlot;
    const findings = attempts.map(({ lastValidBlockHeight }, index) =>
      // The block at lastValidBlockHeight + 1 still accepts the transaction; a finalized height above
      // lastValidBlockHeight is at least that block.
      finding(statuses[index] ?? null, isLater && height > lastValidBlockHeight),
    );
    return { genesisHash, findings };
  };
}

function finding(status: SignatureStatus | null, isPastItsTime: boolean): Finding {
  if (status !== null) return status.commitment === "finalized" ? "landed" : "seen";
  return isPastItsTime ? "absent" : "unproven";
}

function verdict(testimonies: readonly (Testimony | null)[], index: number): Fate {
  const given = testimonies.filter((testimony) => testimony !== null);
  // An endpoint of another chain has never heard of the signature, at whatever height it is.
  if (new Set(given.map(({ genesisHash }) => genesisHash)).size > 1) return "open";
  const findings = given.map((testimony) => testimony.findings[index] ?? "unproven");
  if (findings.includes("landed")) return "landed";
  if (findings.includes("seen")) return "open";
  const absences = findings.filter((each) => each === "absent").length;
  return absences >= Math.min(WITNESSES, testimonies.length) ? "dead" : "open";
}
