/** `paystate/inspector`: live pages of charts, instances and money, for a server of your own. */
export { createInspector } from "./http/create-inspector.ts";
export type {
  InspectedEngineOptions,
  InspectedStorageOptions,
  InspectorOptions,
} from "./http/create-inspector.ts";
export type { Authorize as InspectorAuthorize } from "./inspector/admit-viewer.ts";
export type { InspectedEngine } from "./engine/create-engine.ts";
export type { ViewerActs, GivenAct, InspectedStorage, OfferedAct } from "./engine/inspected-engine.ts";
