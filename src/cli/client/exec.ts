import type { EndedExecution } from '../../client/index.ts';
import { CommandFailure } from './failure.ts';
import { type LabelOptions, labelsOf } from './labels.ts';
import { print, printDone, printNotice } from './print.ts';
import { withProgress } from './progress.ts';
import type { Call } from './run-call.ts';
import { readVariables, type VariableOptions } from './variables.ts';

/** `cueline exec`, `wait` and `cancel`: execute an agent and follow the execution. */

export interface WaitOptions {
  /** In seconds. */
  readonly timeout?: number;
  readonly cancelOnInterrupt?: true;
}

export interface ExecOptions extends VariableOptions, LabelOptions, WaitOptions {
  readonly wait?: true;
  readonly idempotencyKey?: string;
}

/** Prints the id of the execution or, with `wait`, its output. */
export async function exec(call: Call, agentId: string, options: ExecOptions): Promise<void> {
  const variables = await readVariables(options, call.signal);
  // An idempotency key makes every retry of the call safe.
  const { idempotencyKey = crypto.randomUUID(), cancelOnInterrupt } = options;
  const accepted = await call.cueline.execute(agentId, variables, {
    idempotencyKey,
    ...labelsOf(options),
    // Cancellation needs the id, so Ctrl-C does not abort the call itself.
    ...(!cancelOnInterrupt && { signal: call.signal }),
  });
  const { executionId, currentStatus, ignoredVariables = [] } = accepted;
  if (currentStatus !== undefined) {
    printNotice(`Repeated call of ${executionId}, now ${currentStatus ?? 'deleted'}.`);
  }
  if (ignoredVariables.length > 0)
    printNotice(
      `Ignored variables that the agent does not declare: ${ignoredVariables.join(', ')}.`,
    );
  if (options.wait) return wait(call, agentId, executionId, options);
  await printDone(accepted, executionId, call.json);
}

/** Prints the output or, with `json`, the record. Throws if the execution did not succeed. */
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
  const record = await withProgress(`Waiting for ${executionId}`, waiting).catch(async (error) => {
    if (!call.signal.aborted) throw error;
    if (cancelOnInterrupt) await cancelAfterInterrupt(call, agentId, executionId);
    else
      printNotice(`The execution continues. To wait again: cueline wait ${agentId} ${executionId}`);
    throw error;
  });
  await printOutcome(record, call.json);
}

/** Cancels an execution. */
export async function cancel(call: Call, agentId: string, executionId: string): Promise<void> {
  const record = await call.cueline.cancel(agentId, executionId, { signal: call.signal });
  await printDone(record, `${record.executionId}: ${record.status}.`, call.json);
}

async function printOutcome(record: EndedExecution, json: boolean): Promise<void> {
  const { status, outputText = '', error, errorCode, executionId } = record;
  if (json) await print(JSON.stringify(record));
  else if (status === 'success') await print(outputText);
  if (status === 'success') return;
  throw new CommandFailure(`${error} (${errorCode}, ${executionId})`);
}

/** Does not pass the signal, which is already aborted. */
async function cancelAfterInterrupt(
  { cueline }: Call,
  agentId: string,
  executionId: string,
): Promise<void> {
  const outcome = await cueline.cancel(agentId, executionId).then(
    () => 'canceled.',
    (error: Error) => `not canceled: ${error.message}`,
  );
  printNotice(`${executionId}: ${outcome}`);
}
