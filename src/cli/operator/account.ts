/** `paystate account erase`: the operator's acts on an account. */
import { type Command, UsageError } from "../command.ts";
import { ACTING_OPTIONS, actedBy, operatorCommand } from "./operator-command.ts";
import { erasurePage } from "./pages.ts";

const erase = operatorCommand(
  {
    name: "account erase",
    takes: "the id of an account",
    options: { ...ACTING_OPTIONS, reference: { type: "string" } },
    wanted: ({ reference, ...values }) => ({ reference, by: actedBy(values) }),
  },
  async (operator, { reference, by }, accountId) => {
    const result = await operator.erase({ accountId, reference }, by);
    return [result, erasurePage(result)];
  },
);

export const account: Command = async ([act, ...args], print) => {
  if (act !== "erase") throw new UsageError("account expects erase");
  await erase(args, print);
};
