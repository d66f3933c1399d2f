import type { Template } from '../../core/agent/prompt.ts';
import { renderPrompt } from '../../core/agent/render-prompt.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  findLiveExecutions,
  findRenderings,
  type LiveExecution,
} from '../../store/execution/executions.ts';
import { canceledEnd, type Finisher } from './finish.ts';

/** Ends a run that is still under way. The queue row goes first, and with it the fence of whoever works on it. */
export interface Canceler {
  /** False where the run had ended before. */
  cancel(executionId: string): Promise<boolean>;
  /** The same of many, looked for together. */
  cancelAll(executionIds: readonly string[]): Promise<boolean[]>;
}

type Prompts = ReadonlyMap<string, Template | null>;

const promptsAtOnce = 20;

export function createCanceler(parts: {
  readonly db: Db;
  readonly finisher: Finisher;
  readonly template: (promptVersionId: string) => Promise<Template>;
  /** Told of a run whose call some process must stop. */
  readonly onExecutionCanceled: (executionId: string) => void;
}): Canceler {
  async function end(id: string, run: LiveExecution, prompt: Template | null): Promise<boolean> {
    const { ended, worker } = await parts.finisher.finish(canceledEnd(id, run, prompt));
    if (ended && worker !== null) parts.onExecutionCanceled(id);
    return ended !== null;
  }

  /** Whoever calls the model is stopped and does not write: what was sent is told here, where it can be found out. */
  async function promptsOf(ids: readonly string[]): Promise<Map<string, Template | null>> {
    try {
      const runs = [...(await findRenderings(parts.db, ids))];
      return new Map(
        await Promise.all(
          runs.map(async ([id, run]) => {
            const template = await parts.template(run.promptVersionId);
            return [id, renderPrompt(template, run)] as const;
          }),
        ),
      );
    } catch {
      return new Map();
    }
  }

  async function cancelAll(executionIds: readonly string[]): Promise<boolean[]> {
    const runs = await findLiveExecutions(parts.db, executionIds);
    const canceled = new Map<string, boolean>();
    const keepsPrompt = ({ begun, storeBodies }: LiveExecution) => begun && storeBodies;
    const waiting = [...runs].filter(([, run]) => !keepsPrompt(run));
    const prompted = [...runs].filter(([, run]) => keepsPrompt(run));
    const endAll = async (some: readonly [string, LiveExecution][], prompts: Prompts) => {
      await Promise.all(
        some.map(async ([id, run]) =>
          canceled.set(id, await end(id, run, prompts.get(id) ?? null)),
        ),
      );
    };
    await endAll(waiting, new Map());
    // A few at a time, since prompts can be long.
    for (let at = 0; at < prompted.length; at += promptsAtOnce) {
      const some = prompted.slice(at, at + promptsAtOnce);
      await endAll(some, await promptsOf(some.map(([id]) => id)));
    }
    return executionIds.map((id) => canceled.get(id) === true);
  }

  return {
    cancelAll,
    async cancel(executionId) {
      const [canceled] = await cancelAll([executionId]);
      return canceled === true;
    },
  };
}
