import { found, makeCanaries } from '../canaries.ts';
import { runScenario } from '../canary-scenario.ts';
import type { Claim, Found } from '../claim.ts';

/** The API returns these once, in the response that creates them. */
const shownOnce = ['apiKey', 'rotatedKey', 'invitationToken', 'endpointSecret'];

/**
 * No output contains a secret in any encoding. No log, metric, trace or response to an unauthorized caller contains user
 * content.
 */
export const canaries: Claim = {
  name: 'canaries',
  description: 'Secrets never leak, and only authorized callers see user content',
  rounds: { test: 1, short: 3, full: 20 },
  roundsPerEnvironment: 20,
  faults: [
    {
      name: 'missing-redaction',
      description: "a provider's error is stored without redaction",
      file: 'models/failure/redact.ts',
      find: 'for (const form of secrets.flatMap(forms)) out = out.replaceAll(form, redacted);',
      replace: 'void forms;',
    },
    {
      name: 'repeated-address',
      description: 'an answer that repeats the URL of an endpoint is stored as it is',
      file: 'net/post-event.ts',
      find: 'hideSecrets(answer.text, secretsOfURL(url))',
      replace: '(void secretsOfURL(url), hideSecrets(answer.text, []))',
    },
    {
      name: 'logged-content',
      description: 'everything known about an ended execution is logged',
      file: 'process/log.ts',
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
      const { counts: totals, ...sinks } = await runScenario(planted, environment);
      for (const [name, more] of Object.entries(totals)) count(name, more);
      for (const [sink, texts] of Object.entries(sinks)) {
        const text = texts.join('\n');
        count(`characters of ${sink}`, text.length);
        if (text === '') violations.push(`${sink}: nothing was collected`);
        const secrets = found(planted.secrets, text).filter(
          (name) => sink !== 'answers' || !shownOnce.includes(name),
        );
        violations.push(...secrets.map((name) => `${sink}: contains ${name}`));
        if (sink === 'answers' || sink === 'dump') continue;
        // An error may quote what its caller just sent.
        const contents = found(planted.contents, text).filter(
          (name) => sink !== 'errors' || name !== 'malformed',
        );
        violations.push(...contents.map((name) => `${sink}: contains ${name}`));
      }
      count('secrets', planted.secrets.size);
      count('user texts', planted.contents.size);
    }
    return { counts, violations };
  },
};
