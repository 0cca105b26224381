/** The schedules of an engine: their definitions, the commands about them, and the loop that starts what is due. */
import { withTables } from "../../../storage/with-tables.ts";
import type { EngineStorage } from "../../../storage/storage.ts";
import { defineSchedule, type DefineParts } from "./define-schedule.ts";
import { scheduleCommands, type ScheduleCommands } from "./schedule-commands.ts";
import { ScheduleLoop, type ScheduleLoopParts } from "./schedule-loop.ts";
import { storedSchedules, type ScheduleView } from "./stored-schedules.ts";

interface SchedulesParts extends ScheduleLoopParts, DefineParts {
  readonly storage: EngineStorage;
}

export class Schedules extends ScheduleLoop {
  readonly commands: ScheduleCommands;
  readonly #parts: DefineParts;

  /** The table is made with the first call of a method. */
  constructor(given: SchedulesParts) {
    const parts = { ...given, storage: withTables(given.storage, [storedSchedules]) };
    super(parts);
    this.#parts = parts;
    this.commands = scheduleCommands(parts, () => this.changed());
  }

  async define(given: object): Promise<ScheduleView> {
    const stored = await defineSchedule(this.#parts, given);
    this.changed();
    return stored;
  }
}
