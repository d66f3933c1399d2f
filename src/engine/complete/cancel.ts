import type { Prompt, Template } from '../../core/agent/prompt.ts';
import { renderPrompt } from '../../core/execution/render-prompt.ts';
import type { Db } from '../../db/database.ts';
import { findLiveExecutions, findRenderings, type UnendedExecution } from '../read/executions.ts';
import type { LiveStreams } from '../stream/live-streams.ts';
import { findPartialAnswer, noAnswer, type PartialAnswer } from '../stream/partial-answer.ts';
import { canceledEnd, type Finisher } from './finish.ts';

/**
 * Cancels live executions. A cancel ends the execution like any other end (`finish.ts`), but without a fence: deleting
 * the queue row takes ownership from the worker. The worker then aborts its call and writes nothing.
 */
export interface Canceler {
  /** False if the execution has already ended. */
  cancel(executionId: string): Promise<boolean>;
  /** Cancels many, with one lookup. Returns one result per id. */
  cancelAll(executionIds: readonly string[]): Promise<boolean[]>;
}

export interface CancelerDeps {
  readonly db: Db;
  readonly finisher: Finisher;
  readonly template: (promptVersionId: string) => Promise<Template>;
  /** The attempts of this process. */
  readonly streams?: Pick<LiveStreams, 'find'>;
}

/** Prompts in memory at once: they can be long. */
const promptsPerBatch = 20;

export function createCanceler(deps: CancelerDeps): Canceler {
  return {
    cancelAll: (executionIds) => cancelAll(deps, executionIds),
    async cancel(executionId) {
      const [canceled] = await cancelAll(deps, [executionId]);
      return canceled === true;
    },
  };
}

async function cancelAll(deps: CancelerDeps, executionIds: readonly string[]): Promise<boolean[]> {
  const live = [...(await findLiveExecutions(deps.db, executionIds))];
  const canceled = new Set<string>();
  const endAll = async (
    executions: readonly [string, UnendedExecution][],
    prompts: ReadonlyMap<string, Prompt>,
  ) => {
    await Promise.all(
      executions.map(async ([id, execution]) => {
        const answer = await partialAnswer(deps, execution);
        const end = canceledEnd(execution, prompts.get(id) ?? null, answer);
        if ((await deps.finisher.finish(end)).ended) canceled.add(id);
      }),
    );
  };
  await endAll(
    live.filter(([, execution]) => !isRead(execution)),
    new Map(),
  );
  const withPrompt = live.filter(([, execution]) => isRead(execution));
  for (let at = 0; at < withPrompt.length; at += promptsPerBatch) {
    const batch = withPrompt.slice(at, at + promptsPerBatch);
    await endAll(batch, await renderPrompts(deps, batch));
  }
  return executionIds.map((id) => canceled.has(id));
}

/** Whether its prompt or what it has received is read, which can be long. */
function isRead({ begun, storeBodies, streamed }: UnendedExecution): boolean {
  return begun && (storeBodies || streamed);
}

/** What cannot be read is no reason not to cancel. */
async function partialAnswer(
  { db, streams }: CancelerDeps,
  { id, begun, streamed }: UnendedExecution,
): Promise<PartialAnswer> {
  if (!begun || !streamed) return noAnswer;
  return findPartialAnswer(db, streams ?? null, id).catch(() => noAnswer);
}

/** The worker does not write the prompt that it sent, so the cancel renders it again if possible. */
async function renderPrompts(
  { db, template }: CancelerDeps,
  all: readonly [string, UnendedExecution][],
): Promise<ReadonlyMap<string, Prompt>> {
  const prompts = new Map<string, Prompt>();
  const executions = all.filter(([, { storeBodies }]) => storeBodies);
  try {
    const renderings = await findRenderings(
      db,
      executions.map(([id]) => id),
    );
    await Promise.all(
      [...renderings].map(async ([id, rendering]) => {
        const prompt = renderPrompt(await template(rendering.promptVersionId), rendering);
        if (prompt) prompts.set(id, prompt);
      }),
    );
    return prompts;
  } catch {
    return new Map();
  }
}
