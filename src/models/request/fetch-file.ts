import type { FileKind } from '../../core/agent/file-value.ts';
import { ModelFailure, noCost } from '../../core/model/model-port.ts';
import { OutboundFailure } from '../../net/outbound-failure.ts';
import { retryAfterMs } from '../failure/retry-after.ts';
import { typeOfBytes, typeOfPath } from './media-types.ts';

/**
 * Fetches the image or file at a URL for a provider that needs its bytes. Every failure is `FILE_UNAVAILABLE`: nothing was
 * sent to the provider, so nothing is charged and its breaker does not count it. Another attempt follows only where it may
 * help, within `maxAttempts`. Messages name the variable and never the URL, which may contain a signature.
 */

export interface FileToFetch {
  readonly kind: FileKind;
  readonly variable: string;
  readonly url: string;
}

interface Download {
  readonly download: typeof fetch;
  /** Whether a URL of this host may begin with `http:`. */
  readonly isAllowed: (url: URL) => boolean;
}

/** Storage services redirect to a signed URL. */
const redirectsMax = 3;

/** @returns a data URL */
export async function fetchFile(
  file: FileToFetch,
  through: Download,
  signal: AbortSignal,
): Promise<string> {
  const { kind, variable, url } = file;
  const response = await follow(file, through, signal);
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (bytes.length === 0) throw unavailable(variable, 'is empty');
  const stated = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  const isStated = /^[a-z0-9][\w.+-]*\/[\w.+-]+$/.test(stated) && !isAnything.test(stated);
  const type =
    (isStated ? stated : (typeOfBytes(bytes) ?? typeOfPath(new URL(url).pathname))) ??
    'application/octet-stream';
  if (kind === 'image' && !type.startsWith('image/')) {
    throw unavailable(variable, `is no image, but ${type.slice(0, 100)}`);
  }
  return `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;
}

/** @param bytesMax of the data URLs of a call */
export function tooMany(bytesMax: number): ModelFailure {
  const message = `The files to fetch for one call have more than ${bytesMax} bytes in base64.`;
  return new ModelFailure('FILE_UNAVAILABLE', message, { retryable: false, cost: noCost });
}

/** For a URL that a provider would fetch. */
export function notPublic(variable: string): ModelFailure {
  const what = `${reasons.refused}, and CUELINE_ALLOWED_HOSTS does not name its host`;
  return unavailable(variable, what);
}

const isAnything = /^(application|binary)\/octet-stream$/;

async function follow(
  { variable, url }: FileToFetch,
  { download, isAllowed }: Download,
  signal: AbortSignal,
): Promise<Response> {
  let at = url;
  for (let redirects = 0; redirects <= redirectsMax; redirects++) {
    const response = await download(at, { signal }).catch((error) => {
      throw signal.aborted ? error : unfetched(variable, error);
    });
    if (response.ok) return response;
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) {
      throw refused(variable, response);
    }
    const next = URL.parse(location, at);
    if (next?.protocol !== 'https:' && !(next && isAllowed(next)))
      throw unavailable(variable, 'redirects to no https URL');
    at = next.href;
  }
  throw unavailable(variable, `redirects more than ${redirectsMax} times`);
}

function refused(variable: string, { status, headers }: Response): ModelFailure {
  const isRetryable = status >= 500 || status === 429 || status === 408;
  const waitMs = isRetryable
    ? retryAfterMs(Object.fromEntries(headers), '', { nowMs: Date.now(), limited: status === 429 })
    : 0;
  return unavailable(variable, `could not be fetched: its server answered ${status}`, {
    retryable: isRetryable,
    retryAfterMs: waitMs,
  });
}

function unfetched(variable: string, error: unknown): unknown {
  if (!(error instanceof OutboundFailure)) return error;
  return unavailable(variable, reasons[error.kind], {
    retryable: error.kind !== 'refused' && error.kind !== 'malformed',
  });
}

const reasons: Readonly<Record<OutboundFailure['kind'], string>> = {
  refused: 'is not at a public address',
  unreached: 'could not be fetched: its server was not reached',
  timeout: 'could not be fetched: its server stopped sending',
  broken: 'could not be fetched: the connection to its server broke',
  malformed: 'is too large or damaged: at most 20 MiB are fetched',
};

function unavailable(
  variable: string,
  what: string,
  more: { retryable?: boolean; retryAfterMs?: number } = {},
): ModelFailure {
  const message = `The file of variable "${variable}" ${what}.`;
  return new ModelFailure('FILE_UNAVAILABLE', message, { retryable: false, ...more, cost: noCost });
}
