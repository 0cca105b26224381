/** What a fault does to a notification. */
import type { Fault } from "../faults.ts";
import { toJson } from "./json.ts";

/** Where a notification goes. */
export interface Notified {
  readonly send: (result: unknown) => void;
  /** Ends the connection. */
  readonly cut: () => void;
}

/** Sends `result`, or what the fault makes of it. `wait` resolves after so many milliseconds of the chain's clock. */
export function deliver(
  fault: Fault | undefined,
  result: unknown,
  { send, cut }: Notified,
  wait: (ms: number) => Promise<void>,
): void {
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
