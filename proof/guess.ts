import { sql } from 'kysely';
import type { Db } from '../src/store/connection/database.ts';

/** A guess at a password, and what whoever guesses can see of the answer. */
export interface Guess {
  readonly status: number;
  /** Seconds; NaN where nothing was said. */
  readonly retryAfter: number;
  /** Everything that does not change from answer to answer. */
  readonly shown: unknown;
  readonly ms: number;
}

export async function guess({
  url,
  from,
  email,
  password,
}: {
  readonly url: string;
  /** What a proxy says where it came from. */
  readonly from?: string;
  readonly email: string;
  readonly password: string;
}): Promise<Guess> {
  const begun = performance.now();
  const response = await fetch(`${url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(from !== undefined && { 'x-forwarded-for': from }),
    },
    body: JSON.stringify({ email, password }),
  });
  const ms = performance.now() - begun;
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

/** Sets how many guesses at an account from everywhere have failed; of every counter where no account is named. */
export async function guessesSoFar(db: Db, email: string | null, count: number): Promise<void> {
  await sql`
    update sign_in_attempts set count = ${count}
    where ${email}::text is null or key like 'everywhere|%|' || ${email}`.execute(db);
}
