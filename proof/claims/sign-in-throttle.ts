import { uuid7 } from '../../src/core/id.ts';
import { hashPassword } from '../../src/features/people/access/session.ts';
import { findUser, setPassword } from '../../src/features/people/statements/users.ts';
import { type Claim, type Found, percentile } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { attemptSignIn, type SignInAttempt, setFailedAttempts } from '../sign-in-attempt.ts';

const password = 'the password of the owner';
/** Failed attempts per account from all networks. */
const failuresMax = 100;

/**
 * Concurrent password guesses at two processes. One process trusts a proxy, so that guesses can come from many networks.
 * The other one is called directly, with forged client addresses.
 */
export const signInThrottle: Claim = {
  name: 'sign-in-throttle',
  description:
    'Password guesses are limited per account and network across all processes, without a lockout of the owner',
  rounds: { test: 1, short: 3, full: 20 },
  roundsPerEnvironment: 1,
  faults: [
    {
      name: 'missing-throttle',
      description: 'attempts are not limited',
      file: 'features/people/access/sign-in-guard.ts',
      find: 'if (tries <= failuresMax) return;',
      replace: 'if (tries <= Number.MAX_SAFE_INTEGER) return;',
    },
    {
      name: 'per-process-counters',
      description: 'each process has its own counters',
      file: 'features/people/access/sign-in-guard.ts',
      find: 'await countAttempt(db, key, windowMs)',
      replace: 'await countAttempt(db, process.pid + key, windowMs)',
    },
  ],
  async prove(environment, rounds): Promise<Found> {
    const samplesMs = { [wrongPassword]: [] as number[], [noAccount]: [] as number[] };
    const counts = { guesses: 0, checked: 0, throttled: 0 };
    const violations: string[] = [];
    const [proxied, direct] = await Promise.all([
      environment.spawn('api', { CUELINE_TRUSTED_PROXIES: '127.0.0.1' }),
      environment.spawn('api'),
    ]);
    const urls = { proxied: proxied.url, direct: direct.url };
    const email = await ownerWithPassword(environment);
    const home = { url: urls.proxied, from: '198.51.100.7' };
    const check = (what: string, found: unknown, expected: unknown) => {
      if (JSON.stringify(found) === JSON.stringify(expected)) return;
      violations.push(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
    };
    const all = async (guesses: readonly Parameters<typeof attemptSignIn>[0][]) => {
      const answers = await Promise.all(guesses.map(attemptSignIn));
      const refused = answers.filter(({ status }) => status === 429);
      counts.guesses += answers.length;
      counts.throttled += refused.length;
      counts.checked += answers.length - refused.length;
      const valid = refused.every(({ retryAfter }) => retryAfter >= 1 && retryAfter <= 3_600);
      check('every 429 has a valid Retry-After', valid, true);
      return answers;
    };
    const statuses = (answers: readonly SignInAttempt[]) => ({
      wrong: answers.filter(({ status }) => status === 401).length,
      tooMany: answers.filter(({ status }) => status === 429).length,
    });

    check(
      'sign-in from the home network',
      (await attemptSignIn({ ...home, email, password })).status,
      200,
    );
    for (let round = 0; round < rounds; round++) {
      // One network, over both processes. The direct process ignores forged addresses.
      const first: SignInAttempt[] = [];
      for (const account of [email, `nobody-${round}@example.com`]) {
        const guesses = Array.from({ length: 12 }, (_, i) =>
          i % 2 === 0
            ? { url: urls.proxied, email: account, password: `wrong ${i}` }
            : { url: urls.direct, from: `203.0.113.${i}`, email: account, password: `wrong ${i}` },
        );
        const answers = await all(guesses);
        check(`guesses at ${account}`, statuses(answers), { wrong: 10, tooMany: 2 });
        const wrong = answers.filter(({ status }) => status === 401);
        first.push(...wrong.slice(0, 1));
        samplesMs[account === email ? wrongPassword : noAccount]?.push(
          ...wrong.map(({ ms }) => ms),
        );
      }
      check('response for an unknown account', first[1]?.shown, first[0]?.shown);
      const right = await all([{ url: urls.direct, email, password }]);
      check('the right password beyond the limit', right[0]?.status, 429);

      // Many networks. The counter skips most attempts, because each of them costs a hash.
      const tried = failuresMax - 4;
      await setFailedAttempts(environment.db, email, tried);
      const many = Array.from({ length: 10 }, (_, i) => ({
        ...{ url: urls.proxied, from: `192.0.2.${i + 1}`, email, password: `wrong ${i}` },
      }));
      check('guesses from many networks', statuses(await all(many)), { wrong: 4, tooMany: 6 });
      check(
        'sign-in from the home network meanwhile',
        (await attemptSignIn({ ...home, email, password })).status,
        200,
      );
      await setFailedAttempts(environment.db, null, 0);
    }
    return { counts, samplesMs, violations };
  },
  checkGoals({ samplesMs = {} }) {
    const [wrong = 0, none = 0] = [wrongPassword, noAccount].map((name) =>
      percentile(samplesMs[name] ?? [], 0.5),
    );
    const alike = none > wrong / 2 && none < wrong * 2;
    return alike ? [] : [`timing reveals unknown accounts: ${none} ms instead of ${wrong} ms`];
  },
};

const wrongPassword = 'response to a wrong password';
const noAccount = 'response for an unknown account';

async function ownerWithPassword({ db, ownerId }: ProofEnvironment): Promise<string> {
  const hash = await hashPassword(password);
  await db.transaction((trx) => setPassword(trx, { id: uuid7(Date.now()), userId: ownerId, hash }));
  return (await findUser(db, ownerId))?.email ?? '';
}
