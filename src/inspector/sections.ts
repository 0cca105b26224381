/** The sections of the inspector, in their order: a line for each module of the engine that has one. */
import type { InspectorSection } from "./section.ts";
import { schedulesSection } from "./sections/schedules-section.ts";

// prettier-ignore
export const SECTIONS: readonly InspectorSection[] = [
  schedulesSection,
];
