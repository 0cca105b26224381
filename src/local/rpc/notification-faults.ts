/** Sends a notification, or does to it what a fault says. */
import type { Fault } from "../faults.ts";
import { toJson } from "./json.ts";

/** The receiver of a notification. */
export interface NotificationTarget {
  readonly send: (result: unknown) => void;
  /** Ends the connection. */
  readonly cut: () => void;
  /** Aborted when the connection has ended. */
  readonly signal: AbortSignal;
}

/** Sends and delays notifications: `wait` resolves after so many milliseconds of the chain's clock. */
interface Delivering extends Pick<NotificationTarget, "send" | "cut"> {
  readonly wait: (ms: number) => Promise<void>;
}

/** Sends `result`, as changed by the fault. */
export function deliver(fault: Fault | undefined, result: unknown, { send, cut, wait }: Delivering): void {
  switch (fault?.kind) {
    case "drop":
    case "hang":
      return;
    case "refuse":
    case "lose-answer":
      return cut();
    case "delay":
      return void wait(fault.ms).then(() => send(result));
    case "lie":
      return send(fault.answer(JSON.parse(toJson(result))));
    // Those of calls only.
    case "error":
    case "lag":
    case "restored":
    case undefined:
      return send(result);
  }
}
