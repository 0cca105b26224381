/**
 * The modules of an engine. A module has one line in each list here and nothing else names it in this room, so that
 * `npm run without -- NAME` can take it away.
 */
import type { EngineModule } from "./engine-module.ts";
import type { AskCommands } from "./modules/ask/ask.ts";
import { ask } from "./modules/ask/module.ts";
import { folding } from "./modules/folding/module.ts";
import { hostSql } from "./modules/host-sql/module.ts";
import type { WithinCommands } from "./modules/host-sql/within.ts";
import type { EachCommands } from "./modules/jobs/each-commands.ts";
import { jobs } from "./modules/jobs/module.ts";
import type { LimitCommands } from "./modules/rates/limit-commands.ts";
import { rates } from "./modules/rates/module.ts";
import { retention, type RetentionCalls } from "./modules/retention/module.ts";
import { schedules, type ScheduleCalls, type ScheduleViews } from "./modules/schedules/module.ts";
import { search } from "./modules/search/module.ts";
import { watching, type WatchingCalls } from "./modules/watching/module.ts";
import { effectsWithStep } from "./modules/with-step/module.ts";

// A line for each module, which goes with the module.
// prettier-ignore
export const MODULES: readonly EngineModule[] = [
  ask,
  folding,
  hostSql,
  jobs,
  rates,
  retention,
  schedules,
  search,
  watching,
  effectsWithStep,
];

/** The members that modules add to an engine. */
// A line for each module, which goes with the module.
// prettier-ignore
export type ModuleCalls<W> =
  & AskCommands<W>
  & EachCommands
  & LimitCommands
  & RetentionCalls
  & ScheduleCalls<W>
  & WatchingCalls
  & WithinCommands<W>
  & Record<never, W>;

/** The views of an engine that modules add for viewers. */
// A line for each module, which goes with the module.
// prettier-ignore
export type ModuleViews =
  & ScheduleViews
  & object;
