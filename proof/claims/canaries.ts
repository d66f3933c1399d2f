import { found, makeCanaries } from '../canaries.ts';
import { runScenario } from '../canary-scenario.ts';
import type { Claim, Found } from '../claim.ts';

/** Handed out once, in the answer to who asked for it. */
const handedOut = ['apiKey', 'rotatedKey', 'invitationToken'];

/**
 * Secrets stand in no place that anything comes out of, in no form, and what users wrote stands in no log, metric or
 * trace and in no answer to who may not see it.
 */
export const canaries: Claim = {
  name: 'canaries',
  description: 'Secrets never leak, and user content reaches only those who may see it',
  rounds: { test: 1, short: 3, full: 20 },
  roundsPerEnvironment: 20,
  faults: [
    {
      name: 'words-unscrubbed',
      description: "a provider's error is stored without redaction",
      file: 'provider/redact.ts',
      find: 'for (const form of secrets.flatMap(forms)) out = out.replaceAll(form, redacted);',
      replace: 'void forms;',
    },
    {
      name: 'runs-logged-whole',
      description: 'everything known about an ended execution is logged',
      file: 'log.ts',
      find: "log[level]({ ...executionFields(id, agentId), ...outcome }, 'execution ended');",
      replace: "log[level]({ ...outcome, ...execution }, 'execution ended');",
    },
  ],
  async prove(environment, rounds): Promise<Found> {
    const counts: Record<string, number> = {};
    const violations: string[] = [];
    const count = (name: string, more: number) => {
      counts[name] = (counts[name] ?? 0) + more;
    };
    for (let round = 0; round < rounds; round++) {
      const planted = makeCanaries();
      const { counts: lived, ...places } = await runScenario(planted, environment);
      for (const [name, more] of Object.entries(lived)) count(name, more);
      for (const [place, texts] of Object.entries(places)) {
        const text = texts.join('\n');
        count(`characters of ${place}`, text.length);
        if (text === '') violations.push(`nothing came out at ${place}: it was not looked at`);
        const secrets = found(planted.secrets, text);
        const shown =
          place === 'answers' ? secrets.filter((name) => !handedOut.includes(name)) : secrets;
        violations.push(...shown.map((name) => `${name} stands in the ${place}`));
        if (place === 'answers' || place === 'dump') continue;
        // A complaint about a call may name what its caller has just sent.
        const contents = found(planted.contents, text).filter(
          (name) => place !== 'errors' || name !== 'malformed',
        );
        violations.push(...contents.map((name) => `${name} stands in the ${place}`));
      }
      count('secrets', planted.secrets.size);
      count('texts of users', planted.contents.size);
    }
    return { counts, violations };
  },
};
