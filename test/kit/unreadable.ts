/** A fault: no node tells what stands at an address, while everything else is told. */
import type { FaultRule } from "../../src/local/faults.ts";

/** Refuses each read of several accounts that this address is among. */
export const unreadable =
  (address: string): FaultRule =>
  ({ params: [asked] }) =>
    Array.isArray(asked) && asked.includes(address)
      ? { kind: "error", code: -32_602, message: "Invalid params" }
      : undefined;
