/** How an operator's command is made: it calls the operator's part of a service once, and prints the answer. */
import type { ActContext } from "../../payments/frame/intake/rules.ts";
import type { Operator } from "../../service/open-operator.ts";
import { command, type CommandRow, type ValuesOf } from "../define.ts";
import { ACTING, JSON_LINE, SERVICE } from "./shared.ts";

/** For programs, and as a page for people. */
type Answer = readonly [value: unknown, page: string];

interface Declared<T> extends Pick<CommandRow, "name" | "help"> {
  readonly takes: T & CommandRow["takes"];
  /** Throws `UsageError`, before anything is opened, for values that do not go together. */
  readonly check?: (values: ValuesOf<T>) => unknown;
}

type Place = ValuesOf<typeof SERVICE & typeof JSON_LINE>;

/** A command that reads. */
export function reading<T>(
  { name, help, takes, check }: Declared<T>,
  read: (operator: Operator, values: ValuesOf<T>) => Promise<Answer>,
): CommandRow {
  return command({
    name,
    help,
    takes: { ...takes, ...SERVICE, ...JSON_LINE },
    run: async (given, print) => {
      const own = Object.entries(given).filter(([key]) => key in takes);
      const values = Object.fromEntries(own) as ValuesOf<T>;
      check?.(values);
      const place = given as Place;
      const { withOperator } = await import("../open-service.ts");
      await withOperator(place, async (operator) => {
        const [value, page] = await read(operator, values);
        print(place.json ? JSON.stringify(value) : page);
      });
    },
  });
}

/** A command that changes something, in the name of a person. */
export function acting<T>(
  { takes, ...row }: Declared<T>,
  act: (operator: Operator, values: ValuesOf<T>, by: ActContext) => Promise<Answer>,
): CommandRow {
  const acted = { ...row, takes: { ...takes, ...ACTING } } as Declared<T>;
  return reading(acted, (operator, given) => {
    const { actor, reason, ...values } = given as ValuesOf<T> & ActContext;
    return act(operator, values as ValuesOf<T>, { actor, reason });
  });
}
