import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Result, RunOptions } from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { type Service, type ServiceOptions, startService } from '../../harness/service.ts';
import type { Role } from '../../src/core/people/member.ts';
import { openBrowser, releaseBrowser } from './chromium.ts';

/**
 * Runs the dashboard end to end: the real service and a real browser with the built files.
 *
 *     const { service, visit } = await openDashboard();
 *     const { page, check } = await visit('/agents', { as: 'owner' });
 *     await page.getByRole('link', { name: 'Agent' }).click();
 *     await check();
 */
export interface Dashboard {
  readonly service: Service;
  /** Opens a new browser context. Console errors fail the test's `check`. */
  visit(path: string, options?: VisitOptions): Promise<Visit>;
}

export interface VisitOptions extends BrowserContextOptions {
  /** With a session of a new member with this role, or of an existing user; signed out by default. */
  readonly as?: Role | { readonly userId: string };
  /** Allows `page.route`. */
  readonly intercepts?: boolean;
}

export interface Visit {
  readonly page: Page;
  /** Fails on axe violations, optionally in dark mode too, and on console errors. */
  check(options?: { readonly inDarkMode: true }): Promise<void>;
  /** Waits until a status region has shown a text since the page was loaded. Many texts soon disappear again. */
  announced(text: string): Promise<void>;
}

/** Longer than anything takes on a slow machine. */
export const timeoutMs = 120_000;

export async function openDashboard(options?: ServiceOptions): Promise<Dashboard> {
  const service = await startService(options);
  const browser = await openBrowser();
  // Close the pages first: they would call a half-closed service.
  after(async () => {
    await releaseBrowser(browser);
    await service.close();
  });
  return {
    service,
    async visit(path, { as, intercepts = false, ...rest } = {}) {
      const context = await browser.newContext({
        baseURL: service.url,
        // Animations only cost time.
        reducedMotion: 'reduce',
        ...rest,
      });
      after(() => context.close());
      context.setDefaultTimeout(timeoutMs);
      if (as)
        await context.addCookies(cookies((await service.openSession(as)).cookie, service.url));
      const page = await context.newPage();
      await page.addInitScript(recordAnnouncements);
      await enableInterception(page, intercepts);
      const problems = collectProblems(page, service.url);
      await page.goto(path);
      const check: Visit['check'] = async (options) => {
        await loaded(page);
        for (const [colorScheme, rules] of rulesByScheme) {
          if (colorScheme === 'dark' && !options?.inDarkMode) continue;
          await page.emulateMedia({ colorScheme });
          // The page applies it in its next frame.
          await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
          await settled(page);
          assert.deepEqual(await axeViolations(page, rules), [], `axe, ${colorScheme}`);
        }
        assert.deepEqual(problems, []);
      };
      return { page, check, announced: (text) => announced(page, text) };
    },
  };
}

/** Collects what the page's status regions show. */
const recordAnnouncements = `
  window.announcements = [];
  new MutationObserver((changes) => {
    for (const { target } of changes) {
      const element = target instanceof Element ? target : target.parentElement;
      const region = element?.closest('[role="status"]');
      if (region) window.announcements.push(region.textContent);
    }
  }).observe(document, { subtree: true, childList: true, characterData: true });`;

async function announced(page: Page, text: string): Promise<void> {
  const untilMs = performance.now() + timeoutMs;
  while (performance.now() < untilMs) {
    const announcements = await page.evaluate<string[]>('window.announcements');
    if (announcements.some((one) => one.includes(text))) return;
    await page.waitForTimeout(50);
  }
  throw new Error(`The page has not announced ${text}.`);
}

/**
 * Interception that starts on an open page misses a few requests, so it starts before. It disables the browser cache
 * and slows every request, so it is opt-in.
 */
async function enableInterception(page: Page, intercepts: boolean): Promise<void> {
  if (intercepts) await page.route('**/never-asked-for', (route) => route.abort());
  else page.route = () => Promise.reject(new Error('visit with `intercepts: true`'));
}

/**
 * Simulates a return to the window after a minute, which refetches stale queries. Requires `page.clock.install()`,
 * called once: a second call would reset the clock.
 */
export async function returnToWindow(page: Page): Promise<void> {
  await page.clock.fastForward(60_000);
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
}

/** Collects console errors and warnings, uncaught errors, and requests to other origins. */
export function collectProblems(page: Page, origin: string): string[] {
  const problems: string[] = [];
  page.on('console', (message) => {
    // The browser logs every failed request, and the page shows the error.
    const refused = message.text().startsWith('Failed to load resource: the server responded');
    if (['error', 'warning'].includes(message.type()) && !refused) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) problems.push(`asks ${request.url()}`);
  });
  return problems;
}

/** Waits until the page has its heading and shows no loading state. */
export async function loaded(page: Page): Promise<void> {
  const loading = '[aria-busy="true"], [data-stale], .mantine-Skeleton-root';
  await page.locator(`#root:not(:has(h1)), ${loading}`).first().waitFor({ state: 'detached' });
}

/** Waits for transitions to end: contrast is undefined while colours fade. */
export async function settled(page: Page): Promise<void> {
  const running = 'document.getAnimations().some((one) => one.playState === "running")';
  // Polls from the test: `waitForFunction` would violate the page's content security policy.
  while (await page.evaluate(running)) await page.waitForTimeout(50);
}

/** Dark mode changes only colours, so only colour rules run there. One test visits each page in dark mode. */
const rulesByScheme: readonly (readonly ['dark' | 'light', RunOptions])[] = [
  ['dark', { runOnly: ['color-contrast', 'link-in-text-block'] }],
  ['light', {}],
];

/** The minified build: it crosses three processes and is parsed again for each page. */
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Injects axe once per page via the debugger, because the page's policy blocks scripts. */
export async function axeViolations(page: Page, rules: RunOptions): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe);
  const options: RunOptions = { ...rules, resultTypes: ['violations'], preload: false };
  const run = `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`;
  const violations = await page.evaluate<Result[]>(run);
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
