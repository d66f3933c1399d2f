import assert from 'node:assert/strict';
import { after } from 'node:test';
import axe, { type RunOptions } from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { type Service, type ServiceOptions, startService } from '../../harness/service.ts';
import type { Role } from '../../src/core/people/member.ts';
import { openBrowser } from './chromium.ts';

/**
 * The dashboard as people meet it: the real service, and a real browser that looks at what the build made.
 *
 *     const { service, visit } = await openDashboard();
 *     const { page, check } = await visit('/agents', { as: 'owner' });
 *     await page.getByRole('link', { name: 'Agent' }).click();
 *     await check();
 */
export interface Dashboard {
  readonly service: Service;
  /** A new window of a browser that knows nothing yet. What it complains of fails the test that ends with it. */
  visit(path: string, options?: VisitOptions): Promise<Visit>;
}

export interface VisitOptions extends BrowserContextOptions {
  /** Signs in a new member of that role, or a user who is there already; nobody unless given. */
  readonly as?: Role | { readonly userId: string };
  /** Lets the test intercept requests with `page.route`. */
  readonly intercepts?: boolean;
}

export interface Visit {
  readonly page: Page;
  /** Nothing that axe finds fault with, where it is asked for in the dark as well; nothing that the browser has complained of. */
  check(options?: { readonly inTheDark: true }): Promise<void>;
}

/** Nothing takes that long, however slow the machine is. */
export const patienceMs = 120_000;

export async function openDashboard(options?: ServiceOptions): Promise<Dashboard> {
  const service = await startService(options);
  const browser = await openBrowser();
  // First what still asks: an open page would find the service half closed.
  after(async () => {
    await browser.close();
    await service.close();
  });
  return {
    service,
    async visit(path, { as, intercepts = false, ...rest } = {}) {
      const context = await browser.newContext({
        baseURL: service.url,
        // Nobody watches what moves, and each step of it would be painted.
        reducedMotion: 'reduce',
        ...rest,
      });
      after(() => context.close());
      context.setDefaultTimeout(patienceMs);
      if (as) await context.addCookies(cookies((await service.signIn(as)).cookie, service.url));
      const page = await context.newPage();
      await readyToIntercept(page, intercepts);
      const complaints = listen(page, service.url);
      await page.goto(path);
      const check: Visit['check'] = async (options) => {
        await loaded(page);
        for (const [colorScheme, rules] of rulesIn) {
          if (colorScheme === 'dark' && !options?.inTheDark) continue;
          await page.emulateMedia({ colorScheme });
          // The page hears of it with its next frame.
          await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
          await settled(page);
          assert.deepEqual(await faults(page, rules), [], `axe, ${colorScheme}`);
        }
        assert.deepEqual(complaints, []);
      };
      return { page, check };
    },
  };
}

/**
 * Interception that begins on a page that is there lets a few requests by, for as long as Chromium takes to tell it. While
 * anything is intercepted, nothing comes from the browser's cache, and every request takes a detour.
 */
async function readyToIntercept(page: Page, intercepts: boolean): Promise<void> {
  if (intercepts) await page.route('**/never-asked-for', (route) => route.abort());
  else page.route = () => Promise.reject(new Error('visit with `intercepts: true`'));
}

/**
 * The window is looked at again, as after another one: what is old by then is read anew. Its clock must be installed,
 * once: again would set it back.
 */
export async function lookAgain(page: Page): Promise<void> {
  await page.clock.fastForward(60_000);
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
}

/** Errors and warnings of the console, errors nobody caught, and whatever is asked of another origin. */
export function listen(page: Page, origin: string): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    // A refusal is no mistake of the page: the browser notes each, and the page shows what it says.
    const refused = message.text().startsWith('Failed to load resource: the server responded');
    if (['error', 'warning'].includes(message.type()) && !refused) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) complaints.push(`asks ${request.url()}`);
  });
  return complaints;
}

/** The page has its heading, and nothing that stands for what is still loaded. */
export async function loaded(page: Page): Promise<void> {
  const loading = '[aria-busy="true"], [data-stale], .mantine-Skeleton-root';
  await page.locator(`#root:not(:has(h1)), ${loading}`).first().waitFor({ state: 'detached' });
}

/** Colours change within a transition, and what is half faded in has no contrast yet. */
export async function settled(page: Page): Promise<void> {
  const running = 'document.getAnimations().some((one) => one.playState === "running")';
  // Asked again and again from here: what asks in the page itself needs a looser policy.
  while (await page.evaluate(running)) await page.waitForTimeout(50);
}

/** In the dark the page is the same but for its colours, and these are the rules that look at colours. Each page is walked by so once. */
const rulesIn: readonly (readonly ['dark' | 'light', RunOptions])[] = [
  ['dark', { runOnly: ['color-contrast', 'link-in-text-block'] }],
  ['light', {}],
];

/** From outside, as the page's own policy lets nothing in; once for a page, as it is half a megabyte. */
export async function faults(page: Page, rules: RunOptions): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source);
  const options: RunOptions = { ...rules, resultTypes: ['violations'], preload: false };
  const run = `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`;
  const violations = await page.evaluate<axe.Result[]>(run);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}

function cookies(header: string, url: string) {
  return header.split('; ').map((pair) => {
    const at = pair.indexOf('=');
    return { name: pair.slice(0, at), value: pair.slice(at + 1), url, httpOnly: true };
  });
}
