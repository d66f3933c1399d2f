import type { Browser, BrowserContext } from 'playwright-core';
import type { Fixture } from './fixture.ts';

/** One page. */
export interface View {
  readonly name: string;
  readonly path: string;
  /** A selector of the content, absent from the page frame and while loading. */
  readonly content: string;
  /** Required text of the content, if the selector is ambiguous. */
  readonly text?: string;
  readonly signedIn: boolean;
}

export interface Visit {
  /** From the start of the navigation until the content is painted. */
  readonly contentMs: number;
  /** Compressed bytes of the scripts that the page loaded. */
  readonly scriptBytes: number;
}

/** Visits with an empty cache, then again in a new tab of the same browser. */
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
    await context.addInitScript(observeContent, { content, text });
    return { cold: await visit(context, view), warm: await visit(context, view) };
  } finally {
    await context.close();
  }
}

async function visit(context: BrowserContext, { path, name }: View): Promise<Visit> {
  const page = await context.newPage();
  await page.goto(path);
  for (let polls = 0; polls < pollsMax; polls++) {
    const result = await page.evaluate<Visit | null>(readVisit);
    if (result) {
      await page.close();
      return result;
    }
    await page.waitForTimeout(pollMs);
  }
  throw new Error(`${name} shows no content`);
}

const pollMs = 20;
const pollsMax = 1_500;

/** Runs in the page before its scripts. Stores when the content is painted, by the page's clock. */
function observeContent({ content, text }: { content: string; text: string }): void {
  const page = globalThis as unknown as PageGlobals;
  const isShown = () => page.document.querySelector(content)?.textContent?.includes(text) ?? false;
  const observer = new page.MutationObserver(() => {
    if (!isShown()) return;
    observer.disconnect();
    // A frame's callback precedes its paint, so the callback of the next frame follows it.
    page.requestAnimationFrame(() =>
      page.requestAnimationFrame(() => {
        page.contentMs = performance.now();
      }),
    );
  });
  observer.observe(page.document, { childList: true, subtree: true, characterData: true });
}

/** The globals of a page that `observeContent` uses. */
interface PageGlobals {
  contentMs?: number;
  readonly document: { querySelector(selector: string): { textContent: string | null } | null };
  readonly MutationObserver: new (
    changed: () => void,
  ) => { observe(where: unknown, what: object): void; disconnect(): void };
  requestAnimationFrame(then: () => void): void;
}

/** A string, because it runs in the page. A script that is preloaded and imported counts once. */
const readVisit = `globalThis.contentMs === undefined ? null : {
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
