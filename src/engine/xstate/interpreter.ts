/** The port `ChartSourceReader` for XState 5. */
import type { AnyStateMachine } from "xstate";
import type { ChartSourceReader } from "../chart-interpreter.ts";
import { readChartShape } from "./chart-shape.ts";
import { chartText } from "./chart-text.ts";
import { openChart } from "./open-chart.ts";

export const xstate5: ChartSourceReader<AnyStateMachine> = {
  read(machine) {
    const shape = readChartShape(machine);
    return { parts: shape, text: () => chartText(machine), open: () => openChart(machine, shape) };
  },
};
