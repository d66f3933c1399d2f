import { hashPassword } from '../../src/api/access/session.ts';
import { uuid7 } from '../../src/core/id.ts';
import { findUser, setPassword } from '../../src/store/people/users.ts';
import { type Claim, type Found, percentile } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { attemptSignIn, type SignInAttempt, setFailedAttempts } from '../sign-in-attempt.ts';

const password = 'the password that is guessed at';
/** Failures at one account from everywhere. */
const failuresMax = 100;

/**
 * Guesses at passwords over two processes, all at once. One of them stands behind a proxy that it trusts, so that
 * guesses come from as many networks as it takes; the other is asked directly, and told lies about where from.
 */
export const signInThrottle: Claim = {
  name: 'sign-in-throttle',
  description:
    'Password guesses are limited per account and network across all processes, and the owner is never locked out',
  rounds: { test: 1, short: 3, full: 20 },
  roundsPerEnvironment: 1,
  faults: [
    {
      name: 'missing-throttle',
      description: 'attempts are not limited',
      file: 'api/access/sign-in-guard.ts',
      find: 'if (tries <= failuresMax) return;',
      replace: 'if (tries <= Number.MAX_SAFE_INTEGER) return;',
    },
    {
      name: 'per-process-counters',
      description: 'each process has its own counters',
      file: 'api/access/sign-in-guard.ts',
      find: 'await countAttempt(db, key, windowMs)',
      replace: 'await countAttempt(db, process.pid + key, windowMs)',
    },
  ],
  async prove(environment, rounds): Promise<Found> {
    const samplesMs = { [wrongPassword]: [] as number[], [noAccount]: [] as number[] };
    const counts = { guesses: 0, 'let through': 0, 'too many': 0 };
    const violations: string[] = [];
    const [behind, direct] = await Promise.all([
      environment.spawn('api', { CUELINE_TRUSTED_PROXIES: '127.0.0.1' }),
      environment.spawn('api'),
    ]);
    const urls = { behind: behind.url, direct: direct.url };
    const email = await ownerWithPassword(environment);
    const home = { url: urls.behind, from: '198.51.100.7' };
    const holds = (what: string, found: unknown, expected: unknown) => {
      if (JSON.stringify(found) === JSON.stringify(expected)) return;
      violations.push(`${what}: ${JSON.stringify(found)} and not ${JSON.stringify(expected)}`);
    };
    const all = async (guesses: readonly Parameters<typeof attemptSignIn>[0][]) => {
      const answers = await Promise.all(guesses.map(attemptSignIn));
      const refused = answers.filter(({ status }) => status === 429);
      counts.guesses += answers.length;
      counts['too many'] += refused.length;
      counts['let through'] += answers.length - refused.length;
      const hints = refused.every(({ retryAfter }) => retryAfter >= 1 && retryAfter <= 3_600);
      holds('every refusal says when to come again', hints, true);
      return answers;
    };
    const statuses = (answers: readonly SignInAttempt[]) => ({
      wrong: answers.filter(({ status }) => status === 401).length,
      tooMany: answers.filter(({ status }) => status === 429).length,
    });

    holds('signing in at home', (await attemptSignIn({ ...home, email, password })).status, 200);
    for (let round = 0; round < rounds; round++) {
      // One network, over both processes; what the direct one is told about others is not believed.
      const known: SignInAttempt[] = [];
      for (const account of [email, `nobody-${round}@example.com`]) {
        const guesses = Array.from({ length: 12 }, (_, i) =>
          i % 2 === 0
            ? { url: urls.behind, email: account, password: `wrong ${i}` }
            : { url: urls.direct, from: `203.0.113.${i}`, email: account, password: `wrong ${i}` },
        );
        const answers = await all(guesses);
        holds(`guesses at ${account}`, statuses(answers), { wrong: 10, tooMany: 2 });
        const wrong = answers.filter(({ status }) => status === 401);
        known.push(...wrong.slice(0, 1));
        samplesMs[account === email ? wrongPassword : noAccount]?.push(
          ...wrong.map(({ ms }) => ms),
        );
      }
      holds('who has no account is told the same', known[1]?.shown, known[0]?.shown);
      const right = await all([{ url: urls.direct, email, password }]);
      holds('the right password, guessed too late', right[0]?.status, 429);

      // Many networks. Most of what they may try is taken as tried, since each try costs a hash.
      const tried = failuresMax - 4;
      await setFailedAttempts(environment.db, email, tried);
      const many = Array.from({ length: 10 }, (_, i) => ({
        ...{ url: urls.behind, from: `192.0.2.${i + 1}`, email, password: `wrong ${i}` },
      }));
      holds('guesses from everywhere', statuses(await all(many)), { wrong: 4, tooMany: 6 });
      holds('at home meanwhile', (await attemptSignIn({ ...home, email, password })).status, 200);
      await setFailedAttempts(environment.db, null, 0);
    }
    return { counts, samplesMs, violations };
  },
  checkGoals({ samplesMs = {} }) {
    const [wrong = 0, none = 0] = [wrongPassword, noAccount].map((name) =>
      percentile(samplesMs[name] ?? [], 0.5),
    );
    const alike = none > wrong / 2 && none < wrong * 2;
    return alike ? [] : [`an account can be told from none: ${wrong} ms against ${none} ms`];
  },
};

const wrongPassword = 'answer to a wrong password';
const noAccount = 'answer where there is no account';

async function ownerWithPassword({ db, ownerId }: ProofEnvironment): Promise<string> {
  const hash = await hashPassword(password);
  await db
    .transaction()
    .execute((trx) => setPassword(trx, { id: uuid7(Date.now()), userId: ownerId, hash }));
  return (await findUser(db, ownerId))?.email ?? '';
}
