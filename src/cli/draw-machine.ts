/** State charts as pictures, as Mermaid diagrams and as data, drawn from the very machines that run. */
import type { AnyStateMachine } from "xstate";
import { order } from "../../machines/order.ts";
import { transfer } from "../../machines/transfer.ts";
import { walletTransfer } from "../../machines/wallet-transfer.ts";
import { webhookDelivery } from "../../machines/webhook-delivery.ts";
import { mermaidText } from "../inspector/chart/draw-mermaid.ts";
import { standaloneSvg } from "../inspector/chart/draw-svg.ts";
import { layOutChart } from "../inspector/chart/lay-out-chart.ts";
import { readChart } from "../inspector/chart/read-chart.ts";
import { UsageError } from "./command.ts";

const MACHINES: ReadonlyMap<string, AnyStateMachine> = new Map<string, AnyStateMachine>([
  ["wallet-transfer", walletTransfer],
  ["private-order", order],
  ["order-transfer", transfer],
  ["webhook-delivery", webhookDelivery],
]);

/**
 * The named charts, those of modules of the host's, or all; one chart only where the format is `svg`, since a file holds one picture. Throws
 * `UsageError` for a name that is none, and `LayoutMissingError` where a picture is asked for and elkjs is not installed.
 */
export async function drawMachines(names: readonly string[], format: string): Promise<string> {
  const named = await Promise.all((names.length === 0 ? [...MACHINES.keys()] : names).map(machinesNamed));
  const machines = named.flat();
  const [machine, another] = machines;
  switch (format) {
    case "svg":
      if (machine === undefined || another !== undefined) {
        throw new UsageError(
          names.length === 1
            ? `--format svg draws one machine, and ${names[0]} exports ${machines.length}`
            : "--format svg draws one machine: name it, such as machines wallet-transfer",
        );
      }
      return standaloneSvg(await layOutChart(readChart(machine)));
    case "json":
      return JSON.stringify(machines.map(readChart), null, 2);
    default:
      return machines.map((each) => mermaidText(readChart(each))).join("\n\n");
  }
}

/**
 * The machines named on the command line: one of the charts by name, or the machines of a module by path, which
 * contains a dot or a slash.
 */
async function machinesNamed(name: string): Promise<readonly AnyStateMachine[]> {
  const machine = MACHINES.get(name);
  if (machine !== undefined) return [machine];
  if (/[./\\]/.test(name)) return (await import("./charts-file.ts")).machinesIn(name);
  throw new UsageError(`there is no machine "${name}": expected ${[...MACHINES.keys()].join(" or ")}`);
}
