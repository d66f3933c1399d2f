import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';

/** The response to a password guess. */
export interface SignInAttempt {
  readonly status: number;
  /** Seconds; NaN without the header. */
  readonly retryAfter: number;
  /** The parts that must not differ between responses. */
  readonly shown: unknown;
  readonly ms: number;
}

export async function attemptSignIn({
  url,
  from,
  email,
  password,
}: {
  readonly url: string;
  /** The client address that a proxy forwards. */
  readonly from?: string;
  readonly email: string;
  readonly password: string;
}): Promise<SignInAttempt> {
  const startedMs = performance.now();
  const response = await fetch(`${url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(from !== undefined && { 'x-forwarded-for': from }),
    },
    body: JSON.stringify({ email, password }),
  });
  const ms = performance.now() - startedMs;
  const { requestId, ...body } = (await response.json()) as Record<string, unknown>;
  const changing = new Set(['x-request-id', 'date']);
  const headers = [...response.headers].filter(([name]) => !changing.has(name));
  return {
    status: response.status,
    retryAfter: Number(response.headers.get('retry-after') ?? Number.NaN),
    shown: { headers, body },
    ms,
  };
}

/** Sets the counter of failed attempts for an account from all addresses; without an email, all counters. */
export async function setFailedAttempts(
  db: Db,
  email: string | null,
  count: number,
): Promise<void> {
  await sql`
    update sign_in_attempts set count = ${count}
    where ${email}::text is null or key like 'everywhere|%|' || ${email}`.execute(db);
}
