import { CuelineError } from '../../../src/client/index.ts';
import { cueline } from './client.ts';

/**
 * Whether the server can serve this page. Requests report what they meet, and the shell shows the state. While it is lost
 * or reconnecting, the server's readiness is probed:
 *
 *     connected ──▶ lost          no response at all
 *         │  ▲      reconnecting  it responds, but cannot accept anything: for example its database has no primary
 *         │  └───── restored      either one is over
 *
 * A response ends `lost`. Only the probe ends `reconnecting`, because a standby may answer reads meanwhile.
 */
export type ConnectionState = 'connected' | 'lost' | 'reconnecting' | 'restored';

const probeMs = { lost: 5_000, reconnecting: 2_000 } as const;
/** How long the page says that the connection is back. */
const restoredMs = 4_000;

let state: ConnectionState = 'connected';
let timer: ReturnType<typeof setTimeout> | undefined;
let probing: Promise<void> | null = null;
const listeners = new Set<() => void>();

export const connectionState = (): ConnectionState => state;

export function subscribeToConnection(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** A request has succeeded. */
export function reportSuccess(): void {
  if (state === 'lost') publish('restored');
}

/** A request has failed. An error response is an answer, too. */
export function reportFailure(error: unknown): void {
  if (!(error instanceof CuelineError)) return;
  if (error.code === 'CONNECTION_FAILED') publish('lost');
  else if (isUnavailable(error)) void probe();
  else if (error.status > 0) reportSuccess();
}

/** A proxy answers 502 or 504 for a server that does not. */
function isUnavailable({ status }: CuelineError): boolean {
  return [502, 503, 504].includes(status);
}

/** Asks whether the server is ready. A single 503 may also mean that it is busy. */
function probe(): Promise<void> {
  probing ??= readReadiness()
    .then((found) => {
      if (found !== 'ready') publish(found);
      else if (state === 'lost' || state === 'reconnecting') publish('restored');
    })
    .finally(() => {
      probing = null;
    });
  return probing;
}

async function readReadiness(): Promise<'ready' | 'lost' | 'reconnecting'> {
  try {
    await cueline.request('GET /readyz', {}, { retries: 0 });
  } catch (error) {
    if (!(error instanceof CuelineError)) throw error;
    if (error.code === 'CONNECTION_FAILED' || error.code === 'TIMEOUT') return 'lost';
    if (isUnavailable(error)) return 'reconnecting';
  }
  return 'ready';
}

function publish(next: ConnectionState): void {
  if (state === next) return;
  clearTimeout(timer);
  state = next;
  if (next === 'restored') timer = setTimeout(() => publish('connected'), restoredMs);
  else if (next !== 'connected') timer = setInterval(() => void probe(), probeMs[next]);
  for (const listener of listeners) listener();
}

// The browser knows earlier when its network is back.
addEventListener('online', () => {
  if (state === 'lost') void probe();
});
