/** An HTTPS receiver of webhooks in a process of its own: what it costs to receive is none of what it costs to deliver. */
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { LoopbackCertificate } from "../kit/loopback-certificate.ts";

/** What it says first. */
export interface ReceiverReady {
  readonly port: number;
}

/** Asked for by any message: when each notice began to arrive since the last time, by `process.hrtime`, in milliseconds. */
export type Arrivals = readonly (readonly [noticeId: string, atMs: number])[];

const NANOSECONDS = 1_000_000;

let arrivals: (readonly [string, number])[] = [];
const { cert, key } = JSON.parse(process.argv[2] ?? "") as LoopbackCertificate;
const server = createServer({ key, cert }, (incoming, response) => {
  arrivals.push([String(incoming.headers["webhook-id"]), Number(process.hrtime.bigint()) / NANOSECONDS]);
  incoming.resume().on("end", () => response.writeHead(200).end());
});
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1", () => {
  const ready: ReceiverReady = { port: (server.address() as AddressInfo).port };
  process.send?.(ready);
});
process.on("message", () => {
  process.send?.(arrivals);
  arrivals = [];
});
// The bench has ended.
process.on("disconnect", () => process.exit());
