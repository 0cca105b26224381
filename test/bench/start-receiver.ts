/** Starting the receiver's process, and asking it what has arrived. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { issueLoopbackCertificate, type LoopbackCertificate } from "../kit/loopback-certificate.ts";
import type { Arrivals, ReceiverReady } from "./receiver-process.ts";

/** A receiver that answers 200 until it is ended. */
export interface ReceiverProcess {
  /** The authority to trust, in PEM. */
  readonly ca: string;
  /** The URL of one webhook: no two share their connections. */
  urlOf(webhook: number): string;
  /** What has arrived since this was last asked. */
  arrivals(): Promise<Arrivals>;
  end(): Promise<void>;
}

/** By default with a certificate of its own. */
export async function startReceiver(certificate?: LoopbackCertificate): Promise<ReceiverProcess> {
  const { ca, ...own } = certificate ?? (await issueLoopbackCertificate());
  const args = [JSON.stringify(own)];
  const child = fork("test/bench/receiver-process.ts", args, { execArgv: ["--import", "tsx"] });
  const [{ port }] = (await once(child, "message")) as [ReceiverReady];
  return {
    ca,
    urlOf: (webhook) => `https://127.0.0.1:${port}/hook/${webhook}`,
    async arrivals() {
      const answered = once(child, "message");
      child.send("arrivals");
      const [arrived] = (await answered) as [Arrivals];
      return arrived;
    },
    async end() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}
