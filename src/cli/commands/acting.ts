/** How a module's command of an operator is run: it opens the service, calls the operator's part once, and prints the answer. */
import type { OperatorCommand } from "../../payments/frame/acts/act-command.ts";
import type { ActContext } from "../../payments/frame/intake/rules.ts";
import type { ValuesOf } from "../../core/takes.ts";
import type { Operator } from "../../service/open-operator.ts";
import { UsageError } from "../command.ts";
import { command, type CommandRow } from "../define.ts";
import { ACTING, JSON_LINE, SERVICE } from "./shared.ts";

type Place = ValuesOf<typeof SERVICE & typeof JSON_LINE>;

export function commandOf({ name, help, takes, ...row }: OperatorCommand<Operator>): CommandRow {
  return command({
    name,
    help,
    takes: { ...takes, ...(row.isAct ? ACTING : {}), ...SERVICE, ...JSON_LINE },
    run: async (given, print) => {
      const values = Object.fromEntries(Object.entries(given).filter(([key]) => key in takes));
      const fault = row.fault(values);
      if (fault !== null) throw new UsageError(fault);
      const { actor, reason, ...place } = given as Place & ActContext;
      const { withOperator } = await import("../open-service.ts");
      await withOperator(place, async (operator) => {
        const [value, page] = await row.call(operator, values, { actor, reason });
        print(place.json ? JSON.stringify(value) : page);
      });
    },
  });
}
