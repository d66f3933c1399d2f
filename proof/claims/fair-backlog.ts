import type { TestAgent } from '../../harness/agents.ts';
import { addBacklog, countClaimedExcept, countQueued, redirectBacklog } from '../backlog.ts';
import type { Claim } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { startLoad } from '../load.ts';
import { addOtherWorkspaces, called, callsOf, lateStarts } from '../other-workspaces.ts';
import { until } from '../until.ts';

/**
 * A round is the next run of each of three other workspaces while one has a backlog: first of short runs, then of runs of
 * which a quarter fails and is tried again, at last of runs that hold every slot open to it; and with the short ones also a
 * burst of one other workspace. All that time another agent of the big one has as many runs that wait for
 * `maxConcurrency`.
 */

const workers = 2;
const slots = 16;
const others = 3;
/** So many that the slots which are kept for others would not do for them while the backlog is served first. */
const burst = 60;
const shortMs = 100;
const short = `ollama/after-${shortMs}`;
const flaky = 'ollama/flaky-100';
/** Of the agent that makes so few calls at once. */
const capped = 'ollama/after-250';
const maxConcurrency = 4;
/** Longer than the first round with them takes on a machine that is slow. */
const longMs = 20_000;
const long = `ollama/after-${longMs}`;

export const fairBacklog: Claim = {
  name: 'fair-backlog',
  description:
    'An agent with 100,000 queued executions does not delay another workspace’s next execution by more than a second',
  rounds: { test: 1, short: 10, full: 100 },
  roundsPerEnvironment: 100,
  faults: [
    {
      name: 'fifo-claims',
      description: 'claims are ordered by age only',
      file: 'flow/admission/admission-batch.ts',
      find: 'state.floor ?? clockTag(nowMs)',
      replace: 'clockTag(nowMs)',
    },
    {
      name: 'no-reserved-slots',
      description: 'no slots are reserved',
      file: 'worker/slot-count.ts',
      find: 'const reserved = Math.max(1, Math.floor(total / 8));',
      replace: 'const reserved = 0;',
    },
  ],
  async prove(environment, rounds) {
    const backlog = rounds === 1 ? 3_000 : 100_000;
    const violations: string[] = [];
    const api = await environment.spawn('api');
    const big = await environment.agent({ model: short });
    const { key } = await environment.key();
    const queue = async (agent: TestAgent, ahead: number) => {
      const first = startLoad({
        ...{ urls: () => [api.url], key, agents: [agent] },
        ...{ clients: 1, callsMax: ahead + 1 },
      });
      await first.done;
      await addBacklog(environment.db, first.accepted()[ahead] ?? '', backlog - 1);
    };
    // Ahead of the others, which its workspace's runs that come later stand behind.
    const other = await environment.agent({ model: capped, config: { maxConcurrency } });
    await queue(other, maxConcurrency);
    await queue(big, 0);
    const all = await addOtherWorkspaces(environment, api.url, {
      count: others,
      answerMs: shortMs,
    });
    const env = { CUELINE_SLOTS: String(slots), CUELINE_LEASE_MS: '6000' };
    await Promise.all(Array.from({ length: workers }, () => environment.spawn('worker', env)));

    const samplesMs = { short: [] as number[], flaky: [] as number[], long: [] as number[] };
    const next = async (kind: keyof typeof samplesMs) => {
      const started = await Promise.all(all.map((one) => one.call(1)));
      const missing = started.filter((one) => one.missing > 0).length;
      if (missing > 0) violations.push(`${missing} runs did not start beside ${kind} runs`);
      samplesMs[kind].push(...started.flatMap((one) => one.samplesMs));
    };
    const roundsAfter = async (model: string, count: number) => {
      const there = await called(environment, model, count);
      if (!there) violations.push(`${count} calls of ${model} had to come first, and did not`);
      return there ? rounds : 0;
    };
    const shortRounds = Math.min(
      await roundsAfter(short, openSlots()),
      await roundsAfter(capped, 1),
    );
    for (let round = 0; round < shortRounds; round++) {
      const { ofBacklog, missing } = (await all[0]?.call(burst)) ?? { ofBacklog: 0, missing: 0 };
      // In fairness one of the backlog for each of the burst, and what is on its way anyway.
      const most = 2 * (burst + workers * slots);
      if (missing > 0 || ofBacklog > most) {
        violations.push(
          `${ofBacklog} of the backlog were called before ${burst} of another, ${missing} of which were not`,
        );
      }
      await next('short');
    }
    await redirectBacklog(environment.db, big.id, flaky);
    // Enough for some to have come back from their delay.
    const flakyRounds = await roundsAfter(flaky, 10 * openSlots());
    for (let round = 0; round < flakyRounds; round++) await next('flaky');
    // Those that wait for maxConcurrency as well: a slot that they pass on would soon be free.
    for (const { id } of [big, other]) await redirectBacklog(environment.db, id, long);
    const longRounds = await roundsAfter(long, openSlots());
    if (!(await until(async () => (await countClaimedExcept(environment.db, long)) === 0)))
      violations.push('the short executions never ended');
    const endedBefore = answered(environment);
    for (let round = 0; round < longRounds; round++) {
      await next('long');
      // Later ones end by and by anyway.
      const ended = answered(environment) - endedBefore;
      if (round === 0 && ended >= others)
        violations.push(`${ended} long runs had to end for others’ to start`);
    }
    const left = await countQueued(environment.db, big.id);
    const cappedLeft = await countQueued(environment.db, other.id);
    const cappedCalls = callsOf(environment, capped);
    if (left === 0 || cappedLeft <= maxConcurrency)
      violations.push('of the backlog nothing was left: there was nothing to be fair against');
    if (cappedCalls <= maxConcurrency)
      violations.push('no execution that waits for maxConcurrency was called');
    return {
      counts: {
        backlog,
        'left of it': left,
        'left of as many that wait for maxConcurrency': cappedLeft,
        'calls of these': cappedCalls,
        'workspaces beside it': others,
      },
      samplesMs: {
        'accepted to called, beside short executions': samplesMs.short,
        'accepted to called, beside retried executions': samplesMs.flaky,
        'accepted to called, beside long executions': samplesMs.long,
      },
      violations,
    };
  },
  checkGoals: ({ samplesMs = {} }) => lateStarts(samplesMs),
};

/** The slots that the workspace with the backlog may hold. */
function openSlots(): number {
  return workers * (slots - Math.max(1, Math.floor(slots / 8)));
}

/**
 * How many long runs can have ended. Records do not tell: a run that was claimed while it was being redirected is
 * recorded as a long one, and was called as a short one.
 */
function answered(environment: ProofEnvironment): number {
  const before = performance.now() - longMs;
  return environment.provider.calls.filter(
    (call) => `ollama/${call.model}` === long && call.atMs < before,
  ).length;
}
