/** The sections of the inspector, in their order: a line for each module with a section. */
import type { InspectorSection } from "./section.ts";
import { schedulesSection } from "./sections/schedules-section.ts";
import { webhooksSection } from "./sections/webhooks-section.ts";

// A line for each module, which goes with the module.
// prettier-ignore
export const SECTIONS: readonly InspectorSection[] = [
  schedulesSection,
  webhooksSection,
];
