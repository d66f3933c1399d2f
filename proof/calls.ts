import type { WindowState } from '../src/core/agent/limits.ts';
import { fromId } from '../src/core/id.ts';

/** Execute calls of every kind, and what their responses reveal about limits. */

export interface Call {
  /** The path of the agent. */
  readonly path: string;
  readonly key: string;
  /** Sent as JSON unless it is a string. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly code: string | null;
  /**
   * The second of the decision by the database's clock, in milliseconds; null if no limit was checked. Windows start at
   * whole seconds, so it identifies all of them.
   */
  readonly secondMs: number | null;
  /** The details of a 429. */
  readonly limitedBy: LimitedBy | null;
  /** The current second according to `Retry-After` and `resetAt`. */
  readonly retrySecondMs: number | null;
  /** The stored id. */
  readonly executionId: string | null;
  readonly replayed: boolean;
}

export interface LimitedBy {
  readonly scope: WindowState['scope'] | 'quota';
  readonly window: WindowState['window'] | 'month';
  readonly limit: number;
  readonly resetAt: string;
}

export async function execute(url: string, { path, key, body, headers }: Call): Promise<Answer> {
  const response = await fetch(`${url}${path}/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const answered = (await response.json()) as {
    code?: string;
    executionId?: string;
    limitedBy?: LimitedBy;
  };
  const limitedBy = answered.limitedBy ?? null;
  return {
    status: response.status,
    code: answered.code ?? null,
    secondMs: secondOf(response.headers),
    limitedBy,
    retrySecondMs:
      limitedBy &&
      Date.parse(limitedBy.resetAt) - Number(response.headers.get('retry-after')) * 1000,
    executionId: fromId('execution', answered.executionId ?? ''),
    replayed: response.headers.get('idempotent-replayed') === 'true',
  };
}

/** The tightest window ends at Reset, in `t` seconds, rounded up. */
function secondOf(headers: Headers): number | null {
  const left = /;t=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1];
  if (left === undefined) return null;
  return (Number(headers.get('x-ratelimit-reset')) - Number(left)) * 1000;
}
