/** The API's description in a real browser: found by searching, tried with the reader's key, and nothing from elsewhere. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHttpHandler } from "../../src/index.ts";
import {
  BROWSER_TEST_MS,
  hasBrowser,
  launchBrowser,
  listen,
  NARROW,
  openPage,
} from "../inspector/browser-kit.ts";
import { serviceFixture } from "../kit/service-fixture.ts";

describe.skipIf(!hasBrowser)("the page of the API in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  }, BROWSER_TEST_MS);
  afterAll(() => browser.close());

  test(
    "an endpoint is searched for and asked with a key that only the page's memory holds; each reason has its remedy",
    async () => {
      const { service, clock, close } = await serviceFixture();
      const server = await listen(createHttpHandler({ service, clock, basePath: "/pay" }));
      try {
        const host = new URL(server.at).origin;
        const { accountId } = await service.createAccount({ name: "reader", tier: "free" });
        const { key } = await service.issueKey({ accountId, environment: "test" });
        const { page, complaints } = await openPage(browser, host);
        await page.goto(`${host}/pay/v1/docs`);
        await page.locator("#link-auth").click();
        const field = page.locator("input[name=api-key]");
        await field.fill(key);
        expect(await field.getAttribute("autocomplete")).toBe("off");
        await page.getByRole("button", { name: "SET" }).click();

        const search = page.locator("#nav-bar-search");
        await search.fill("tokens");
        await page.locator(".nav-bar-path", { hasText: "/tokens" }).click();
        await page.getByText(`curl -X GET "${host}/pay/v1/tokens"`).waitFor();
        await page.getByText(`authorization: Bearer ${key}`).waitFor();
        await page.getByRole("button", { name: "EXECUTE" }).click();
        await page.getByText("OK (200)").waitFor();
        await page.getByText("USD Coin").first().waitFor();

        await search.fill("transactions");
        await page
          .locator(".nav-bar-path", { hasText: /^\s*post/i })
          .first()
          .click();
        await page.getByRole("button", { name: "422" }).click();
        const reasons = page.getByLabel("response body example").filter({ hasText: "INVALID_QUOTE.expired" });
        const expired = reasons.locator("option", { hasText: "INVALID_QUOTE.expired" });
        await reasons.selectOption((await expired.getAttribute("value")) ?? "");
        await page.getByText('"expired"').waitFor();

        expect(await page.evaluate("[{ ...localStorage }, { ...sessionStorage }, document.cookie]")).toEqual([
          {},
          {},
          "",
        ]);
        expect(complaints).toEqual([]);
      } finally {
        await server.close();
        await close();
      }
    },
    BROWSER_TEST_MS,
  );

  test(
    "on a phone no method is broken, and the words about the key have the page's width",
    async () => {
      const { service, clock, close } = await serviceFixture();
      const server = await listen(createHttpHandler({ service, clock, basePath: "/pay" }));
      try {
        const host = new URL(server.at).origin;
        const { page, complaints } = await openPage(browser, host, NARROW);
        await page.goto(`${host}/pay/v1/docs`);
        const method = page.locator(".method.delete > span").first();
        await method.waitFor();
        const line = await page.locator(".method.get > span").first().boundingBox();
        expect((await method.boundingBox())?.height).toBe(line?.height);
        const words = await page.locator("#auth .m-table td").first().boundingBox();
        expect(words?.width).toBeGreaterThan(300);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(page.viewportSize()?.width);
        expect(complaints).toEqual([]);
      } finally {
        await server.close();
        await close();
      }
    },
    BROWSER_TEST_MS,
  );

  test(
    "the address in an error leads to what to do about its code",
    async () => {
      const { service, clock, close } = await serviceFixture();
      const server = await listen(createHttpHandler({ service, clock, basePath: "/pay" }));
      try {
        const host = new URL(server.at).origin;
        const refused = await fetch(`${host}/pay/v1/tokens`);
        const { error } = (await refused.json()) as { readonly error: { details: { docUrl: string } } };
        const { page, complaints } = await openPage(browser, host);
        await page.goto(`${host}/pay${error.details.docUrl}`);
        await page.waitForLoadState("networkidle");
        const section = page.locator("#INVALID_API_KEY");
        await section.getByText("Send Authorization: Bearer with a key").waitFor();
        const top = (await section.boundingBox())?.y ?? -1;
        expect(top).toBeGreaterThanOrEqual(0);
        expect(top).toBeLessThan(page.viewportSize()?.height ?? 0);
        expect(complaints).toEqual([]);
      } finally {
        await server.close();
        await close();
      }
    },
    BROWSER_TEST_MS,
  );
});
