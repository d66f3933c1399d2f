import type { WindowState } from '../src/core/execution/limits.ts';
import { fromId } from '../src/core/id.ts';

/** Execute calls of every kind, and all that their answers tell about the limits. */

export interface Call {
  /** The path of the agent. */
  readonly path: string;
  readonly key: string;
  /** JSON unless it is a text. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly code: string | null;
  /**
   * The second of the database's clock in which the call was decided, in milliseconds; null where no limit was looked
   * at. Windows begin with a whole second, so this second tells all of them exactly.
   */
  readonly secondMs: number | null;
  /** What a 429 says of itself. */
  readonly limitedBy: LimitedBy | null;
  /** The second that `Retry-After` and `resetAt` say it is. */
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

/** The tightest window ends at Reset, and will in `t` seconds: whole ones, rounded up. */
function secondOf(headers: Headers): number | null {
  const left = /;t=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1];
  if (left === undefined) return null;
  return (Number(headers.get('x-ratelimit-reset')) - Number(left)) * 1000;
}
