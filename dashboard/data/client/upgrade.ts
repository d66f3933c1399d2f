import { CuelineError } from '../../../src/client/index.ts';
import { serverPath } from './base-path.ts';
import { reportFailure } from './connection.ts';

/** A lazily loaded component or page could not be fetched. */
export class ComponentLoadError extends CuelineError {}

const reloadedKey = 'cueline-reloaded-at';
/** Prevents a reload loop behind two servers with different builds. */
const reloadMsMin = 60_000;

/** Handles a failed chunk load. After an upgrade the old file name no longer exists, so the page reloads once. */
export async function reloadAfterUpgrade(cause: unknown): Promise<never> {
  if ((await isUpgraded()) && reloadOnce()) return new Promise(() => {});
  const message = 'Part of this page could not be loaded. Retrying reloads the whole page.';
  throw new ComponentLoadError('CONNECTION_FAILED', message, { cause });
}

/** False if the page has just been reloaded. */
function reloadOnce(): boolean {
  const reloadedMs = Number(sessionStorage.getItem(reloadedKey) ?? 0);
  if (Date.now() - reloadedMs < reloadMsMin) return false;
  sessionStorage.setItem(reloadedKey, String(Date.now()));
  location.reload();
  return true;
}

/**
 * Handles a page that could not be loaded: reloads if the server answers, or reports the connection as lost. Browsers do not
 * retry a failed import, which may be that of a link hovered while offline.
 */
export async function recoverFromLoadError(error: ComponentLoadError): Promise<void> {
  if ((await readPage()) === null) reportFailure(error);
  else reloadOnce();
}

/**
 * Browsers do not retry a failed module import, so retrying needs a reload. Without a reachable server, a reload would
 * lose the page.
 */
export async function reloadIfServed(): Promise<void> {
  if ((await readPage()) !== null) location.reload();
}

/** Whether the server now serves another build than this page. */
async function isUpgraded(): Promise<boolean> {
  const script = document.querySelector('script[type="module"][src]')?.getAttribute('src');
  const page = await readPage();
  return page !== null && script !== null && script !== undefined && !page.includes(script);
}

async function readPage(): Promise<string | null> {
  try {
    const answer = await fetch(serverPath('/'), { cache: 'no-store' });
    return answer.ok ? await answer.text() : null;
  } catch {
    return null;
  }
}
