/** Chance without chance in the pauses between tries, for tests that count them. */
import { systemRandom, type Random } from "../../src/core/runtime.ts";

/** The system's random source, but for the two bytes that a pause is drawn by: these give its middle. */
export const middleRandom: Random = {
  bytes: (length) => (length === 2 ? Uint8Array.of(0x80, 0) : systemRandom.bytes(length)),
};
