import { isIPv6 } from 'node:net';
import { CallFailure } from '../core/failure.ts';
import type { Db } from '../store/db.ts';
import { countAttempt, forgiveAttempt } from '../store/sign-in-attempts.ts';

/** Guessing of passwords is bounded, over all processes: of one account, and of all together, from one network. */

const windowMs = 300_000;
const failuresMax = { account: 10, network: 100 };

/**
 * Counted before it is tried, so that many at once are no more than one after the other. Taken back where it succeeds,
 * and where it was not let through: only real failures fill the window.
 * @param account the address that is signed in with; empty where there is none
 */
export async function guard(
  db: Db,
  { ip, path, account }: { readonly ip: string; readonly path: string; readonly account: string },
  attempt: () => Promise<Response>,
): Promise<Response> {
  const network = `${networkOf(ip)}|${path}`;
  const counted: string[] = [];
  const count = async (key: string, max: number) => {
    const { count: tries, leftMs } = await countAttempt(db, key, windowMs);
    counted.push(key);
    if (tries <= max) return;
    await takeBack();
    throw new CallFailure('RATE_LIMIT_EXCEEDED', 'Too many failed attempts. Try again later.', {
      retryAfter: Math.max(1, Math.ceil(leftMs / 1000)),
    });
  };
  const takeBack = async () => {
    for (const key of counted) await forgiveAttempt(db, key);
  };
  await count(network, failuresMax.network);
  await count(`${network}|${account}`, failuresMax.account);
  const response = await attempt();
  if (response.ok) await takeBack();
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
