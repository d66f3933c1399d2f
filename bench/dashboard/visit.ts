import type { Browser, BrowserContext } from 'playwright-core';
import type { Fixture } from './fixture.ts';

/** One page, opened by its address. */
export interface View {
  readonly name: string;
  readonly path: string;
  /** A selector of the content, absent from the page frame and while loading. */
  readonly content: string;
  /** What stands in it, where the selector alone could mean something else. */
  readonly text?: string;
  readonly signedIn: boolean;
}

export interface Visit {
  /** From the beginning of the navigation until the content has been painted. */
  readonly contentMs: number;
  /** Of the scripts that the page asked for, as they are sent. */
  readonly scriptBytes: number;
}

/** By a browser that has never been there, and once more by the same in a new tab. */
export async function visitTwice(
  browser: Browser,
  fixture: Fixture,
  view: View,
): Promise<{ readonly cold: Visit; readonly warm: Visit }> {
  const viewport = { width: 1440, height: 900 };
  const context = await browser.newContext({ baseURL: fixture.url, viewport });
  try {
    if (view.signedIn) await context.addCookies(cookiesOf(fixture));
    const { content, text = '' } = view;
    await context.addInitScript(watch, { content, text });
    return { cold: await visit(context, view), warm: await visit(context, view) };
  } finally {
    await context.close();
  }
}

async function visit(context: BrowserContext, { path, name }: View): Promise<Visit> {
  const page = await context.newPage();
  await page.goto(path);
  for (let looks = 0; looks < looksMax; looks++) {
    const seen = await page.evaluate<Visit | null>(told);
    if (seen) {
      await page.close();
      return seen;
    }
    await page.waitForTimeout(betweenLooksMs);
  }
  throw new Error(`${name} shows no content`);
}

const betweenLooksMs = 20;
const looksMax = 1_500;

/** Runs in the page before all of its scripts: notes when the content is painted, by the page's own clock. */
function watch({ content, text }: { readonly content: string; readonly text: string }): void {
  const place = globalThis as unknown as PageOf;
  const isThere = () => place.document.querySelector(content)?.textContent?.includes(text) ?? false;
  const observer = new place.MutationObserver(() => {
    if (!isThere()) return;
    observer.disconnect();
    // The callback of a frame comes before it is painted, so that of the next one comes after.
    place.requestAnimationFrame(() =>
      place.requestAnimationFrame(() => {
        place.contentMs = performance.now();
      }),
    );
  });
  observer.observe(place.document, { childList: true, subtree: true, characterData: true });
}

/** As much of a page as is used there. */
interface PageOf {
  contentMs?: number;
  readonly document: { querySelector(selector: string): { textContent: string | null } | null };
  readonly MutationObserver: new (
    changed: () => void,
  ) => { observe(where: unknown, what: object): void; disconnect(): void };
  requestAnimationFrame(then: () => void): void;
}

/** A text, because it runs in the page. A script that was asked for twice, ahead and by another, is sent once. */
const told = `globalThis.contentMs === undefined ? null : {
  contentMs: globalThis.contentMs,
  scriptBytes: new Map(performance.getEntriesByType('resource')
    .filter(({ name }) => new URL(name).pathname.endsWith('.js'))
    .map(({ name, encodedBodySize }) => [name, encodedBodySize]))
    .values().reduce((sum, bytes) => sum + bytes, 0),
}`;

function cookiesOf({ cookie, url }: Fixture) {
  return cookie.split('; ').map((pair) => {
    const at = pair.indexOf('=');
    return { name: pair.slice(0, at), value: pair.slice(at + 1), url, httpOnly: true };
  });
}
