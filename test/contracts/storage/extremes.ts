/** Values at their extremes. */
import type { Address } from "../../../src/core/address.ts";

/** The largest amount on the chain; no integer type of either database holds it. */
export const LARGEST = 2n ** 64n - 1n;

export const TEXT = `ünï "quoted" 'single' \\ \n\t漢字 💸 ; drop table facts`;

export const LATEST = Number.MAX_SAFE_INTEGER;

/** Storage keeps any text: these rows name their addresses as they like. */
export const asAddress = (name: string): Address => name as Address;
