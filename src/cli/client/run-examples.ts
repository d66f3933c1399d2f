import { CuelineError, type EndedExecution, type ExecuteAccepted } from '../../client/index.ts';
import { unmetExpectations } from '../../features/declaration/rules/example.ts';
import type { ExampleSuite, PlacedExample } from './declaration-file.ts';
import { printNotice } from './print.ts';
import type { Call } from './run-call.ts';
import type { TestedAgents } from './tested-agents.ts';

/** Executes examples and compares the records with what is expected. */

export interface ExampleResult {
  readonly agent: string;
  readonly example: string;
  readonly line: number;
  /** `error`: it could not be run. */
  readonly status: 'passed' | 'failed' | 'error';
  /** What is not as expected, or why it could not be run, a sentence each. */
  readonly problems: readonly string[];
  /** Null without an execution that ended in time. */
  readonly record: EndedExecution | null;
}

export interface RunOptions {
  /** Executions at the same time. */
  readonly concurrency: number;
  /** Of each example. */
  readonly timeoutMs: number;
}

/** In the order of the file. */
export async function runExamples(
  call: Pick<Call, 'cueline' | 'signal'>,
  suites: readonly ExampleSuite[],
  { slugs }: Pick<TestedAgents, 'slugs'>,
  { concurrency, timeoutMs }: RunOptions,
): Promise<ExampleResult[]> {
  const planned = suites.flatMap(({ agent: { name }, examples }) =>
    examples.map((example) => ({ agent: name, example, slug: slugs.get(name) ?? '' })),
  );
  const results: ExampleResult[] = [];
  const queue = planned.entries();
  const work = async () => {
    // Shared by all workers: each takes the next one.
    for (const [at, { agent, example, slug }] of queue) {
      const outcome = await runExample(call, slug, example, timeoutMs);
      results[at] = { agent, example: example.name, line: example.line, ...outcome };
    }
  };
  // All: afterwards the agents are removed, and then nothing can be canceled.
  const ends = await Promise.allSettled(Array.from({ length: concurrency }, work));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
  return results;
}

type Outcome = Pick<ExampleResult, 'status' | 'problems' | 'record'>;

async function runExample(
  { cueline, signal }: Pick<Call, 'cueline' | 'signal'>,
  slug: string,
  { name, variables, expect }: PlacedExample,
  timeoutMs: number,
): Promise<Outcome> {
  let executionId = '';
  try {
    const options = { idempotencyKey: crypto.randomUUID(), playground: true, signal };
    const accepted = await cueline.execute(slug, variables, options);
    executionId = accepted.executionId;
    noticeIgnored(name, accepted);
    const record = await cueline.wait(slug, executionId, { timeoutMs, signal });
    const problems = unmetExpectations(expect, record);
    return { status: problems.length === 0 ? 'passed' : 'failed', problems, record };
  } catch (error) {
    const code = error instanceof CuelineError ? error.code : null;
    if (executionId !== '' && (signal.aborted || code === 'WAIT_TIMEOUT')) {
      // A key without `cancel` cannot: the execution then ends by itself.
      await cueline.cancel(slug, executionId).catch(() => {});
    }
    if (signal.aborted || !(error instanceof CuelineError)) throw error;
    if (code !== 'WAIT_TIMEOUT') {
      return { status: 'error', problems: [`${error.message} (${code})`], record: null };
    }
    const problem = `The execution has not ended within ${timeoutMs / 1_000} seconds.`;
    return { status: 'failed', problems: [problem], record: null };
  }
}

/** An agent that drops a variable still takes it. */
function noticeIgnored(name: string, { ignoredVariables = [] }: ExecuteAccepted): void {
  if (ignoredVariables.length === 0) return;
  printNotice(`${name}: the agent does not declare ${ignoredVariables.join(', ')}.`);
}
