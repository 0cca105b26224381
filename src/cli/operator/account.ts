/** `paystate account export` and `paystate account erase`. */
import { type Command, UsageError } from "../command.ts";
import { exportAccount } from "../export-account.ts";
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

/** An option before the act is read as one of `erase`, and refused in its words. */
export const account: Command = async (args, print) => {
  const [act = "", ...rest] = args;
  if (act === "export") return exportAccount(rest, print);
  if (act !== "erase" && !act.startsWith("-")) throw new UsageError("account expects export or erase");
  await erase(act === "erase" ? rest : args, print);
};
