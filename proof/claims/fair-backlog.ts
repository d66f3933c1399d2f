import type { TestAgent } from '../../harness/agents.ts';
import { addBacklog, countClaimedExcept, countQueued, redirectBacklog } from '../backlog.ts';
import type { Claim } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { startLoad } from '../load.ts';
import { addOtherWorkspaces, called, callsOf, lateStarts } from '../other-workspaces.ts';
import { until } from '../until.ts';

/**
 * A round is the next execution of each of three other workspaces while one workspace has a backlog: first of short
 * executions, then of executions of which a quarter fails and is retried, then of long ones that occupy all its slots.
 * With short ones there is also a burst of another workspace. A second agent of the workspace with the backlog has as
 * many executions that wait for `maxConcurrency`.
 */

const workers = 2;
const slots = 16;
const others = 3;
/** More than the reserved slots can serve if the backlog goes first. */
const burst = 60;
const shortMs = 100;
const short = `ollama/after-${shortMs}`;
const flaky = 'ollama/flaky-100';
/** The model of the agent with `maxConcurrency`. */
const capped = 'ollama/after-250';
const maxConcurrency = 4;
/** Longer than the first round with long executions takes on a slow machine. */
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
      file: 'engine/admit/admission-batch.ts',
      find: 'state.floor ?? clockTag(nowMs)',
      replace: 'clockTag(nowMs)',
    },
    {
      name: 'no-reserved-slots',
      description: 'no slots are reserved',
      file: 'engine/run/slot-count.ts',
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
    // First in the queue, so that later executions of its workspace follow it.
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
      if (missing > 0)
        violations.push(`${missing} executions did not start during ${kind} executions`);
      samplesMs[kind].push(...started.flatMap((one) => one.samplesMs));
    };
    const roundsAfter = async (model: string, count: number) => {
      const reached = await called(environment, model, count);
      if (!reached) violations.push(`fewer than ${count} calls of ${model} were made`);
      return reached ? rounds : 0;
    };
    const shortRounds = Math.min(
      await roundsAfter(short, openSlots()),
      await roundsAfter(capped, 1),
    );
    for (let round = 0; round < shortRounds; round++) {
      const { ofBacklog, missing } = (await all[0]?.call(burst)) ?? { ofBacklog: 0, missing: 0 };
      // Fair is one call of the backlog per call of the burst, plus those in flight.
      const most = 2 * (burst + workers * slots);
      if (missing > 0 || ofBacklog > most) {
        violations.push(
          `a burst of ${burst} calls waited for ${ofBacklog} calls of the backlog; ${missing} are missing`,
        );
      }
      await next('short');
    }
    await redirectBacklog(environment.db, big.id, flaky);
    // Enough that some have been retried.
    const flakyRounds = await roundsAfter(flaky, 10 * openSlots());
    for (let round = 0; round < flakyRounds; round++) await next('flaky');
    // Also those that wait for maxConcurrency: the slots that they pass on would soon be free.
    for (const { id } of [big, other]) await redirectBacklog(environment.db, id, long);
    const longRounds = await roundsAfter(long, openSlots());
    if (!(await until(async () => (await countClaimedExcept(environment.db, long)) === 0)))
      violations.push('the short executions never ended');
    const endedBefore = answered(environment);
    for (let round = 0; round < longRounds; round++) {
      await next('long');
      // After the first round long executions end anyway.
      const ended = answered(environment) - endedBefore;
      if (round === 0 && ended >= others)
        violations.push(`others started only after ${ended} long executions had ended`);
    }
    const left = await countQueued(environment.db, big.id);
    const cappedLeft = await countQueued(environment.db, other.id);
    const cappedCalls = callsOf(environment, capped);
    if (left === 0 || cappedLeft <= maxConcurrency)
      violations.push('the backlog was empty before the end of the proof');
    if (cappedCalls <= maxConcurrency)
      violations.push('no execution that waited for maxConcurrency was called');
    return {
      counts: {
        backlog,
        'backlog left': left,
        'left that wait for maxConcurrency': cappedLeft,
        'calls of those': cappedCalls,
        'other workspaces': others,
      },
      samplesMs: {
        'accepted to called, during short executions': samplesMs.short,
        'accepted to called, during retried executions': samplesMs.flaky,
        'accepted to called, during long executions': samplesMs.long,
      },
      violations,
    };
  },
  checkGoals: ({ samplesMs = {} }) => lateStarts(samplesMs),
};

/** The slots that the workspace with the backlog may use. */
function openSlots(): number {
  return workers * (slots - Math.max(1, Math.floor(slots / 8)));
}

/**
 * The number of ended long executions. Records cannot show it: an execution that was claimed while its model changed is
 * recorded as a long one, but called as a short one.
 */
function answered(environment: ProofEnvironment): number {
  const before = performance.now() - longMs;
  return environment.provider.calls.filter(
    (call) => `ollama/${call.model}` === long && call.atMs < before,
  ).length;
}
