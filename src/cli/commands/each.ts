/** The command that tells many instances at once. */
// modules: jobs
import { UsageError } from "../command.ts";
import { manyTexts, neededChoice, optionalArgument, text } from "../../core/takes.ts";
import { command } from "../define.ts";
import { DATABASE, JSON_LINE } from "./shared.ts";

export const eachCommand = command({
  name: "instance each",
  help: "Tells many instances at once, by a durable job, which any process goes on with: all instances with these search fields. Instances of the payment service are left to its operator.",
  takes: {
    act: neededChoice(["send", "stop", "retry"], "as for one instance"),
    event: optionalArgument("EVENT", "of send: its type, or JSON with a type"),
    where: manyTexts("FIELD=VALUE", "a search field; may be given several times"),
    workflow: text("NAME", "where several workflows have such fields"),
    state: text("STATE", "only those in a state"),
    ...DATABASE,
    ...JSON_LINE,
  },
  run: async ({ act, event, ...call }, print) => {
    const { where, workflow, state } = call;
    if ([where, workflow, state].every((each) => each === undefined)) {
      throw new UsageError("instance each expects --where FIELD=VALUE, --workflow NAME or --state STATE");
    }
    if ((act === "send") !== (event !== undefined)) {
      throw new UsageError(act === "send" ? "send expects an EVENT" : `${act} takes no event "${event}"`);
    }
    const { eachEvent, tellEach } = await import("../instances/tell-each.ts");
    const { printed } = await import("../instances/put-right.ts");
    const told = eachEvent(act, event);
    await printed(call, print, (open) => tellEach(open, { where: where ?? [], workflow, state }, told));
  },
});
