/** Tests of pages about parcels: an engine at work for each of them. */
import { test } from "vitest";
import { opener } from "../kit/opener.ts";
import { openParcels } from "./parcel.ts";

/** `world` has effects that go well, `open` takes others. */
export const parcelTest = test
  .extend("open", ({ onTestFinished }) => opener(openParcels, onTestFinished))
  .extend("world", ({ open }) => open());
