import { isIPv6 } from 'node:net';
import { CallFailure } from '../../../core/failure.ts';
import type { Db } from '../../../db/database.ts';
import { countAttempt, undoAttempt } from '../statements/sign-in-attempts.ts';
import { sessionAddresses } from '../statements/users.ts';

/**
 * Limits failed sign-ins across all processes: per network, per network and account, and per account. An attacker could
 * use the last limit to lock an owner out, so it does not apply to networks where the account has a session.
 */
const limits = {
  network: { failuresMax: 100, windowMs: 300_000 },
  networkAndAccount: { failuresMax: 10, windowMs: 300_000 },
  account: { failuresMax: 100, windowMs: 3_600_000 },
};

/**
 * Runs a sign-in attempt within the limits. It counts the attempt first, so that concurrent attempts cannot exceed a
 * limit. It undoes the count after a success or a rejection, so that only real failures fill the window.
 * @param account the email address, the id of the signed-in user, or the hash of an invitation's token
 */
export async function throttleAttempts<Outcome extends { readonly ok: boolean }>(
  db: Db,
  { ip, path, account }: { readonly ip: string; readonly path: string; readonly account: string },
  attempt: () => Promise<Outcome>,
): Promise<Outcome> {
  const network = networkOf(ip);
  const counted: string[] = [];
  const undo = async () => {
    for (const key of counted) await undoAttempt(db, key);
  };
  const count = async (key: string, { failuresMax, windowMs }: typeof limits.account) => {
    const { count: tries, leftMs } = await countAttempt(db, key, windowMs);
    counted.push(key);
    if (tries <= failuresMax) return;
    throw new CallFailure('RATE_LIMIT_EXCEEDED', 'Too many failed attempts. Try again later.', {
      retryAfter: Math.max(1, Math.ceil(leftMs / 1000)),
    });
  };
  let outcome: Outcome;
  try {
    await count(`${network}|${path}`, limits.network);
    await count(`${network}|${path}|${account}`, limits.networkAndAccount);
    const known = (await sessionAddresses(db, account)).some((one) => networkOf(one) === network);
    if (!known) await count(`everywhere|${path}|${account}`, limits.account);
    outcome = await attempt();
  } catch (error) {
    // The attempt did not run.
    await undo();
    throw error;
  }
  if (outcome.ok) await undo();
  return outcome;
}

/** The address, or the /64 of an IPv6 address: one customer owns a whole /64. */
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
