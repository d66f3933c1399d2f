import type { Prompt } from '../agent/prompt.ts';
import type { ExecutionErrorCode } from '../failure.ts';
import { type Ended, failed } from './outcome.ts';
import type { QueuedExecution } from './queued-execution.ts';

/** The end of an execution at its deadline: what it waited for last is why it did not end before. */
export function outOfTime(
  { settings: { timeoutMs }, waitCode }: Pick<QueuedExecution, 'settings' | 'waitCode'>,
  prompt: Prompt | null,
): Ended {
  const code = waitCode ?? 'MODEL_TIMEOUT';
  // Does not quote the provider: its response may have been to other executions.
  const paused = `Calls to the provider were paused after failures until the timeout of ${timeoutMs} ms.`;
  const messages: Partial<Record<ExecutionErrorCode, string>> = {
    MODEL_TIMEOUT: `The execution did not end within ${timeoutMs} ms.`,
    TOOL_SERVER_ERROR: `The server of a tool refused its calls, or did not answer them, until the timeout of ${timeoutMs} ms.`,
  };
  return failed(code, messages[code] ?? paused, { prompt, counted: false });
}
