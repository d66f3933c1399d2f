import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { join } from 'node:path';
import { after } from 'node:test';
import { pathToFileURL } from 'node:url';
import type axe from 'axe-core';
import { type HTMLElement, Window } from 'happy-dom';
import { Agent } from 'undici';
import { type Service, type ServiceOptions, startService } from '../../harness/service.ts';
import type { Role } from '../../src/core/people/member.ts';
import { type Locator, locate } from './locator.ts';

/**
 * Runs the built pages in this process, in a DOM without layout and styles, against the real service: for what lists,
 * forms and dialogs contain and send. Layout, colours, the keyboard and a network that fails are tested in a browser
 * (`harness.ts`). Each visit has modules of its own, and with them an empty cache.
 *
 *     const { service, visit } = await openPages();
 *     const { page, check } = await visit('/keys', { as: 'owner' });
 *     await page.getByRole('button', { name: 'Create key' }).click();
 *     await check();
 */
export interface Pages {
  readonly service: Service;
  /** Loads a page in a new window, signed in as a new member with this role, or as an existing user. */
  visit(path: string, who: { readonly as: Role | { readonly userId: string } }): Promise<Visit>;
}

interface Visit {
  readonly page: Locator;
  /** Fails on axe violations; colours are not checked. */
  check(): Promise<void>;
}

const built = pathToFileURL(join(import.meta.dirname, '../../dist/dashboard/')).href;

export async function openPages(options?: ServiceOptions): Promise<Pages> {
  const service = await startService(options);
  const html = readFileSync(new URL('index.html', built), 'utf8');
  const entry = /<script [^>]*src="\.\/(assets\/[^"]+)"/.exec(html)?.[1] ?? '';
  const connections = new Agent();
  const windows: Window[] = [];
  // Close the pages first: they would call a half-closed service.
  after(async () => {
    for (const window of windows) await window.happyDOM.close();
    await connections.destroy();
    await service.close();
  });
  return {
    service,
    async visit(path, { as }) {
      const { cookie } = await service.openSession(as);
      const window = openWindow(service.url + path, html);
      windows.push(window);
      const visit = browsers.push(browserOf(window, service.url, cookie, connections)) - 1;
      await import(`${built}${entry}?${visit}`);
      const page = locate(() => [window.document.body]);
      const check = async () => {
        await locate(() => [...window.document.querySelectorAll(loading)] as HTMLElement[]).waitFor(
          { state: 'detached' },
        );
        await checkAxe(window);
      };
      return { page, check };
    },
  };
}

/** What is not there yet, or has no name yet. */
const loading =
  '[aria-busy="true"], .mantine-Skeleton-root, [role="dialog"]:not([aria-labelledby])';

function openWindow(url: string, html: string): Window {
  const settings = { handleDisabledFileLoadingAsSuccess: true };
  const window = new Window({ url, width: 1440, height: 900, settings });
  const page = html.replace('{{base-path}}', '').replace('{{color-scheme}}', 'light');
  window.document.write(page.replace(/<(script|link)\b[^>]*>(<\/script>)?/g, ''));
  // A text area waits for fonts, and a chunk for its style sheet.
  Object.assign(window.document, { fonts: new EventTarget() });
  new window.MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes) node.dispatchEvent(new window.Event('load'));
  }).observe(window.document.head, { childList: true });
  return window;
}

/** What the pages use of a browser. Everything else is Node's. */
const names = [
  ...['window', 'self', 'document', 'navigator', 'location', 'history', 'fetch'],
  ...['localStorage', 'sessionStorage', 'setTimeout', 'clearTimeout', 'setInterval'],
  ...['clearInterval', 'requestAnimationFrame', 'cancelAnimationFrame', 'addEventListener'],
  ...['removeEventListener', 'matchMedia', 'getComputedStyle', 'scrollTo', 'Event', 'CustomEvent'],
  ...['KeyboardEvent', 'MouseEvent', 'Node', 'Element', 'HTMLElement', 'HTMLIFrameElement'],
  ...['DocumentFragment', 'MutationObserver', 'ResizeObserver', 'IntersectionObserver'],
];

/** The globals of each visit. A module takes them by the number in its address, so that the service keeps Node's. */
const browsers: Record<string, unknown>[] = [];
Object.assign(globalThis, { browsers });

/** The calls of the pages have the session. */
function browserOf(window: Window, origin: string, cookie: string, dispatcher: Agent) {
  const own = names.map((name) => {
    const value: unknown = Reflect.get(window, name);
    return [name, typeof value === 'function' && /^[a-z]/.test(name) ? value.bind(window) : value];
  });
  const send: typeof fetch = (path, init) => {
    const headers = new Headers(init?.headers);
    headers.set('cookie', cookie);
    headers.set('origin', origin);
    const url = new URL(String(path), origin);
    return fetch(url, { ...init, headers, dispatcher } as RequestInit);
  };
  return { ...Object.fromEntries(own), window, self: window, fetch: send };
}

registerHooks({
  resolve(specifier, context, nextResolve) {
    const { parentURL = '' } = context;
    if (!parentURL.startsWith(built) || !specifier.startsWith('.'))
      return nextResolve(specifier, context);
    const url = new URL(specifier, parentURL);
    url.search = new URL(parentURL).search;
    return { url: url.href, format: 'module', shortCircuit: true };
  },
  load(url, context, nextLoad) {
    if (!url.startsWith(built)) return nextLoad(url, context);
    const { search, pathname } = new URL(url);
    const globals = `const { ${names.join(', ')} } = globalThis.browsers[${search.slice(1)}];`;
    const source = `${globals}${readFileSync(pathname, 'utf8')}`;
    return { format: 'module', source, shortCircuit: true };
  },
});

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);

async function checkAxe(window: Window): Promise<void> {
  const page = window as unknown as { axe?: typeof axe };
  // The file expects to be a script of the page.
  page.axe ??= new Function('window', 'document', 'module', `${axeSource}; return module.exports;`)(
    ...[window, window.document, { exports: {} }],
  );
  const rules = { 'color-contrast': { enabled: false }, 'link-in-text-block': { enabled: false } };
  const found = await page.axe?.run(window.document.documentElement as never, {
    rules,
    resultTypes: ['violations'],
    preload: false,
  });
  const violations = found?.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  assert.deepEqual(violations, []);
}
