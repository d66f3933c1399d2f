import { isSealedURL } from '../../../core/event/endpoint.ts';
import {
  chatBody,
  eventBody,
  executionEventTypes,
  type FullData,
  fullBody,
  thinData,
} from '../../../core/event/event.ts';
import type { PostAnswer, PostEvent } from '../../../core/event/post.ts';
import { attemptMsMax, retryAfterSeconds, retryDelayMs } from '../../../core/event/retry.ts';
import { signedHeaders } from '../../../core/event/sign.ts';
import { toId } from '../../../core/id.ts';
import { sealOwner, sealURLOwner } from '../../../core/model/provider.ts';
import { unseal } from '../../../core/seal.ts';
import { storable } from '../../../core/storable-text.ts';
import type { AttemptOutcome, DueDelivery } from '../statements/deliveries.ts';

/**
 * One attempt to deliver an event. It succeeds with a status of 2xx; anything else is a failure: another status, a redirect, no
 * answer in time.
 */

export interface AttemptDeps {
  readonly post: PostEvent;
  /** From `deriveSealKey`. */
  readonly sealKey: Buffer;
  readonly version: string;
}

/** The outcome for the log. `answer` is null without an answer. */
export interface Attempted extends AttemptOutcome {
  readonly status: number | null;
}

/**
 * @param readAt when the delivery was read, on the monotonic clock: the database time counts from there
 * @param full the data that `payload: full` adds; see `readFullData`
 * @param signal aborts the attempt without an outcome
 */
export async function attemptDelivery(
  deps: AttemptDeps,
  due: DueDelivery,
  more: {
    readonly readAt: number;
    readonly full: FullData | 'gone' | 'large' | null;
    readonly signal: AbortSignal;
  },
): Promise<Attempted> {
  const nowMs = () => due.nowMs + performance.now() - more.readAt;
  const atMs = nowMs();
  const { answer, error } = await post(deps, due, atMs, more);
  const status = answer?.status ?? null;
  const delivered = status !== null && status >= 200 && status < 300;
  const attempts = due.attemptCount + 1;
  const waitSeconds = retryAfterSeconds(answer?.retryAfter ?? null, nowMs());
  return {
    ...{
      endpointId: due.endpointId,
      eventId: due.id,
      attemptCount: due.attemptCount,
      delivered,
      status,
    },
    retryMs:
      delivered || status === gone ? null : retryDelayMs(attempts, waitSeconds, Math.random()),
    attempt: {
      at: new Date(atMs).toISOString(),
      status,
      answer: answer && storable(answer.text),
      error:
        error === null ? (delivered ? null : `The receiver answered ${status}.`) : storable(error),
    },
  };
}

/** The receiver wants no more events. */
export const gone = 410;

/** Whether `full` adds anything to the event. */
export function hasFullData({ payload, format, type }: DueDelivery): boolean {
  const types: readonly string[] = executionEventTypes;
  return payload === 'full' && format === 'standard' && types.includes(type);
}

async function post(
  { sealKey, version, post: send }: AttemptDeps,
  due: DueDelivery,
  atMs: number,
  {
    full,
    signal,
  }: { readonly full: FullData | 'gone' | 'large' | null; readonly signal: AbortSignal },
): Promise<{ readonly answer: PostAnswer | null; readonly error: string | null }> {
  const opened = openSealed(sealKey, due);
  if (opened === null) return { answer: null, error: 'The URL or secret cannot be decrypted.' };
  const { url, secrets } = opened;
  const body = bodyOf(due, full);
  const deadline = new AbortController();
  const abort = () => deadline.abort(signal.reason);
  const timer = setTimeout(() => deadline.abort(), attemptMsMax);
  signal.addEventListener('abort', abort, { once: true });
  try {
    const headers = {
      'content-type': 'application/json',
      'user-agent': `Cueline/${version}`,
      ...signedHeaders({ id: toId('event', due.id), atMs, body }, secrets),
    };
    const answer = await send({ url, headers, body, signal: deadline.signal });
    return { answer, error: null };
  } catch (error) {
    signal.throwIfAborted();
    if (deadline.signal.aborted) return { answer: null, error: tooLate };
    return { answer: null, error: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

const tooLate = `The receiver did not answer within ${attemptMsMax / 1_000} seconds.`;

function bodyOf(due: DueDelivery, full: FullData | 'gone' | 'large' | null): string {
  if (due.format === 'slack') return chatBody(due);
  return full === null ? eventBody(due, thinData(due)) : fullBody(due, full);
}

/** Null if `CUELINE_SECRET` has changed. */
function openSealed(
  sealKey: Buffer,
  due: DueDelivery,
): { readonly url: string; readonly secrets: string[] } | null {
  const row = { workspaceId: due.workspaceId, id: due.endpointId };
  const { sealedSecret, previousSealedSecret, sealedUrl } = due;
  const sealed = previousSealedSecret ? [sealedSecret, previousSealedSecret] : [sealedSecret];
  try {
    const url =
      sealedUrl && isSealedURL(due.url) ? unseal(sealKey, sealedUrl, sealURLOwner(row)) : due.url;
    return { url, secrets: sealed.map((one) => unseal(sealKey, one, sealOwner(row))) };
  } catch {
    return null;
  }
}
