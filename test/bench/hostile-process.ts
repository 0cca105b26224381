/** The receivers of a hostile tenant, in a process of its own. */
import type { LoopbackCertificate } from "../kit/loopback-certificate.ts";
import { HOSTILE_MANNERS, startHostileReceivers } from "../kit/hostile-receivers.ts";

/** What it says first. */
export interface HostileReady {
  readonly urls: readonly string[];
}

/** How many of them, as JSON in the first argument. */
export interface HostileSettings {
  readonly certificate: LoopbackCertificate;
  readonly count: number;
}

const { certificate, count } = JSON.parse(process.argv[2] ?? "") as HostileSettings;
const { urlOf } = await startHostileReceivers(certificate);
const urls = Array.from({ length: count }, (_, index) =>
  urlOf(HOSTILE_MANNERS[index % HOSTILE_MANNERS.length] ?? "silent", index),
);
const ready: HostileReady = { urls };
// The bench has ended.
process.on("disconnect", () => process.exit());
process.send?.(ready);
