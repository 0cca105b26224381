/** Tests of pages about parcels in a browser, which the tests of a file share. */
import type { BrowserContextOptions } from "playwright-core";
import { opener } from "../kit/opener.ts";
import { launchBrowser, listen, openPage, type Listening, type WatchedPage } from "./browser-kit.ts";
import { parcelTest } from "./parcel-test.ts";

/** `serve` listens with a handler and `visit` goes to a page of it, both until the test ends. */
export const browserTest = parcelTest
  .extend("browser", { scope: "file" }, async ({}, { onCleanup }) => {
    const browser = await launchBrowser();
    onCleanup(() => browser.close());
    return browser;
  })
  .extend("serve", ({ onTestFinished }) => opener(listen, onTestFinished))
  .extend(
    "visit",
    ({ browser, onTestFinished }) =>
      async ({ at }: Listening, path = "", look?: BrowserContextOptions): Promise<WatchedPage> => {
        const opened = await openPage(browser, at, look);
        onTestFinished(() => opened.page.context().close());
        await opened.page.goto(at + path);
        return opened;
      },
  );
