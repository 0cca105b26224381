/** The operator's commands: those that modules declare beside their acts, and `reconcile`, which asks the whole service. */
import { operatorCommands as common } from "../../payments/operator/commands/commands.ts";
import { recover } from "../../payments/private/recovery/command.ts";
import { end } from "../command.ts";
import { command, type CommandRow } from "../define.ts";
import { commandOf } from "./acting.ts";
import { JSON_LINE, SERVICE } from "./shared.ts";

const reconcile = command({
  name: "operator reconcile",
  help: "Holds every deposit address of private mode against the chain, and says what became of every base unit. It ends with 0 when everything is explained, with 1 when something is not, and with 2 when the chain cannot be read and nothing can be said.",
  takes: { ...SERVICE, ...JSON_LINE },
  run: async (values, print) => {
    const { openService } = await import("../open-service.ts");
    const { reconcilePage } = await import("../reconcile.ts");
    const { service, close } = await openService(values);
    const told = await service.reconcile();
    print(values.json ? JSON.stringify(told) : reconcilePage(told));
    await close();
    await end(told.isExplained ? 0 : 1);
  },
});

// A line for each module, which goes with the module.
// prettier-ignore
export const operatorCommands: readonly CommandRow[] = [
  ...common.map(commandOf),
  reconcile,
  commandOf(recover),
];
