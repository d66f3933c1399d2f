import { isIPv6 } from 'node:net';
import { CallFailure } from '../core/failure.ts';
import type { Db } from '../store/db.ts';
import { countAttempt, forgiveAttempt } from '../store/sign-in-attempts.ts';

/** Guessing of passwords is bounded for each network and path, over all processes. */

const failuresMax = 10;
const windowMs = 300_000;

/** Counted before it is tried, so that many at once are no more than one after the other; taken back if it succeeds. */
export async function guard(
  db: Db,
  ip: string,
  path: string,
  attempt: () => Promise<Response>,
): Promise<Response> {
  const key = `${networkOf(ip)}|${path}`;
  const { count, leftMs } = await countAttempt(db, key, windowMs);
  if (count > failuresMax) {
    throw new CallFailure('RATE_LIMIT_EXCEEDED', 'Too many failed attempts. Try again later.', {
      retryAfter: Math.max(1, Math.ceil(leftMs / 1000)),
    });
  }
  const response = await attempt();
  if (response.ok) await forgiveAttempt(db, key);
  return response;
}

/** The address, or of IPv6 the /64 it is in: whoever has one address there has them all. */
export function networkOf(ip: string): string {
  const plain = ip.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const groups = head.split(':').filter(Boolean);
  const last = tail.split(':').filter(Boolean);
  const zeros = Array<string>(Math.max(0, 8 - groups.length - last.length)).fill('0');
  const all = [...groups, ...zeros, ...last].map((group) => Number.parseInt(group, 16));
  return `${all
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}
