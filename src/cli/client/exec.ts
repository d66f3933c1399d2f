import type { EndedExecution } from '../../client/index.ts';
import type { Call } from './call.ts';
import { CommandFailure } from './failure.ts';
import { note, print, printDone } from './print.ts';
import { withProgress } from './progress.ts';
import { readVariables, type VariableOptions } from './variables.ts';

/** Executing an agent, and what one does with a run that is under way. */

export interface WaitOptions {
  /** Seconds. */
  readonly timeout?: number;
  readonly cancelOnInterrupt?: true;
}

export interface ExecOptions extends VariableOptions, WaitOptions {
  readonly wait?: true;
  readonly idempotencyKey?: string;
}

/** Prints the id of the run, or with `wait` what came of it. */
export async function exec(call: Call, agentId: string, options: ExecOptions): Promise<void> {
  const variables = await readVariables(options, call.signal);
  // With a key of its own the call may be tried again whatever became of it.
  const { idempotencyKey = crypto.randomUUID(), cancelOnInterrupt } = options;
  const accepted = await call.cueline.execute(agentId, variables, {
    idempotencyKey,
    // Whoever wants the run canceled must learn its id, so the call itself is not given up.
    ...(!cancelOnInterrupt && { signal: call.signal }),
  });
  const { executionId, ignoredVariables = [] } = accepted;
  if (ignoredVariables.length > 0)
    note(`The agent does not declare ${ignoredVariables.join(', ')}.`);
  if (options.wait) return wait(call, agentId, executionId, options);
  await printDone(accepted, executionId, call.json);
}

/** Prints what came of a run: its output, or with `json` its record. Fails where the run did. */
export async function wait(
  call: Call,
  agentId: string,
  executionId: string,
  options: WaitOptions,
): Promise<void> {
  const { timeout, cancelOnInterrupt } = options;
  const waiting = call.cueline.wait(agentId, executionId, {
    signal: call.signal,
    ...(timeout !== undefined && { timeoutMs: timeout * 1000 }),
  });
  const record = await withProgress(`${executionId} is running`, waiting).catch(async (error) => {
    if (!call.signal.aborted) throw error;
    if (cancelOnInterrupt) await cancelLate(call, agentId, executionId);
    else note(`The run goes on; see "cueline wait ${agentId} ${executionId}".`);
    throw error;
  });
  await printOutcome(record, call.json);
}

/** Ends a run. */
export async function cancel(call: Call, agentId: string, executionId: string): Promise<void> {
  const record = await call.cueline.cancel(agentId, executionId, { signal: call.signal });
  await printDone(record, `${record.executionId} is ${record.status}.`, call.json);
}

async function printOutcome(record: EndedExecution, json: boolean): Promise<void> {
  const { status, outputText = '', error, errorCode, executionId } = record;
  if (json) await print(JSON.stringify(record));
  else if (status === 'success') await print(outputText);
  if (status === 'success') return;
  throw new CommandFailure(`${error} (${errorCode}, ${executionId})`);
}

/** Without the signal, which has come already. */
async function cancelLate({ cueline }: Call, agentId: string, executionId: string): Promise<void> {
  const said = await cueline.cancel(agentId, executionId).then(
    () => 'is canceled.',
    (error: Error) => `was not canceled: ${error.message}`,
  );
  note(`${executionId} ${said}`);
}
