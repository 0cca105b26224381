/** The port `ChartInterpreter` for XState 5. */
import type { AnyStateMachine } from "xstate";
import type { ChartInterpreter } from "../chart-interpreter.ts";
import { readChartShape } from "./chart-shape.ts";
import { chartText } from "./chart-text.ts";
import { openChart } from "./open-chart.ts";

export const xstate5: ChartInterpreter<AnyStateMachine> = {
  read(machine) {
    const shape = readChartShape(machine);
    return { parts: shape, text: () => chartText(machine), open: () => openChart(machine, shape) };
  },
};
