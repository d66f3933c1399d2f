import { isIPv6 } from 'node:net';
import { CallFailure } from '../../core/failure.ts';
import type { Db } from '../../store/connection/database.ts';
import { countAttempt, undoAttempt } from '../../store/people/sign-in-attempts.ts';
import { sessionAddresses } from '../../store/people/users.ts';

/**
 * Guessing of passwords is bounded, over all processes: of one account from one network, of all accounts from one
 * network, and of one account from everywhere. The last must not keep its owner out for as long as somebody cares to
 * guess, so it does not hold where the account has a session: whoever is signed in on a machine can do so again there.
 */
const bounds = {
  network: { failuresMax: 100, windowMs: 300_000 },
  networkAndAccount: { failuresMax: 10, windowMs: 300_000 },
  account: { failuresMax: 100, windowMs: 3_600_000 },
};

/**
 * Counted before it is tried, so that many at once are no more than one after the other. Taken back where it succeeds,
 * and where it was not let through: only real failures fill the window.
 * @param account the address that is signed in with, or the id of who is signed in; empty where there is none;
 *   of an invitation's link the hash of its token
 */
export async function guard<Outcome extends { readonly ok: boolean }>(
  db: Db,
  { ip, path, account }: { readonly ip: string; readonly path: string; readonly account: string },
  attempt: () => Promise<Outcome>,
): Promise<Outcome> {
  const network = networkOf(ip);
  const counted: string[] = [];
  const takeBack = async () => {
    for (const key of counted) await undoAttempt(db, key);
  };
  const count = async (key: string, { failuresMax, windowMs }: typeof bounds.account) => {
    const { count: tries, leftMs } = await countAttempt(db, key, windowMs);
    counted.push(key);
    if (tries <= failuresMax) return;
    throw new CallFailure('RATE_LIMIT_EXCEEDED', 'Too many failed attempts. Try again later.', {
      retryAfter: Math.max(1, Math.ceil(leftMs / 1000)),
    });
  };
  let outcome: Outcome;
  try {
    await count(`${network}|${path}`, bounds.network);
    await count(`${network}|${path}|${account}`, bounds.networkAndAccount);
    const known = (await sessionAddresses(db, account)).some((one) => networkOf(one) === network);
    if (!known) await count(`everywhere|${path}|${account}`, bounds.account);
    outcome = await attempt();
  } catch (error) {
    // Nothing was tried.
    await takeBack();
    throw error;
  }
  if (outcome.ok) await takeBack();
  return outcome;
}

/** The address, or of IPv6 the /64 it is in: whoever has one address there has them all. */
export function networkOf(ip: string): string {
  if (!isIPv6(ip)) return ip;
  const [head = '', tail = ''] = ip.split('::');
  const groups = head.split(':').filter(Boolean);
  const last = tail.split(':').filter(Boolean);
  const zeros = Array<string>(Math.max(0, 8 - groups.length - last.length)).fill('0');
  const all = [...groups, ...zeros, ...last].map((group) => Number.parseInt(group, 16));
  return `${all
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}
