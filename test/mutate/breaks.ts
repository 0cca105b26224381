/** All breaks, in the order in which they are tried. */
import type { Break } from "./break.ts";
import { CHART_BREAKS } from "./breaks/charts.ts";
import { CONTRACT_BREAKS } from "./breaks/contract.ts";
import { ENGINE_BREAKS } from "./breaks/engine.ts";
import { LEDGER_BREAKS } from "./breaks/ledger.ts";
import { OPERATOR_BREAKS } from "./breaks/operator.ts";
import { MARKER_BREAKS } from "./breaks/markers.ts";
import { PRIVATE_BREAKS } from "./breaks/private.ts";
import { QUOTE_BREAKS } from "./breaks/quotes.ts";
import { RACE_BREAKS } from "./breaks/races.ts";
import { RESTORED_BREAKS } from "./breaks/restored.ts";
import { START_BREAKS } from "./breaks/starts.ts";
import { RULE_BREAKS } from "./breaks/rules.ts";
import { STORAGE_BREAKS } from "./breaks/storage.ts";
import { SWAP_BREAKS } from "./breaks/swaps.ts";
import { WEBHOOK_BREAKS } from "./breaks/webhooks.ts";
import { WITNESS_BREAKS } from "./breaks/witnesses.ts";
import { WORD_BREAKS } from "./breaks/words.ts";

export const ALL_BREAKS: readonly Break[] = [
  ...CHART_BREAKS,
  ...ENGINE_BREAKS,
  ...STORAGE_BREAKS,
  ...LEDGER_BREAKS,
  ...QUOTE_BREAKS,
  ...WEBHOOK_BREAKS,
  ...SWAP_BREAKS,
  ...PRIVATE_BREAKS,
  ...MARKER_BREAKS,
  ...RACE_BREAKS,
  ...START_BREAKS,
  ...RESTORED_BREAKS,
  ...WITNESS_BREAKS,
  ...CONTRACT_BREAKS,
  ...OPERATOR_BREAKS,
  ...WORD_BREAKS,
  ...RULE_BREAKS,
];
