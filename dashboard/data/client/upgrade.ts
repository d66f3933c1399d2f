import { CuelineError } from '../../../src/client/index.ts';

/** A part of the page that could not be fetched. */
export class PartMissing extends CuelineError {}

const reloadedKey = 'cueline-reloaded-at';
/** Behind two servers of different builds it would reload for ever. */
const reloadMsMin = 60_000;

/** Called where a part could not be fetched. After an upgrade it is there no more, under its name: then the page begins anew. */
export async function reloadAfterUpgrade(cause: unknown): Promise<never> {
  const reloadedMs = Number(sessionStorage.getItem(reloadedKey) ?? 0);
  if (Date.now() - reloadedMs >= reloadMsMin && (await isUpgraded())) {
    sessionStorage.setItem(reloadedKey, String(Date.now()));
    location.reload();
    return new Promise(() => {});
  }
  const message =
    'A part of this page could not be fetched. To try again, all of it is loaded anew.';
  throw new PartMissing('CONNECTION_FAILED', message, { cause });
}

/** A browser never fetches a part again that it once failed to. Where no server answers, this page is all there is. */
export async function reloadIfServed(): Promise<void> {
  if ((await readPage()) !== null) location.reload();
}

/** Whether the server has another page now than this one. */
async function isUpgraded(): Promise<boolean> {
  const script = document.querySelector('script[type="module"][src]')?.getAttribute('src');
  const page = await readPage();
  return page !== null && script !== null && script !== undefined && !page.includes(script);
}

async function readPage(): Promise<string | null> {
  try {
    const answer = await fetch('/', { cache: 'no-store' });
    return answer.ok ? await answer.text() : null;
  } catch {
    return null;
  }
}
