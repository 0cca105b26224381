/** The operator's commands by their names: each reads its arguments, calls `service.operator`, and prints the answer. */
import type { Command } from "../print.ts";
import { limits, pause, paused, restore, resume, suspend } from "./admit.ts";
import { audit } from "./audit.ts";
import { approve, attention, resolve } from "./decide.ts";
import { endpoint } from "./endpoint.ts";
import { recover } from "./recover.ts";
import { release } from "./release.ts";
import { settle } from "./settle.ts";
import { witnesses } from "./witnesses.ts";

export const OPERATOR_COMMANDS = {
  attention,
  resolve,
  approve,
  pause,
  resume,
  paused,
  limits,
  suspend,
  restore,
  witnesses,
  endpoint,
  audit,
  release,
  settle,
  recover,
} satisfies Readonly<Record<string, Command>>;
