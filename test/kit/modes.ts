/** The modes and types of transactions that the modules of this tree take: a module that is gone takes its own along. */
import { WAY_MODULES } from "../../src/payments/modules.ts";

const EVERY_MODULE = ["webhooks", "wallet", "swap", "swap/desk", "swap/jupiter", "private"];

/** False where a module was taken away. */
export const IS_WHOLE = EVERY_MODULE.every((name) => WAY_MODULES.some((module) => module.name === name));

export type Mode = "wallet" | "private";
export type Type = "send" | "payroll" | "swap";

export const MODES: readonly Mode[] = [
  "wallet",
  "private", // modules: private
];

export const TYPES: readonly Type[] = [
  "send",
  "payroll",
  "swap", // modules: swap
];

/** Every type in every mode. */
export const COMBINATIONS: readonly { readonly mode: Mode; readonly type: Type }[] = MODES.flatMap((mode) =>
  TYPES.map((type) => ({ mode, type })),
);
